import { Worker } from 'node:worker_threads'
import { ownFile } from '../core/files/own-file.ts'

export interface ParentWatchOptions {
  /** The process that started this one and gave it its own id: asked for here, it could have ended already. */
  readonly parent: number
  /** How long after the parent's end this process may still take to end by itself. */
  readonly graceMs: number
  /** A process that takes more memory than this is ended as well, at once. */
  readonly mostMemoryBytes?: number
}

/** What the thread says when the parent has ended. Only a type: the thread loads as little as it can. */
export type ParentGone = 'parent gone'

/**
 * Ends this process, and the group that it leads, `graceMs` after the one that started it has ended, also while its event loop
 * is blocked. `onGone` is called before, where the event loop is free to. The watch does not keep the process alive.
 */
export function watchParent(options: ParentWatchOptions, onGone: () => void = () => {}): void {
  const thread = new Worker(ownFile('isolation/parent-watch-thread.js'), {
    workerData: options,
    name: 'treadle-parent-watch',
    // Whatever the program is started with is meant for the program: here it would be loaded twice.
    execArgv: [],
    env: {},
    resourceLimits: { maxOldGenerationSizeMb: 16, maxYoungGenerationSizeMb: 2 },
  })
  thread.on('message', onGone)
  thread.unref()
}
