import { TreadleError } from '../../core/errors.ts'
import { type Clock, pauseBeforeRetry, stopwatch } from '../../core/time/clock.ts'
import { parseDuration } from '../../core/time/duration.ts'
import type { WaitOptions } from '../../definition/dispatching/progress.ts'

/** How long a single look waits for a database that is busy. */
const patienceMs = 10_000
const firstPauseMs = 20
const longestPauseMs = 1_000

/** A database that is busy, or that cannot be reached just now, says nothing of what is asked. */
function isPassing(thrown: unknown): thrown is TreadleError {
  return thrown instanceof TreadleError && (thrown.code === 'DATABASE_BUSY' || thrown.code === 'DATABASE_UNREACHABLE')
}

/** For a single look: again while the database is busy, for a short time. */
export async function lookPatiently<Answer>(look: () => Promise<Answer>, clock: () => Promise<Clock>): Promise<Answer> {
  const elapsedMs = stopwatch()
  for (let pauseMs = firstPauseMs; ; pauseMs = Math.min(pauseMs * 2, longestPauseMs)) {
    try {
      return await look()
    } catch (thrown) {
      if (!isPassing(thrown) || elapsedMs() > patienceMs) throw thrown
    }
    await pauseBeforeRetry(await clock(), pauseMs)
  }
}

export interface Wait<Seen> {
  readonly look: () => Promise<Seen>
  readonly isOver: (seen: Seen) => boolean
  /** Resolves when another look may tell more, or after `longestMs`. */
  readonly rest: (clock: Clock, longestMs: number, signal: AbortSignal | undefined) => Promise<void>
  /** What has not come about in time; nothing was seen where the database never answered. */
  readonly late: (seen: Seen | undefined) => string
}

/** Looks again and again until it is over. Ends before by its own timeout, its signal, or an error that does not pass. */
export async function waitUntilOver<Seen>(wait: Wait<Seen>, clock: Clock, { timeout, signal }: WaitOptions): Promise<Seen> {
  const timeoutMs = timeout === undefined ? Number.POSITIVE_INFINITY : parseDuration(timeout, 'timeout')
  const until = clock.now() + timeoutMs
  let seen: Seen | undefined
  for (let pauseMs = firstPauseMs; ; pauseMs = Math.min(pauseMs * 2, longestPauseMs)) {
    let cause: TreadleError | undefined
    try {
      seen = await wait.look()
      if (wait.isOver(seen)) return seen
    } catch (thrown) {
      if (!isPassing(thrown)) throw thrown
      cause = thrown
    }
    signal?.throwIfAborted()
    const leftMs = until - clock.now()
    if (leftMs <= 0) throw new TreadleError('WAIT_TIMEOUT', `${wait.late(seen)} within ${timeoutMs} ms`, { cause })
    const restMs = Math.min(pauseMs, leftMs)
    await (cause === undefined ? wait.rest(clock, restMs, signal) : pauseBeforeRetry(clock, restMs, signal))
  }
}
