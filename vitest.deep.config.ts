import { defineConfig } from 'vitest/config'
import { everywhere } from './vitest.config.ts'

// What takes too long for every run: soaks of kills, the storm, and the random programs of the model and of the differential test at full length.
process.env.TREADLE_STORM_JOBS ??= '100000'
process.env.TREADLE_CROWDS ??= '20'
process.env.TREADLE_MODEL_TIMES ??= '20'
process.env.TREADLE_DIFFERENTIAL_PROGRAMS ??= '20000'

export default defineConfig({
  test: {
    ...everywhere,
    maxWorkers: 1,
    globalSetup: 'test/temporary-folder.ts',
    include: [
      'test/deep/**/*.test.ts',
      'test/processes/storm.test.ts',
      'test/processes/innocent-jobs.test.ts',
      'test/model/**/*.test.ts',
      'test/differential/**/*.test.ts',
    ],
  },
})
