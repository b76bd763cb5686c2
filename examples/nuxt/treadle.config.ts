import { defineConfig } from 'treadle'

export default defineConfig({
  url: process.env.DATABASE_URL ?? 'sqlite:treadle.db',
  jobs: 'jobs',
})
