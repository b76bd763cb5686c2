import { type ErrorCode, TreadleError } from '../../core/errors.ts'
import { type Clock, pauseBeforeRetry } from '../../core/time/clock.ts'

const firstPauseMs = 100
const longestPauseMs = 10_000

/** A queue that was closed stays closed, and a file that was replaced is another queue: only a new start helps. */
const finalCodes: readonly ErrorCode[] = ['BACKEND_CLOSED', 'DATABASE_REPLACED']

/** Whether no other try can change it. */
export function isFinal(error: unknown): error is TreadleError {
  return error instanceof TreadleError && finalCodes.includes(error.code)
}

/**
 * Tries forever, with a growing pause, until it works or the signal aborts; then the last error is thrown. An error that
 * no other try can change is thrown at once.
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
