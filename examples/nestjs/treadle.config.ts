// For the command line: npx treadle status, list, retry, dead replay …
import { defineConfig } from 'treadle'

export default defineConfig({
  url: process.env.DATABASE_URL ?? 'sqlite:treadle.db',
})
