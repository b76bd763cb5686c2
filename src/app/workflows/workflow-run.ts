import { type Clock, pause } from '../../core/time/clock.ts'
import type { TreeProgress, WaitOptions } from '../../definition/dispatching/progress.ts'
import type { Run } from '../../definition/dispatching/run.ts'
import { treeCounts } from '../../queue/contract/queue-counts.ts'
import type { Cancellation, JobStore } from '../../queue/contract/store.ts'
import { lookPatiently, waitUntilOver } from '../handles/looking-again.ts'
import { treeProgress } from '../handles/tree-progress.ts'

export interface WorkflowRunDeps {
  clock(): Promise<Clock>
  store(): Promise<JobStore>
  cancelTree(id: string): Promise<Cancellation>
}

/** A handle to jobs that were dispatched together. */
export interface WorkflowRun<Result = unknown> {
  /** Id of the workflow: the `root` of all its jobs. */
  readonly id: string
  /** Handles to the jobs, in the order in which the steps were given. The callbacks of a batch come last. */
  readonly runs: readonly Run[]
  /** The number of jobs in each state, and the share that has ended. */
  tree(): Promise<TreeProgress>
  /** Cancels all jobs that have not ended and asks running ones to stop. Returns how many. */
  cancel(): Promise<number>
  /** Waits until all jobs have ended, whatever their outcome. */
  wait(options?: WaitOptions): Promise<TreeProgress>
  /** Waits for the result of the last step, or for the results of all steps of a batch. Throws if one of them did not succeed. */
  result(options?: WaitOptions): Promise<Result>
}

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

  tree(): Promise<TreeProgress> {
    return lookPatiently(
      () => this.#look(),
      () => this.#deps.clock(),
    )
  }

  async cancel(): Promise<number> {
    const { cancelled, requested } = await this.#deps.cancelTree(this.id)
    return cancelled + requested
  }

  async wait(options: WaitOptions = {}): Promise<TreeProgress> {
    const clock = await this.#deps.clock()
    return waitUntilOver(
      {
        look: () => this.#look(),
        isOver: ({ done }) => done === 1,
        rest: pause,
        late: (seen) => `${endedOf(seen)} jobs of workflow ${this.id} ended`,
      },
      clock,
      options,
    )
  }

  result(options: WaitOptions = {}): Promise<Result> {
    return this.#result(options)
  }

  async #look(): Promise<TreeProgress> {
    return treeProgress(await treeCounts(await this.#deps.store(), this.id))
  }
}

function endedOf(seen: TreeProgress | undefined): string {
  return seen === undefined ? 'It is not known how many' : `${Math.round(seen.done * seen.total)} of ${seen.total}`
}
