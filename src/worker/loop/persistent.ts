import { type ErrorCode, TreadleError } from '../../core/errors.ts'
import { type Clock, pauseBeforeRetry } from '../../core/time/clock.ts'

const firstPauseMs = 100
const longestPauseMs = 10_000

/** A closed queue stays closed, and a replaced file is a different queue. Only a restart helps. */
const finalCodes: readonly ErrorCode[] = ['BACKEND_CLOSED', 'DATABASE_REPLACED']

/** Whether a retry cannot help. */
export function isFinal(error: unknown): error is TreadleError {
  return error instanceof TreadleError && finalCodes.includes(error.code)
}

/**
 * Retries forever, with backoff, until the call succeeds or the signal aborts; then the last error is thrown. An error that a
 * retry cannot fix is thrown immediately.
 */
export async function persistently<Answer>(
  work: () => Promise<Answer>,
  { clock, signal, onError }: { readonly clock: Clock; readonly signal: AbortSignal; readonly onError: (error: unknown) => void },
): Promise<Answer> {
  for (let failures = 0; ; failures++) {
    try {
      return await work()
    } catch (error) {
      if (signal.aborted || isFinal(error)) throw error
      onError(error)
      await pauseBeforeRetry(clock, backoffMs(failures, clock), signal)
    }
  }
}

export function backoffMs(failures: number, clock: Clock): number {
  return Math.min(firstPauseMs * 2 ** failures, longestPauseMs) * (0.5 + clock.random() / 2)
}
