import { defineConfig } from 'treadle'

export default defineConfig({
  // A file beside this one. `npm start` puts another one in its place, in a new folder.
  url: 'sqlite:tour.db',
  jobs: 'jobs',
  worker: { concurrency: 5, grace: '10s' },
})
