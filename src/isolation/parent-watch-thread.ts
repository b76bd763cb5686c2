import { parentPort, workerData } from 'node:worker_threads'
import { endOwnProcess, isParent, ownMemoryBytes } from '../core/process/environment.ts'
import { systemClock } from '../core/time/clock.ts'
import type { ParentGone, ParentWatchOptions } from './parent-watch.ts'

/** How often to check: often enough that no process is left behind for long, but without noticeable load. */
const lookEveryMs = 250

/** Runs in a separate thread, so that it notices the parent's exit even while a handler blocks the event loop. */
if (parentPort !== null) look(workerData as ParentWatchOptions)

function look(options: ParentWatchOptions): void {
  const { parent, graceMs, mostMemoryBytes } = options
  if (mostMemoryBytes !== undefined && ownMemoryBytes() > mostMemoryBytes) endOwnProcess()
  if (isParent(parent)) {
    systemClock.timer(lookEveryMs, () => look(options))
    return
  }
  parentPort?.postMessage('parent gone' satisfies ParentGone)
  systemClock.timer(graceMs, endOwnProcess)
}
