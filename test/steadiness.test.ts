import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'
import { parseSource, readSources } from './architecture/source.ts'
import { staleExceptions, steadinessProblems } from './architecture/steadiness.ts'

const sources = readSources(fileURLToPath(new URL('.', import.meta.url)))

describe('no test depends on speed or on chance', () => {
  test('time and chance are used only where nothing depends on them, waits are long, and chance has a seed', () => {
    expect(steadinessProblems(sources)).toEqual([])
  })

  test('no exception is left over', () => {
    expect(staleExceptions(sources)).toEqual([])
  })

  test.each([
    ['await new Promise((resolve) => setTimeout(resolve, 100))', 'uses setTimeout()'],
    ['const began = Date.now()', 'uses Date.now'],
    ['const began = performance.now()', 'uses performance.now'],
    ['const victim = workers[Math.floor(Math.random() * 4)]', 'uses Math.random'],
    [`import { setTimeout as sleep } from 'node:timers/promises'`, 'imports node:timers/promises'],
    ['await vi.waitFor(() => expect(seen).toBe(1))', 'vi.waitFor gives up too soon'],
    ['await expect.poll(() => seen, { timeout: 5_000 }).toBe(1)', 'expect.poll gives up too soon'],
    [`test('is quick', work, 60_000)`, 'gives up sooner than other tests'],
    [`describe.skipIf(isBare)('a server', { timeout: 120_000 }, tests)`, 'gives up sooner than other tests'],
    ['fc.assert(property)', 'fc.assert has no seed'],
    ['fc.assert(property, { numRuns: 10 })', 'fc.assert has no seed'],
    [`jobs.define('a', handle).retries(3).work()`, 'retries() draws its pause by chance'],
    [`jobs.define('a', handle).retries(3, { base: '1s' }).work()`, 'retries() draws its pause by chance'],
  ])('is found: %s', (text, problem) => {
    expect(steadinessProblems([parseSource('worker/worker.test.ts', text)])).toEqual([
      expect.stringContaining(`worker/worker.test.ts:1 ${problem}`),
    ])
  })

  test.each([
    ['await expect.poll(() => seen, { timeout: 20_000 }).toBe(1)'],
    ['await expect.poll(() => seen, patience).toBe(1)'],
    [`test('is slow', work, 600_000)`],
    ['fc.assert(property, { seed: 1 })'],
    [`jobs.define('a', handle).retries(3, { jitter: 'none' }).work()`],
    [`expect(define('a', handle).retries(3).maxAttempts).toBe(4)`],
    ['const clock = new ManualClock()\njob.retries(3)'],
    [`import { setImmediate } from 'node:timers/promises'`],
  ])('is left alone: %s', (text) => {
    expect(steadinessProblems([parseSource('worker/worker.test.ts', text)])).toEqual([])
  })
})
