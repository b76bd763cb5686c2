import { clauseOf } from '../../../core/repeated-errors.ts'
import { formatDuration } from '../../../core/time/duration.ts'
import type { BreakerChange, BreakerConfig } from './breaker.ts'

/** The log message when a breaker opens or closes. The probe in between is not logged. */
export function breakerText({ state, failures, error }: BreakerChange, config: BreakerConfig): string | undefined {
  switch (state) {
    case 'open': {
      const pause = formatDuration(config.cooldownMs)
      return `the queue failed ${failures} times in a row, the last time with: ${clauseOf(error)}. No job is claimed for ${pause}; running jobs continue`
    }
    case 'half-open':
      return undefined
    case 'closed':
      return 'the queue answers again: jobs are claimed as before'
  }
}
