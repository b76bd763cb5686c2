import { defineConfig } from 'treadle'

export default defineConfig({
  url: 'sqlite:treadle.db',
  jobs: 'jobs',
})
