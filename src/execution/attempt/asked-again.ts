import { isPassing } from '../../core/errors.ts'
import { type Clock, pauseBeforeRetry } from '../../core/time/clock.ts'

interface Stoppable {
  /** Null until it is told to stop, which also aborts the signal. */
  readonly stopReason: string | null
  readonly signal: AbortSignal
}

const firstPauseMs = 50
const longestPauseMs = 5_000

/**
 * Asks the queue something for a handler. While the database is unavailable or busy, asks again until the run is told to stop, so
 * that an outage of the queue uses up no attempt.
 */
export async function askedAgain<Answer>(ask: () => Promise<Answer>, clock: Clock, run: Stoppable): Promise<Answer> {
  for (let pauseMs = firstPauseMs; ; pauseMs = Math.min(2 * pauseMs, longestPauseMs)) {
    try {
      return await ask()
    } catch (thrown) {
      if (!isPassing(thrown) || run.stopReason !== null) throw thrown
    }
    await pauseBeforeRetry(clock, pauseMs, run.signal)
  }
}
