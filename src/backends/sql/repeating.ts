import { type Clock, pause } from '../../core/clock.ts'
import { TreadleError } from '../../core/errors.ts'

/** So long a call waits for a database that went away: for a restart, or for another server to take its place. */
const patienceMs = 10_000
const firstPauseMs = 50
const longestPauseMs = 1_000

/**
 * Repeats a call that could not reach the database. The answer to the call before may have been lost after it was carried out, so
 * a repeated call must find out what is there already.
 */
export async function repeating<Answer>(call: (isRepeated: boolean) => Promise<Answer>, clock: Clock): Promise<Answer> {
  const giveUpAt = clock.now() + patienceMs
  for (let pauseMs = firstPauseMs; ; pauseMs = Math.min(2 * pauseMs, longestPauseMs)) {
    try {
      return await call(pauseMs > firstPauseMs)
    } catch (thrown) {
      if (!isUnreachable(thrown) || clock.now() + pauseMs > giveUpAt) throw thrown
    }
    await pause(clock, pauseMs)
  }
}

export function isUnreachable(thrown: unknown): boolean {
  return thrown instanceof TreadleError && thrown.code === 'DATABASE_UNREACHABLE'
}
