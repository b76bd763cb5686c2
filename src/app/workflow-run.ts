import type { JobStore } from '../backends/store.ts'
import type { Clock } from '../core/clock.ts'
import { parseDuration } from '../core/duration.ts'
import { TreadleError } from '../core/errors.ts'
import type { TreeProgress, WaitOptions } from '../definition/progress.ts'
import type { Run } from '../definition/run.ts'
import { treeProgress } from './tree-progress.ts'

export interface WorkflowRunDeps {
  clock(): Promise<Clock>
  store(): Promise<JobStore>
  cancelTree: JobStore['cancelTree']
}

/** Jobs that were dispatched together. */
export interface WorkflowRun<Result = unknown> {
  /** What its jobs have in common: their `root`. */
  readonly id: string
  /** In the order in which they were said; the callbacks of a batch come last. */
  readonly runs: readonly Run[]
  tree(): Promise<TreeProgress>
  /** Cancels all of its jobs that have not ended, and asks those that run to stop; gives how many. */
  cancel(): Promise<number>
  /** Waits until all of its jobs have ended, however they end. */
  wait(options?: WaitOptions): Promise<TreeProgress>
  /** Waits for what its last step, or each step of a batch, gives; throws when one of them ended otherwise. */
  result(options?: WaitOptions): Promise<Result>
}

const firstLookMs = 20
const longestLookMs = 1_000

export class WorkflowHandle<Result> implements WorkflowRun<Result> {
  readonly id: string
  readonly runs: readonly Run[]
  readonly #deps: WorkflowRunDeps
  readonly #result: (options: WaitOptions) => Promise<Result>

  constructor(id: string, runs: readonly Run[], deps: WorkflowRunDeps, result: (options: WaitOptions) => Promise<Result>) {
    this.id = id
    this.runs = runs
    this.#deps = deps
    this.#result = result
  }

  async tree(): Promise<TreeProgress> {
    return treeProgress(await (await this.#deps.store()).tree(this.id))
  }

  async cancel(): Promise<number> {
    const { cancelled, requested } = await this.#deps.cancelTree(this.id)
    return cancelled + requested
  }

  async wait({ timeout, signal }: WaitOptions = {}): Promise<TreeProgress> {
    const clock = await this.#deps.clock()
    const timeoutMs = timeout === undefined ? Number.POSITIVE_INFINITY : parseDuration(timeout, 'timeout')
    const until = clock.now() + timeoutMs
    for (let lookMs = firstLookMs; ; lookMs = Math.min(lookMs * 2, longestLookMs)) {
      const progress = await this.tree()
      if (progress.done === 1) return progress
      signal?.throwIfAborted()
      const leftMs = until - clock.now()
      if (leftMs <= 0) {
        const ended = Math.round(progress.done * progress.total)
        throw new TreadleError(
          'WAIT_TIMEOUT',
          `${ended} of ${progress.total} jobs of workflow ${this.id} ended within ${timeoutMs} ms`,
        )
      }
      await pause(clock, Math.min(lookMs, leftMs), signal)
    }
  }

  result(options: WaitOptions = {}): Promise<Result> {
    return this.#result(options)
  }
}

function pause(clock: Clock, ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve) => {
    const end = () => {
      timer.cancel()
      signal?.removeEventListener('abort', end)
      resolve()
    }
    const timer = clock.timer(ms, end)
    signal?.addEventListener('abort', end)
  })
}
