import { exitCodes } from '../exit-codes.ts'
import type { Output } from '../output/output.ts'
import { type StopRequest, stopRequest } from './signals.ts'

export interface WatchedSignals extends StopRequest {
  /** Whether a second signal has arrived. */
  isAborted(): boolean
}

/** Workers stop at the first signal and abort at the second. This prints both, and ends the process at the third. */
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
      onAbort()
    },
  )
  return { ...stop, isAborted: () => more > 0 }
}
