import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { longestDurationMs } from '../../src/core/time/duration.ts'
import {
  defaultRetryPolicy,
  type RetryOptions,
  retryDelayMs,
  retryPolicy,
  retryPresets,
} from '../../src/definition/policies/retry.ts'

const half = () => 0.5
const most = () => 1 - Number.EPSILON

describe('the pause before another attempt', () => {
  it('J33: with base 2 s and cap 60 s is 2, 4, 8, 16, 32, 60 and stays there', () => {
    expect(delays({ base: '2s', max: '60s', jitter: 'none' }, 8)).toEqual([2, 4, 8, 16, 32, 60, 60, 60].map(inMs))
  })

  it('X4: before the second run is the base', () => {
    expect(retryDelayMs(retryPolicy({ base: '7s', max: '5m', jitter: 'none' }), 1, half)).toBe(7_000)
  })

  it('X4: is by default exponential from 1 s to 60 s, anywhere below it', () => {
    const upper = Array.from({ length: 8 }, (_, index) => retryDelayMs(defaultRetryPolicy, index + 1, most))
    expect(upper).toEqual([1, 2, 4, 8, 16, 32, 60, 60].map(inMs))
    expect(retryDelayMs(defaultRetryPolicy, 5, () => 0)).toBe(0)
    expect(retryDelayMs(defaultRetryPolicy, 5, half)).toBe(8_000)
  })

  it('can be none, fixed, or grow by another factor', () => {
    expect(delays({ strategy: 'none', base: '9s' }, 3)).toEqual([0, 0, 0])
    expect(delays({ strategy: 'fixed', base: '5s', jitter: 'none' }, 3)).toEqual([5, 5, 5].map(inMs))
    expect(delays({ base: '1s', factor: 3, max: '1h', jitter: 'none' }, 4)).toEqual([1, 3, 9, 27].map(inMs))
    expect(delays({ base: '1s', factor: 1, jitter: 'none' }, 3)).toEqual([1, 1, 1].map(inMs))
  })

  it('varies by its jitter', () => {
    const spread = (jitter: RetryOptions['jitter']) =>
      [() => 0, half, most].map((random) =>
        retryDelayMs(retryPolicy({ base: '10s', max: '60s', jitter: jitter ?? 0 }), 1, random),
      )
    expect(spread('none')).toEqual([10_000, 10_000, 10_000])
    expect(spread('full')).toEqual([0, 5_000, 10_000])
    expect(spread('equal')).toEqual([5_000, 7_500, 10_000])
    expect(spread(0.15)).toEqual([8_500, 10_000, 11_500])
  })

  it('X4: is cut off after the jitter, so that it is never longer than the longest', () => {
    expect(retryDelayMs(retryPolicy({ base: '60s', max: '60s', jitter: 0.15 }), 1, most)).toBe(60_000)
    const policies = fc.record({
      strategy: fc.constantFrom('none' as const, 'fixed' as const, 'exponential' as const),
      base: fc.integer({ min: 0, max: 10_000_000 }),
      factor: fc.double({ min: 1, max: 100, noNaN: true }),
      max: fc.integer({ min: 0, max: 10_000_000 }),
      jitter: fc.oneof(
        fc.constantFrom('none' as const, 'full' as const, 'equal' as const),
        fc.double({ min: 0, max: 1, noNaN: true }),
      ),
    })
    const chance = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true })
    fc.assert(
      fc.property(policies, fc.integer({ min: 1, max: 10_000 }), chance, (given, attempt, random) => {
        const options = { ...given, max: Math.max(given.base, given.max) }
        const delayMs = retryDelayMs(retryPolicy(options), attempt, () => random)
        expect(Number.isSafeInteger(delayMs)).toBe(true)
        expect(delayMs).toBeGreaterThanOrEqual(0)
        expect(delayMs).toBeLessThanOrEqual(options.max)
      }),
      { seed: 1 },
    )
  })

  it('is as long as its base, however long that is, where no limit is given', () => {
    expect(delays({ strategy: 'fixed', base: '10m', jitter: 'none' }, 3)).toEqual([600, 600, 600].map(inMs))
    expect(delays({ base: '10m', jitter: 'none' }, 3)).toEqual([600, 600, 600].map(inMs))
    expect(delays({ base: '30s', jitter: 'none' }, 3)).toEqual([30, 60, 60].map(inMs))
  })

  it('never leads further than a duration may, also where its policy has no end', () => {
    const endless = { ...defaultRetryPolicy, maxMs: Number.POSITIVE_INFINITY, jitter: 'none' } as const
    expect(retryDelayMs(endless, 1_000, half)).toBe(longestDurationMs)
  })

  it('X4: has presets', () => {
    expect(delays(retryPresets.immediate, 3)).toEqual([0, 0, 0])
    expect(delays(retryPresets.fixed, 3)).toEqual([5, 5, 5].map(inMs))
    expect(delays(retryPresets.gentle, 8)).toEqual([5, 10, 20, 40, 80, 160, 300, 300].map(inMs))
    expect(retryDelayMs(retryPolicy(retryPresets.gentle), 1, () => 0)).toBe(4_250)
  })

  it('is refused with everything that is wrong with it', () => {
    expect(() => retryPolicy({ strategy: 'linear', factor: 0, jitter: 2 } as never)).toThrow(
      expect.objectContaining({
        code: 'DEFINITION_INVALID',
        message:
          "The backoff is invalid: strategy must be none, fixed or exponential, got 'linear'; factor must be at least 1, got 0; jitter must be none, full, equal or a number from 0 to 1, got 2",
      }),
    )
    expect(() => retryPolicy({ base: 'soon' })).toThrow('backoff base must be')
    expect(() => retryPolicy({ jitter: Number.NaN })).toThrow('jitter must be')
    expect(() => retryPolicy({ base: '10m', max: '1m' })).toThrow('max must be at least as long as the 10m of base, got 1m')
  })

  it.each([
    [{ bse: '10m' }, 'unknown option "bse", did you mean "base"?'],
    [{ delay: '10m' }, 'unknown option "delay" (known: strategy, base, factor, max, jitter)'],
    [(attempt: number) => attempt * 1_000, 'its options must be an object'],
    ['fixed', 'its options must be an object'],
    [null, 'its options must be an object'],
  ])('is refused where it is told by %j, which nobody reads', (options, problem) => {
    expect(() => retryPolicy(options as never)).toThrow(
      expect.objectContaining({ code: 'DEFINITION_INVALID', message: expect.stringContaining(problem) }),
    )
  })
})

function delays(options: RetryOptions, attempts: number): readonly number[] {
  const policy = retryPolicy(options)
  return Array.from({ length: attempts }, (_, index) => retryDelayMs(policy, index + 1, half))
}

function inMs(seconds: number): number {
  return seconds * 1_000
}
