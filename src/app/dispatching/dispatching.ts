import type { Duration } from '../../core/time/duration.ts'
import type { Instant } from '../../core/time/instant.ts'
import type { JobBuilder } from '../../definition/builder.ts'
import type { JobDefinition } from '../../definition/definition.ts'
import { type DispatchArguments, type DispatchOptions, dispatchOptions } from '../../definition/dispatching/dispatch.ts'
import { noPayload, type PayloadDraft, TimeDraft } from '../../definition/dispatching/draft.ts'
import type { Run } from '../../definition/dispatching/run.ts'
import type { ResultsOf, Step } from '../../definition/dispatching/workflow.ts'
import type { HandlerClass, HandlerFunction } from '../../definition/handler.ts'
import type { CallerTransaction, SqliteConnection } from '../../definition/transactions/caller-transaction.ts'
import type { SqlTransaction } from '../../definition/transactions/sql-transaction.ts'
import { Defining, type Named } from '../defining.ts'
import type { Workflow } from '../workflows/workflow.ts'
import type { WorkflowRun } from '../workflows/workflow-run.ts'
import type { BatchOptions, FileWorkflows, JoinedWorkflows, LastOf, Workflows } from '../workflows/workflows.ts'
import type { Dispatches, JoinOptions } from './dispatches.ts'

/** The words by which a program puts jobs into its queue. */
export abstract class Dispatching<Added = unknown> extends Defining<Added> {
  protected abstract override readonly dispatcher: Dispatches
  protected abstract readonly workflows: Workflows

  /**
   * Puts a job into the queue; it is on disk when this resolves. The job is named by its builder, its definition, its class or its
   * key. A function in place of the payload is called for this very job, by a worker of this process, and forgotten when the job has
   * ended; a duration in place of the options is the delay.
   */
  dispatch<Input, Result, Payload>(
    job: JobBuilder<Input, Result, Payload>,
    ...args: DispatchArguments<Input>
  ): Promise<Run<Awaited<Result>>>
  dispatch<Input, Result>(job: JobDefinition<Input, Result>, ...args: DispatchArguments<Input>): Promise<Run<Result>>
  dispatch<Payload, Result>(
    job: HandlerClass<Payload, Result>,
    payload?: Payload,
    options?: DispatchOptions | Duration,
  ): Promise<Run<Awaited<Result>>>
  dispatch<Result>(
    job: string,
    handler: HandlerFunction<null, Result, Added>,
    options?: DispatchOptions | Duration,
  ): Promise<Run<Awaited<Result>>>
  dispatch(job: string, payload?: unknown, options?: DispatchOptions | Duration): Promise<Run>
  async dispatch(job: Named, ...args: readonly unknown[]): Promise<Run> {
    const [given, optionsOrDelay] = args
    const options = dispatchOptions(optionsOrDelay)
    if (typeof job === 'string' && typeof given === 'function') {
      return this.dispatcher.dispatchFunction(job, given as HandlerFunction<never, unknown>, options)
    }
    return this.dispatcher.dispatch(this.definitionOf(job), args.length === 0 ? noPayload : given, options)
  }

  /** Puts many jobs into the queue. Nothing is stored when one of the payloads is refused. */
  dispatchMany<Input, Result, Payload>(
    job: JobBuilder<Input, Result, Payload>,
    payloads: readonly NoInfer<Input>[],
    options?: DispatchOptions,
  ): Promise<readonly Run<Awaited<Result>>[]>
  dispatchMany<Input, Result>(
    job: JobDefinition<Input, Result>,
    payloads: readonly NoInfer<Input>[],
    options?: DispatchOptions,
  ): Promise<readonly Run<Result>[]>
  dispatchMany<Payload, Result>(
    job: HandlerClass<Payload, Result>,
    payloads: readonly NoInfer<Payload>[],
    options?: DispatchOptions,
  ): Promise<readonly Run<Awaited<Result>>[]>
  dispatchMany(job: string, payloads: readonly unknown[], options?: DispatchOptions): Promise<readonly Run[]>
  async dispatchMany(job: Named, payloads: readonly unknown[], options: DispatchOptions = {}): Promise<readonly Run[]> {
    return this.dispatcher.dispatchMany(this.definitionOf(job), payloads, options)
  }

  /** A payload for a job that is named later: `jobs.args(payload).delay('1h').dispatch('send-email')`. */
  args(payload: unknown): PayloadDraft<Named> {
    return this.#draft().args(payload)
  }

  /** A time for a job that is named later: `jobs.delay('1h').dispatch('send-email', mail)`. */
  delay(delay: Duration): TimeDraft<Named> {
    return this.#draft().delay(delay)
  }

  /** An instant for a job that is named later; null is at once. */
  at(at: Instant | null): TimeDraft<Named> {
    return this.#draft().at(at)
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

  /** A handle of a job or of a workflow that is known by its id. */
  handle(id: string, job = ''): Run {
    return this.dispatcher.find(job, id)
  }

  #draft(): TimeDraft<Named> {
    return new TimeDraft({}, async (job, payload, options) => this.dispatcher.dispatch(this.definitionOf(job), payload, options))
  }
}
