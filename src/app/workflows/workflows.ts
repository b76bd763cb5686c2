import { TreadleError } from '../../core/errors.ts'
import { refuseUnknownOptions } from '../../core/options.ts'
import type { WaitOptions } from '../../definition/dispatching/progress.ts'
import type { Run } from '../../definition/dispatching/run.ts'
import { checkedStep, type ResultsOf, type Step } from '../../definition/dispatching/workflow.ts'
import type { Registry } from '../../definition/registry.ts'
import type { CallerTransaction } from '../../definition/transactions/caller-transaction.ts'
import { isSynchronous, refuseUnknown } from '../../definition/transactions/recognition.ts'
import type { SqlTransaction } from '../../definition/transactions/sql-transaction.ts'
import type { FailurePolicy, WaitLink } from '../../envelope/envelope.ts'
import type { JoinOptions, MakeJobs, SentWorkflow } from '../dispatching/dispatches.ts'
import type { PlacedJob } from '../dispatching/joined-sending.ts'
import { Workflow, type WorkflowStep } from './workflow.ts'
import { WorkflowHandle, type WorkflowRun, type WorkflowRunDeps } from './workflow-run.ts'

/** Steps that run when a batch has ended. */
export interface BatchCallbacks {
  /** Runs if all jobs of the batch succeeded; otherwise it is skipped. */
  readonly onSuccess?: Step
  /** Runs when all jobs have ended and at least one did not succeed; otherwise it is skipped. */
  readonly onFailure?: Step
  /** Runs when all jobs have ended, whatever their outcome. */
  readonly onComplete?: Step
}

/** Options of `jobs.batch`: its callbacks, and optionally the caller's transaction. */
export interface BatchOptions extends BatchCallbacks, JoinOptions {}

export interface WorkflowsDeps extends WorkflowRunDeps {
  readonly registry: Registry
  send(make: MakeJobs, options: JoinOptions): Promise<SentWorkflow>
  sendAtOnce(make: MakeJobs, tx: unknown): SentWorkflow
}

/** Methods that dispatch workflows in the caller's transaction. */
export interface JoinedWorkflows {
  chain<const Steps extends readonly Step[]>(steps: Steps): Promise<WorkflowRun<LastOf<Steps>>>
  batch<const Steps extends readonly Step[]>(steps: Steps, callbacks?: BatchCallbacks): Promise<WorkflowRun<ResultsOf<Steps>>>
  workflow(): Workflow
}

/**
 * Methods that dispatch workflows in a transaction on a SQLite file. They are synchronous: the jobs are written when the call
 * returns.
 */
export interface FileWorkflows {
  chain<const Steps extends readonly Step[]>(steps: Steps): WorkflowRun<LastOf<Steps>>
  batch<const Steps extends readonly Step[]>(steps: Steps, callbacks?: BatchCallbacks): WorkflowRun<ResultsOf<Steps>>
  workflow(): Workflow<WorkflowRun>
}

/** The result type of the last step. */
export type LastOf<Steps extends readonly Step[]> = Steps extends readonly [...Step[], Step<infer Result>] ? Result : unknown

const callbackPolicies = {
  onSuccess: 'skip',
  onFailure: 'rescue',
  onComplete: 'ignore',
} as const satisfies Record<keyof BatchCallbacks, FailurePolicy>

/** The steps of a workflow before they are sent, and how to get the result. */
interface Shape<Result> {
  readonly steps: readonly WorkflowStep[]
  readonly result: (runs: readonly Run[], options: WaitOptions) => Promise<Result>
}

/** Dispatches jobs that belong together in one call. */
export class Workflows {
  readonly #deps: WorkflowsDeps

  constructor(deps: WorkflowsDeps) {
    this.#deps = deps
  }

  async chain<const Steps extends readonly Step[]>(steps: Steps, options: JoinOptions): Promise<WorkflowRun<LastOf<Steps>>> {
    refuseUnknownOptions(options, ['in'], 'The options of a chain')
    return this.#dispatch(chainOf(steps), options)
  }

  async batch<const Steps extends readonly Step[]>(steps: Steps, given: BatchOptions): Promise<WorkflowRun<ResultsOf<Steps>>> {
    refuseUnknownOptions(given, [...Object.keys(callbackPolicies), 'in'], 'The callbacks of a batch')
    const { in: tx, ...callbacks } = given
    return this.#dispatch(batchOf(steps, callbacks), 'in' in given ? { in: tx } : {})
  }

  workflow(inherited: JoinOptions = {}): Workflow {
    return new Workflow(async (steps, options) => {
      refuseUnknownOptions(options, ['in'], 'The options of a workflow')
      return this.#dispatch({ steps, result: lastResult }, { ...inherited, ...options })
    })
  }

  /** The same methods in the caller's transaction. On a SQLite file they are synchronous, like the transaction. */
  in(tx: CallerTransaction | SqlTransaction): JoinedWorkflows | FileWorkflows {
    refuseUnknown(tx)
    if (!isSynchronous(tx)) {
      return {
        chain: (steps) => this.chain(steps, { in: tx }),
        batch: (steps, callbacks = {}) => this.batch(steps, { ...callbacks, in: tx }),
        workflow: () => this.workflow({ in: tx }),
      }
    }
    return {
      chain: (steps) => this.#dispatchAtOnce(chainOf(steps), tx),
      batch: (steps, callbacks = {}) => this.#dispatchAtOnce(batchOf(steps, callbacks), tx),
      workflow: () => new Workflow((steps) => this.#dispatchAtOnce({ steps, result: lastResult }, tx)),
    }
  }

  async #dispatch<Result>(shape: Shape<Result>, options: JoinOptions): Promise<WorkflowRun<Result>> {
    return this.#handle(shape, await this.#deps.send(this.#maker(shape.steps), options))
  }

  #dispatchAtOnce<Result>(shape: Shape<Result>, tx: unknown): WorkflowRun<Result> {
    return this.#handle(shape, this.#deps.sendAtOnce(this.#maker(shape.steps), tx))
  }

  #handle<Result>({ result }: Shape<Result>, { id, runs }: SentWorkflow): WorkflowRun<Result> {
    return new WorkflowHandle(id, runs, this.#deps, (options) => result(runs, options))
  }

  #maker(steps: readonly WorkflowStep[]): MakeJobs {
    return (newId) => {
      const root = newId()
      const ids = steps.map(() => newId())
      const jobs = steps.map(({ step, waits }, index): PlacedJob => {
        const waitsFor: readonly WaitLink[] = waits.map(({ on, onFailure }) => ({ id: ids[on] as string, onFailure }))
        const { job, payload, options } = checkedStep(step)
        const place = { id: ids[index] as string, root, parent: null, waitsFor }
        return { definition: this.#deps.registry.get(job), payload, options, place }
      })
      return { root, jobs }
    }
  }
}

/** Each step waits for the previous one, and becomes dead if that one fails. */
function chainOf<const Steps extends readonly Step[]>(steps: Steps): Shape<LastOf<Steps>> {
  refuseEmpty(steps, 'chain')
  const waits = steps.map((_, index) => (index === 0 ? [] : [{ on: index - 1, onFailure: 'fail' as const }]))
  return { steps: steps.map((step, index) => ({ step, waits: waits[index] ?? [] })), result: lastResult }
}

/** All steps in parallel, followed by the callbacks. */
function batchOf<const Steps extends readonly Step[]>(steps: Steps, callbacks: BatchCallbacks): Shape<ResultsOf<Steps>> {
  refuseEmpty(steps, 'batch')
  refuseUnknownOptions(callbacks, Object.keys(callbackPolicies), 'The callbacks of a batch')
  const members = steps.map((step) => ({ step, waits: [] }))
  const names = Object.keys(callbackPolicies) as (keyof BatchCallbacks)[]
  const after = names.flatMap((name) => {
    const step = callbacks[name]
    return step === undefined ? [] : [{ step, waits: steps.map((_, on) => ({ on, onFailure: callbackPolicies[name] })) }]
  })
  const results = (runs: readonly Run[], options: WaitOptions) =>
    Promise.all(runs.slice(0, steps.length).map((run) => run.result(options)))
  return { steps: [...members, ...after], result: results as Shape<ResultsOf<Steps>>['result'] }
}

function lastResult<Result>(runs: readonly Run[], options: WaitOptions): Promise<Result> {
  return (runs.at(-1) as Run<Result>).result(options)
}

function refuseEmpty(steps: readonly unknown[], what: string): void {
  if (Array.isArray(steps) && steps.length > 0) return
  throw new TreadleError('CONFIG_INVALID', `A ${what} needs a list of at least one step, such as [job.step(payload)]`)
}
