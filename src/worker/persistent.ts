import { type Clock, pause } from '../core/clock.ts'
import { TreadleError } from '../core/errors.ts'

const firstPauseMs = 100
const longestPauseMs = 10_000

/**
 * Tries for ever, with a growing pause, until it works or the signal aborts; then the last error is thrown. A queue that was
 * closed stays closed: that error is thrown at once.
 */
export async function persistently<Answer>(
  work: () => Promise<Answer>,
  { clock, signal, onError }: { readonly clock: Clock; readonly signal: AbortSignal; readonly onError: (error: unknown) => void },
): Promise<Answer> {
  for (let failures = 0; ; failures++) {
    try {
      return await work()
    } catch (error) {
      if (signal.aborted || (error instanceof TreadleError && error.code === 'BACKEND_CLOSED')) throw error
      onError(error)
      await pause(clock, backoffMs(failures, clock), signal)
    }
  }
}

export function backoffMs(failures: number, clock: Clock): number {
  return Math.min(firstPauseMs * 2 ** failures, longestPauseMs) * (0.5 + clock.random() / 2)
}
