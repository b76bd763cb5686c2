import { defineConfig } from 'vitest/config'
import { LongestFirst } from './test/longest-first.ts'

/**
 * Tests of what happens in memory. Their files share processes and loaded modules, which they leave as they found them: to start
 * a process and load the library takes longer than most of these files.
 */
const inMemory = ['core', 'definition', 'envelope', 'execution', 'scheduling', 'server', 'testing', 'worker'].map(
  (folder) => `test/${folder}/**/*.test.ts`,
)

export const everywhere = {
  // Files run three at a time also on two cores: many wait for other processes. A test waits for states, so a slow machine only takes longer.
  maxWorkers: 3,
  testTimeout: 180_000,
  hookTimeout: 180_000,
  server: { deps: { external: [/\/(dist|build)\//] } },
}

export default defineConfig({
  test: {
    ...everywhere,
    globalSetup: 'test/temporary-folder.ts',
    sequence: { sequencer: LongestFirst },
    projects: [
      { test: { ...everywhere, name: 'in memory', include: inMemory, isolate: false, restoreMocks: true } },
      {
        test: {
          ...everywhere,
          name: 'with processes',
          include: ['test/**/*.test.ts'],
          exclude: [...inMemory, 'test/deep/**', 'test/examples/heavy/**', '**/node_modules/**'],
        },
      },
    ],
  },
})
