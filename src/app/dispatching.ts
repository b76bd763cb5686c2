import type { Duration } from '../core/duration.ts'
import type { JobBuilder } from '../definition/builder.ts'
import { type DispatchArguments, type DispatchOptions, dispatchOptions } from '../definition/dispatch.ts'
import { noPayload, PayloadDraft } from '../definition/draft.ts'
import type { Handler, HandlerClass } from '../definition/handler.ts'
import type { Run } from '../definition/run.ts'
import type { SqlTransaction } from '../definition/sql-transaction.ts'
import type { CallerTransaction, SqliteConnection } from '../definition/transactions/caller-transaction.ts'
import type { ResultsOf, Step } from '../definition/workflow.ts'
import { Defining, type Named } from './defining.ts'
import type { Dispatches, JoinOptions } from './dispatches.ts'
import type { Workflow } from './workflow.ts'
import type { WorkflowRun } from './workflow-run.ts'
import type { BatchOptions, FileWorkflows, JoinedWorkflows, LastOf, Workflows } from './workflows.ts'

/** The words by which a program puts jobs into its queue. */
export abstract class Dispatching extends Defining {
  protected abstract override readonly dispatcher: Dispatches
  protected abstract readonly workflows: Workflows

  /**
   * Puts a job into the queue; it is on disk when this resolves. The job is named by its builder, its name or its class. A
   * function in place of the payload is the handler of a job that is defined on the way; a duration in place of the options is
   * the delay.
   */
  dispatch<Input, Result, Payload>(
    job: JobBuilder<Input, Result, Payload>,
    ...args: DispatchArguments<Input>
  ): Promise<Run<Awaited<Result>>>
  dispatch<Payload, Result>(
    job: HandlerClass<Payload, Result>,
    payload?: Payload,
    options?: DispatchOptions | Duration,
  ): Promise<Run<Awaited<Result>>>
  dispatch(job: string, payload?: unknown, options?: DispatchOptions | Duration): Promise<Run>
  async dispatch(job: Named, ...args: readonly unknown[]): Promise<Run> {
    const [given, optionsOrDelay] = args
    const handler = typeof job === 'string' && typeof given === 'function' ? (given as Handler<unknown, unknown>) : undefined
    const definition = this.definitionOf(job, handler)
    const payload = handler !== undefined || args.length === 0 ? noPayload : given
    return this.dispatcher.dispatch(definition, payload, dispatchOptions(optionsOrDelay))
  }

  /** Puts many jobs into the queue. Nothing is stored when one of the payloads is refused. */
  dispatchMany<Input, Result, Payload>(
    job: JobBuilder<Input, Result, Payload>,
    payloads: readonly NoInfer<Input>[],
    options?: DispatchOptions,
  ): Promise<readonly Run<Awaited<Result>>[]>
  dispatchMany(job: string, payloads: readonly unknown[], options?: DispatchOptions): Promise<readonly Run[]>
  async dispatchMany(job: Named, payloads: readonly unknown[], options: DispatchOptions = {}): Promise<readonly Run[]> {
    return this.dispatcher.dispatchMany(this.definitionOf(job, undefined), payloads, options)
  }

  /** A payload for a job that is named later: `jobs.args(payload).delay('1h').dispatch('send-email')`. */
  args(payload: unknown): PayloadDraft {
    return new PayloadDraft({}, (job, options) => this.dispatcher.dispatch(this.registry.get(job), payload, options))
  }

  /** Jobs one after the other: each step waits for the one before it, and is dead when that one fails. */
  chain<const Steps extends readonly Step[]>(steps: Steps, options: JoinOptions = {}): Promise<WorkflowRun<LastOf<Steps>>> {
    return this.workflows.chain(steps, options)
  }

  /** Jobs beside each other, and what is to follow when all of them have ended. */
  batch<const Steps extends readonly Step[]>(steps: Steps, options: BatchOptions = {}): Promise<WorkflowRun<ResultsOf<Steps>>> {
    return this.workflows.batch(steps, options)
  }

  /** Jobs that wait for each other in any shape; nothing is stored before it is dispatched. */
  workflow(): Workflow {
    return this.workflows.workflow()
  }

  /** Workflows in a transaction that the caller has begun: all of their jobs are there when that is committed. */
  in(tx: SqliteConnection | SqlTransaction): FileWorkflows
  in(tx: CallerTransaction): JoinedWorkflows
  in(tx: CallerTransaction | SqlTransaction): JoinedWorkflows | FileWorkflows {
    return this.workflows.in(tx)
  }

  /** A handle of a job that is known by its id. */
  handle(id: string, job = ''): Run {
    return this.dispatcher.handle(job, { id, stored: false })
  }
}
