import { systemClock } from '../../core/time/clock.ts'
import { hurriedMs } from '../../worker/loop/last-calls.ts'
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
 * Workers stop at the first signal, abort at the second, and leave behind at the third what has not ended. This prints the first
 * two and passes the others to `onAbort`. It ends the process at the fourth, or when the rest takes too long because the queue
 * does not answer.
 */
export function watchSignals(out: Output, onAbort: () => void, waiting = waitingForJobs): WatchedSignals {
  let more = 0
  const stop = stopRequest(
    () => out.note(waiting),
    () => {
      more++
      if (more > 2) process.exit(exitCodes.interrupted)
      if (more === 1) out.note('aborting')
      systemClock.timer(more === 1 ? longestAbortMs : hurriedMs, () => giveUp(out), { unref: true })
      onAbort()
    },
  )
  return { ...stop, isAborted: () => more > 0 }
}

const waitingForJobs = 'stopping: waiting for running jobs; press Ctrl-C again to abort them'

function giveUp(out: Output): never {
  out.note('the queue did not answer in time: jobs that could not be returned run again when their leases expire')
  process.exit(exitCodes.interrupted)
}
