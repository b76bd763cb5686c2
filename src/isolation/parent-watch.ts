import { Worker } from 'node:worker_threads'
import { ownFile } from '../core/files/own-file.ts'

export interface ParentWatchOptions {
  /** Process id of the parent, passed by the parent itself: if read here, the parent could already have exited. */
  readonly parent: number
  /** How long this process may take to exit by itself after the parent has exited. */
  readonly graceMs: number
  /** If the process uses more memory than this, it is killed immediately. */
  readonly mostMemoryBytes?: number
}

/** The thread's message when the parent has exited. Declared as a type only, so that the thread loads as little as possible. */
export type ParentGone = 'parent gone'

/**
 * Kills this process and the group that it leads `graceMs` after its parent has exited, even while the event loop is blocked.
 * Calls `onGone` first if the event loop is free. The watch does not keep the process alive.
 */
export function watchParent(options: ParentWatchOptions, onGone: () => void = () => {}): void {
  const thread = new Worker(ownFile('isolation/parent-watch-thread.js'), {
    workerData: options,
    name: 'treadle-parent-watch',
    // Do not inherit the options of the program: its preloaded modules would be loaded a second time.
    execArgv: [],
    env: {},
    resourceLimits: { maxOldGenerationSizeMb: 16, maxYoungGenerationSizeMb: 2 },
  })
  thread.on('message', onGone)
  thread.unref()
}
