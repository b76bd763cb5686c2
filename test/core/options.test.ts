import { describe, expect, it } from 'vitest'
import { refuseUnknownOptions, unknownOptions } from '../../src/core/options.ts'

const known = ['concurrency', 'queues', 'lease', 'poll', 'maxRetries']

describe('options', () => {
  it('pass when all of them are known', () => {
    expect(unknownOptions({}, known)).toEqual([])
    expect(unknownOptions({ concurrency: 1, poll: undefined }, known)).toEqual([])
  })

  it.each([
    ['concurency', 'concurrency'],
    ['conccurrency', 'concurrency'],
    ['concurrenci', 'concurrency'],
    ['cnocurrency', 'concurrency'],
    ['Concurrency', 'concurrency'],
    ['maxretries', 'maxRetries'],
    ['queue', 'queues'],
    ['leases', 'lease'],
    ['leaseMs', 'lease'],
    ['pol', 'poll'],
  ])('that are misspelt as %s are refused with the question whether %s was meant', (given, meant) => {
    expect(unknownOptions({ [given]: 1 }, known)).toEqual([`unknown option "${given}", did you mean "${meant}"?`])
  })

  it('that resemble nothing are refused with all that there are', () => {
    expect(unknownOptions({ colour: 1 }, known)).toEqual([
      'unknown option "colour" (known: concurrency, queues, lease, poll, maxRetries)',
    ])
  })

  it('are refused all at once', () => {
    expect(() => refuseUnknownOptions({ pol: 1, queue: 2, lease: 3 }, known, 'The worker')).toThrow(
      expect.objectContaining({
        code: 'CONFIG_INVALID',
        message: 'The worker: unknown option "pol", did you mean "poll"?; unknown option "queue", did you mean "queues"?',
      }),
    )
  })
})
