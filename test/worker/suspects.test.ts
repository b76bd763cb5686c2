import { describe, expect, it } from 'vitest'
import { suspectsOf } from '../../src/worker/health/stalls/stall-suspects.ts'

describe('who kept the event loop from turning (demands 9)', () => {
  it('is the one job that began in the standstill, ended in it, and took as long as it lasted', () => {
    const ended = [
      { run: 'heavy', durationMs: 4_900, beganBefore: false },
      { run: 'quick', durationMs: 120, beganBefore: false },
      { run: 'slow and patient', durationMs: 60_000, beganBefore: true },
    ]
    expect(suspectsOf(5_000, ['waits', 'waits too'], ended)).toEqual(['heavy'])
  })

  it('is not known where two such jobs share it: all that ran or ended are named', () => {
    const ended = [
      { run: 'one', durationMs: 5_000, beganBefore: false },
      { run: 'two', durationMs: 4_800, beganBefore: false },
    ]
    expect(suspectsOf(5_000, ['waits'], ended)).toEqual(['waits', 'one', 'two'])
  })

  it('is not a job that had begun long before and ended now', () => {
    const ended = [{ run: 'long', durationMs: 90_000, beganBefore: true }]
    expect(suspectsOf(5_000, ['waits'], ended)).toEqual(['waits', 'long'])
  })

  it('is the one job there is', () => {
    expect(suspectsOf(5_000, ['only'], [])).toEqual(['only'])
  })
})
