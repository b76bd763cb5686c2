import { defineConfig } from 'vitest/config'
import { everywhere } from './vitest.config.ts'

// Examples whose packages are large: they are installed from the registry, and built as their users build them.
export default defineConfig({
  test: {
    ...everywhere,
    maxWorkers: 1,
    testTimeout: 900_000,
    globalSetup: 'test/temporary-folder.ts',
    include: ['test/examples/heavy/**/*.test.ts'],
  },
})
