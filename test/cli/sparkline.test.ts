import { describe, expect, test } from 'vitest'
import { condensed, percentile, sparkline } from '../../src/cli/output/sparkline.ts'
import { Rates } from '../../src/cli/top/rates.ts'
import { keysOf } from '../../src/cli/top/terminal.ts'
import { zeroCounts } from '../../src/queue/contract/job-state.ts'

describe('small charts', () => {
  test('the greatest value is the highest bar, nothing is a blank', () => {
    expect(sparkline([0, 1, 4, 8, null])).toBe('▁▁▄█ ')
    expect(sparkline([0, 0])).toBe('▁▁')
    expect(sparkline([])).toBe('')
  })

  test('more values than columns keep their peaks', () => {
    expect(condensed([1, 9, 1, 1, 2, 3], 3)).toEqual([9, 1, 3])
    expect(condensed([1, 2], 3)).toEqual([1, 2])
  })

  test('percentiles are values that were there', () => {
    const values = Array.from({ length: 100 }, (_, at) => at + 1)
    expect([0.5, 0.95, 1].map((share) => percentile(values, share))).toEqual([50, 95, 100])
    expect(percentile([], 0.5)).toBeNull()
  })
})

test('rates are what came and went in the last minute', () => {
  const rates = new Rates()
  const counts = (ready: number, succeeded: number) => [
    { queue: 'mail', job: 'mail', counts: { ...zeroCounts(), ready, succeeded } },
  ]
  rates.add(counts(10, 0), 0)
  expect(rates.of('mail')).toBeNull()
  rates.add(counts(5, 20), 30_000)
  expect(rates.of('mail')).toEqual({ in: 30, out: 40 })
  // Retention has deleted what ended.
  rates.add(counts(5, 0), 60_000)
  expect(rates.of('mail')).toEqual({ in: 15, out: 20 })
})

test('keys are read one by one, however they arrive', () => {
  expect(keysOf('jj\t\r')).toEqual(['down', 'down', 'next', 'enter'])
  expect(keysOf('\u001b[A\u001bOB\u001b')).toEqual(['up', 'down', 'back'])
  expect(keysOf('xé日\u0003')).toEqual(['quit'])
})
