import type { SendReceipt } from '../backends/contract.ts'
import { TreadleError } from '../core/errors.ts'
import { refuseUnknownOptions } from '../core/options.ts'
import type { WaitOptions } from '../definition/progress.ts'
import type { Registry } from '../definition/registry.ts'
import type { Run } from '../definition/run.ts'
import { checkedStep, type ResultsOf, type Step } from '../definition/workflow.ts'
import type { FailurePolicy, WaitLink } from '../envelope/envelope.ts'
import type { PlacedJob, Sending } from './sending.ts'
import { Workflow, type WorkflowStep } from './workflow.ts'
import { WorkflowHandle, type WorkflowRun, type WorkflowRunDeps } from './workflow-run.ts'

/** Steps that run when a batch has come to its end. */
export interface BatchCallbacks {
  /** When all of its jobs have succeeded; else it is skipped. */
  readonly onSuccess?: Step
  /** When all have ended and one of them did not succeed; else it is skipped. */
  readonly onFailure?: Step
  /** When all have ended, however they did. */
  readonly onComplete?: Step
}

export interface WorkflowsDeps extends WorkflowRunDeps {
  readonly registry: Registry
  sending(): Promise<Sending>
  /** Sends, and runs what was sent where that is how the backend works. */
  send(jobs: readonly PlacedJob[]): Promise<readonly SendReceipt[]>
  runOf(job: string, receipt: SendReceipt): Run
}

/** The last of a list of steps gives the result. */
export type LastOf<Steps extends readonly Step[]> = Steps extends readonly [...Step[], Step<infer Result>] ? Result : unknown

const callbackPolicies = {
  onSuccess: 'skip',
  onFailure: 'rescue',
  onComplete: 'ignore',
} as const satisfies Record<keyof BatchCallbacks, FailurePolicy>

/** Puts jobs that belong together into the queue, with one call. */
export class Workflows {
  readonly #deps: WorkflowsDeps

  constructor(deps: WorkflowsDeps) {
    this.#deps = deps
  }

  /** Each step waits for the one before it, and is dead when that one fails. */
  async chain<const Steps extends readonly Step[]>(steps: Steps): Promise<WorkflowRun<LastOf<Steps>>> {
    refuseEmpty(steps, 'chain')
    const waits = steps.map((_, index) => (index === 0 ? [] : [{ on: index - 1, onFailure: 'fail' as const }]))
    const { id, runs } = await this.#dispatch(steps.map((step, index) => ({ step, waits: waits[index] ?? [] })))
    const last = runs.at(-1) as Run<LastOf<Steps>>
    return new WorkflowHandle(id, runs, this.#deps, (options) => last.result(options))
  }

  /** All steps at once, and then the callbacks. */
  async batch<const Steps extends readonly Step[]>(
    steps: Steps,
    callbacks: BatchCallbacks,
  ): Promise<WorkflowRun<ResultsOf<Steps>>> {
    refuseEmpty(steps, 'batch')
    refuseUnknownOptions(callbacks, Object.keys(callbackPolicies), 'The callbacks of a batch')
    const members = steps.map((step) => ({ step, waits: [] }))
    const names = Object.keys(callbackPolicies) as (keyof BatchCallbacks)[]
    const after = names.flatMap((name) => {
      const step = callbacks[name]
      return step === undefined ? [] : [{ step, waits: steps.map((_, on) => ({ on, onFailure: callbackPolicies[name] })) }]
    })
    const { id, runs } = await this.#dispatch([...members, ...after])
    const results = (options: WaitOptions) => Promise.all(runs.slice(0, steps.length).map((run) => run.result(options)))
    return new WorkflowHandle(id, runs, this.#deps, results as (options: WaitOptions) => Promise<ResultsOf<Steps>>)
  }

  workflow(): Workflow {
    return new Workflow(async (steps) => {
      const { id, runs } = await this.#dispatch(steps)
      return new WorkflowHandle(id, runs, this.#deps, (options) => (runs.at(-1) as Run).result(options))
    })
  }

  async #dispatch(steps: readonly WorkflowStep[]): Promise<{ readonly id: string; readonly runs: readonly Run[] }> {
    const sending = await this.#deps.sending()
    const root = sending.newId()
    const ids = steps.map(() => sending.newId())
    const jobs = steps.map(({ step, waits }, index): PlacedJob => {
      const waitsFor: readonly WaitLink[] = waits.map(({ on, onFailure }) => ({ id: ids[on] as string, onFailure }))
      const { job, payload, options } = checkedStep(step)
      const place = { id: ids[index] as string, root, parent: null, waitsFor }
      return { definition: this.#deps.registry.get(job), payload, options, place }
    })
    const receipts = await this.#deps.send(jobs)
    return { id: root, runs: receipts.map((receipt, index) => this.#deps.runOf(jobs[index]?.definition.job as string, receipt)) }
  }
}

function refuseEmpty(steps: readonly unknown[], what: string): void {
  if (Array.isArray(steps) && steps.length > 0) return
  throw new TreadleError('CONFIG_INVALID', `A ${what} needs a list of at least one step, such as [job.step(payload)]`)
}
