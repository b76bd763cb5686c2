import { systemClock } from '../../core/time/clock.ts'
import { lastWaitMs } from '../../worker/worker.ts'
import { exitCodes } from '../exit-codes.ts'
import type { Output } from '../output/output.ts'
import { type StopRequest, stopRequest } from './signals.ts'

export interface WatchedSignals extends StopRequest {
  /** Whether a second signal has arrived. */
  isAborted(): boolean
}

/** How long an abort may take: that of a worker, and a little to close. */
const longestAbortMs = lastWaitMs + 5_000

/**
 * Workers stop at the first signal and abort at the second. This prints both, and ends the process at the third, or when the abort
 * takes too long because the queue does not answer.
 */
export function watchSignals(
  out: Output,
  waiting = 'stopping: waiting for running jobs; press Ctrl-C again to abort them',
  onAbort: () => void = () => {},
): WatchedSignals {
  let more = 0
  const stop = stopRequest(
    () => out.note(waiting),
    () => {
      more++
      if (more > 1) process.exit(exitCodes.interrupted)
      out.note('aborting')
      systemClock.timer(longestAbortMs, () => giveUp(out), { unref: true })
      onAbort()
    },
  )
  return { ...stop, isAborted: () => more > 0 }
}

function giveUp(out: Output): never {
  out.note('the queue did not answer in time: jobs that could not be returned run again when their leases expire')
  process.exit(exitCodes.interrupted)
}
