import { isPassing, TreadleError } from '../../core/errors.ts'
import { refuseUnknownOptions, refuseWrongSignal } from '../../core/options.ts'
import { type Clock, pauseBeforeRetry, stopwatch } from '../../core/time/clock.ts'
import { formatDuration, parseDuration } from '../../core/time/duration.ts'
import type { WaitOptions } from '../../definition/dispatching/progress.ts'

/** How long a single read waits for a busy database. */
const patienceMs = 10_000
const firstPauseMs = 20
const longestPauseMs = 1_000

/** Repeats a single read for a short time while the database is busy or unreachable. */
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
  /** Resolves when it is worth reading again, or after `longestMs`. */
  readonly rest: (clock: Clock, longestMs: number, signal: AbortSignal | undefined) => Promise<void>
  /** Describes what did not happen in time. Undefined if the database never answered. */
  readonly late: (seen: Seen | undefined) => string
}

/** Reads repeatedly until the wait is over. Throws on timeout, abort, or an error that is not transient. */
export async function waitUntilOver<Seen>(wait: Wait<Seen>, clock: Clock, options: WaitOptions): Promise<Seen> {
  refuseUnknownOptions(options, ['timeout', 'signal'], 'The options of a wait')
  const { timeout, signal } = options
  refuseWrongSignal(signal, 'The options of a wait')
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
    if (leftMs <= 0) throw new TreadleError('WAIT_TIMEOUT', `${wait.late(seen)} within ${formatDuration(timeoutMs)}`, { cause })
    const restMs = Math.min(pauseMs, leftMs)
    await (cause === undefined ? wait.rest(clock, restMs, signal) : pauseBeforeRetry(clock, restMs, signal))
  }
}
