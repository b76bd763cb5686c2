import { type Clock, pause } from '../../../core/time/clock.ts'

const mostTries = 12
const longestPauseMs = 200

/** Retries after a transient failure with increasing pauses, and eventually gives up. */
export async function retrying<Answer>(
  work: () => Promise<Answer>,
  isTransient: (thrown: unknown) => boolean,
  clock: Clock,
): Promise<Answer> {
  for (let tries = 1; ; tries++) {
    try {
      return await work()
    } catch (thrown) {
      if (tries === mostTries || !isTransient(thrown)) throw thrown
    }
    await pause(clock, clock.random() * Math.min(2 ** tries, longestPauseMs))
  }
}
