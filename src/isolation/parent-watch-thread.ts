import { parentPort, workerData } from 'node:worker_threads'
import { endOwnProcess, isParent, ownMemoryBytes } from '../core/process/environment.ts'
import { systemClock } from '../core/time/clock.ts'
import type { ParentGone, ParentWatchOptions } from './parent-watch.ts'

/** How often it looks: soon enough that nothing is left behind for long, and too seldom to be felt. */
const lookEveryMs = 250

/** A thread of its own, because it must see the parent's end also while a handler blocks the event loop. */
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
