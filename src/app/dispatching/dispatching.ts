import { TreadleError } from '../../core/errors.ts'
import { shown } from '../../core/text/shown.ts'
import type { Duration } from '../../core/time/duration.ts'
import type { Instant } from '../../core/time/instant.ts'
import type { JobBuilder } from '../../definition/builder.ts'
import type { JobDefinition } from '../../definition/definition.ts'
import { type DispatchArguments, type DispatchOptions, dispatchOptions } from '../../definition/dispatching/dispatch.ts'
import { noPayload, type PayloadDraft, payloadOf, payloadsOf, TimeDraft } from '../../definition/dispatching/draft.ts'
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

/** The methods that dispatch jobs. */
export abstract class Dispatching<Added = unknown> extends Defining<Added> {
  protected abstract override readonly dispatcher: Dispatches
  protected abstract readonly workflows: Workflows

  /**
   * Dispatches a job. The job is on disk when the promise resolves. Name the job by its builder, its definition, its class or its
   * key. A function in place of the payload is the handler of this one job: a worker of this process calls it, and it is dropped
   * when the job has ended. A duration in place of the options is the delay.
   */
  dispatch<Input, Result, Payload>(
    job: JobBuilder<Input, Result, Payload>,
    ...args: DispatchArguments<Input>
  ): Promise<Run<Awaited<Result>>>
  dispatch<Input, Result>(job: JobDefinition<Input, Result>, ...args: DispatchArguments<Input>): Promise<Run<Result>>
  dispatch<Payload, Result>(
    job: HandlerClass<Payload, Result>,
    ...args: DispatchArguments<Payload, DispatchOptions | Duration>
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
    if (typeof given === 'function') return this.#dispatch(job, noPayload, options, given as HandlerFunction<never, unknown>)
    return this.#dispatch(job, payloadOf(args), options)
  }

  /** Dispatches many jobs. If one of the payloads is invalid, none is stored. */
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
    return this.dispatcher.dispatchMany(this.definitionOf(job), payloadsOf(payloads), options)
  }

  /** Starts a dispatch with its payload and names the job last: `jobs.args(payload).delay('1h').dispatch('send-email')`. */
  args<Payload>(payload: Payload): PayloadDraft<Payload> {
    return this.#draft().args(payload)
  }

  /** Starts a dispatch with its delay and names the job last: `jobs.delay('1h').dispatch('send-email', mail)`. */
  delay(delay: Duration): TimeDraft {
    return this.#draft().delay(delay)
  }

  /** Starts a dispatch with the time at which it runs and names the job last. Null means immediately. */
  at(at: Instant | null): TimeDraft {
    return this.#draft().at(at)
  }

  /** Runs jobs one after the other. Each step waits for the previous one, and becomes dead if that one fails. */
  chain<const Steps extends readonly Step[]>(steps: Steps, options: JoinOptions = {}): Promise<WorkflowRun<LastOf<Steps>>> {
    return this.workflows.chain(steps, options)
  }

  /** Runs jobs in parallel, with optional jobs to follow when all of them have ended. */
  batch<const Steps extends readonly Step[]>(steps: Steps, options: BatchOptions = {}): Promise<WorkflowRun<ResultsOf<Steps>>> {
    return this.workflows.batch(steps, options)
  }

  /** Builds a workflow of jobs with arbitrary dependencies. Nothing is stored until it is dispatched. */
  workflow(): Workflow {
    return this.workflows.workflow()
  }

  /** Dispatches workflows in a transaction that the caller has begun. All of their jobs become visible on commit. */
  in(tx: SqliteConnection | SqlTransaction): FileWorkflows
  in(tx: CallerTransaction): JoinedWorkflows
  in(tx: CallerTransaction | SqlTransaction): JoinedWorkflows | FileWorkflows {
    return this.workflows.in(tx)
  }

  /** A handle to the job or workflow with this id. */
  handle(id: string, job = ''): Run {
    if (typeof id !== 'string' || id === '') {
      throw new TreadleError('CONFIG_INVALID', `handle() takes the id of a job or a workflow, got ${shown(id)}`)
    }
    return this.dispatcher.find(job, id)
  }

  #draft(): TimeDraft {
    return new TimeDraft({}, (job, payload, options, handler) => this.#dispatch(job, payload, options, handler))
  }

  /** With a handler, the job has only that key, and this one handler. */
  async #dispatch(
    job: unknown,
    payload: unknown,
    options: DispatchOptions,
    handler?: HandlerFunction<never, unknown>,
  ): Promise<Run> {
    if (handler === undefined || typeof job !== 'string')
      return this.dispatcher.dispatch(this.definitionOf(job), handler ?? payload, options)
    return this.dispatcher.dispatchFunction(job, handler, payload, options)
  }
}
