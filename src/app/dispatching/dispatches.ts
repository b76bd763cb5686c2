import { answerOf, atOnce } from '../../core/answer.ts'
import { TreadleError } from '../../core/errors.ts'
import type { JobDefinition } from '../../definition/definition.ts'
import { type Dispatcher, type DispatchOptions, dispatchOptions } from '../../definition/dispatching/dispatch.ts'
import type { Run } from '../../definition/dispatching/run.ts'
import { type HandlerFunction, handlerFunction } from '../../definition/handler.ts'
import type { Registry } from '../../definition/registry.ts'
import type { ChildRequest } from '../../execution/attempt/run-links.ts'
import { insideIsolate } from '../../isolation/inside.ts'
import { coordinationMissing } from '../../queue/backend/missing-coordination.ts'
import type { SendReceipt } from '../../queue/contract/contract.ts'
import type { Opened, Opening } from '../config/opening.ts'
import { homeOf } from '../config/other-backends.ts'
import { RunHandle, type RunHandleDeps } from '../handles/run-handle.ts'
import { sendChild } from './children.ts'
import { type Outgoing, sentThroughMiddleware, sentThroughMiddlewareAtOnce } from './dispatch-middleware.ts'
import type { GivenFunctions } from './given-functions.ts'
import type { PlacedJob } from './joined-sending.ts'
import {
  acrossBackends,
  notInThisTransaction,
  notOpen,
  refuseOtherThanObject,
  refuseOwnTransaction,
  takesTime,
} from './refusals.ts'

export interface DispatchesDeps {
  /** The functions that were passed to dispatches. */
  readonly functions: GivenFunctions
  /** Name of the backend. */
  readonly name: string
  readonly opening: Opening
  readonly registry: Registry
  readonly handles: RunHandleDeps
  /** Runs the jobs that were sent, for a backend that runs jobs on dispatch. */
  readonly pass: () => Promise<unknown>
  /** The dispatches of another backend of the program. */
  readonly named: (name: string) => Promise<Dispatches>
  /** What a handle needs for a job that may be in any backend of the program. */
  readonly located: (id: string) => RunHandleDeps
  /** A middleware failed after its job was dispatched in a transaction that could not wait for it. */
  readonly onLateMiddleware: (job: string, thrown: unknown) => void
}

/** Options for storing a workflow in the caller's transaction. */
export interface JoinOptions {
  /** A transaction on the queue's database, which the caller commits or rolls back. All jobs become visible on commit. */
  readonly in?: DispatchOptions['in']
}

/** The jobs of a workflow and the id of its root. */
export interface MadeJobs {
  readonly root: string
  readonly jobs: readonly PlacedJob[]
}

/** Jobs that refer to each other need their ids before they are sent. */
export type MakeJobs = (newId: () => string) => MadeJobs

export interface SentWorkflow {
  readonly id: string
  readonly runs: readonly Run[]
}

/** Sends jobs to the queue of a program and returns handles to them. */
export class Dispatches implements Dispatcher {
  readonly #deps: DispatchesDeps

  constructor(deps: DispatchesDeps) {
    this.#deps = deps
  }

  async dispatch(given: JobDefinition, payload: unknown, options: DispatchOptions): Promise<Run> {
    refuseOtherThanObject(options, given.job)
    const name = options.backend ?? homeOf(given)
    if (name !== this.#deps.name) return (await this.#named(name)).#dispatchHere(given, payload, here(options))
    return await this.#dispatchHere(given, payload, options)
  }

  /** Not asynchronous itself, because programs may dispatch very many jobs: it awaits nothing that is at hand. */
  #dispatchHere(given: JobDefinition, payload: unknown, options: DispatchOptions): Promise<Run> {
    const opened = this.#atHand()
    if (opened !== undefined) return this.#dispatchTo(opened, given, payload, options)
    return this.opened().then((late) => this.#dispatchTo(late, given, payload, options))
  }

  #dispatchTo(opened: Opened, given: JobDefinition, payload: unknown, options: DispatchOptions): Promise<Run> {
    const definition = this.#deps.registry.complete(given)
    if (definition.fields.aroundDispatch.length === 0) return this.#send({ definition, payload, options }, opened)
    const running = sentThroughMiddleware([{ definition, payload, options }], async (jobs) =>
      Promise.all(jobs.map((job) => this.#send(job, opened))),
    )
    return running.then((runs) => runs[0] as Run)
  }

  /** Dispatches a job whose function is called for this one job, in this process. */
  async dispatchFunction(
    job: string,
    given: HandlerFunction<never, unknown>,
    payload: unknown,
    options: DispatchOptions,
  ): Promise<Run> {
    refuseOtherThanObject(options, job)
    const { backend: name = this.#deps.name } = options
    if (name !== this.#deps.name) return (await this.#named(name)).dispatchFunction(job, given, payload, here(options))
    const opened = this.#atHand() ?? (await this.opened())
    const { functions } = this.#deps
    const id = opened.sending.newId()
    const definition = functions.keep(id, job, handlerFunction(job, given))
    try {
      const runs = await sentThroughMiddleware([{ definition, payload, options }], async (jobs) =>
        Promise.all(jobs.map((each) => this.#send(each, opened, id))),
      )
      const [run] = runs as readonly [Run]
      if (run.id !== id) functions.forget(id)
      return run
    } catch (thrown) {
      functions.forget(id)
      throw thrown
    }
  }

  async dispatchMany(given: JobDefinition, payloads: readonly unknown[], options: DispatchOptions): Promise<readonly Run[]> {
    const name = dispatchOptions(options).backend ?? homeOf(given)
    if (name === this.#deps.name) return this.#dispatchManyHere(given, payloads, options)
    return (await this.#named(name)).#dispatchManyHere(given, payloads, here(options))
  }

  async #dispatchManyHere(given: JobDefinition, payloads: readonly unknown[], options: DispatchOptions): Promise<readonly Run[]> {
    const opened = await this.opened()
    const definition = this.#deps.registry.complete(given)
    if (definition.fields.aroundDispatch.length === 0 || !Array.isArray(payloads)) {
      return this.#sendMany(definition, payloads, options, opened)
    }
    const common = dispatchOptions(options)
    return sentThroughMiddleware(
      payloads.map((payload) => ({ definition, payload, options: common })),
      (jobs) =>
        this.#sendMany(
          definition,
          jobs.map(({ payload }) => payload),
          jobs.map((job) => job.options),
          opened,
        ),
    )
  }

  async #send({ definition, payload, options }: Outgoing, opened: Opened, id?: string): Promise<Run> {
    this.#refuseDistant(options)
    if ('in' in options) return (await this.#dispatchJoined(definition, [payload], options))[0] as Run
    const receipt = await opened.sending.send(definition, payload, options, id)
    if (opened.backend.kind === 'sync') await this.#deps.pass()
    return this.handle(definition.job, receipt)
  }

  async #sendMany(
    definition: JobDefinition,
    payloads: readonly unknown[],
    options: DispatchOptions | readonly DispatchOptions[],
    opened: Opened,
  ): Promise<readonly Run[]> {
    const each = Array.isArray(options) ? options : [dispatchOptions(options)]
    for (const one of each) this.#refuseDistant(one)
    const [first = {}] = each
    if ('in' in first) return this.#dispatchJoined(definition, payloads, options)
    const receipts = await opened.sending.sendMany(definition, payloads, options)
    if (opened.backend.kind === 'sync') await this.#deps.pass()
    return receipts.map((receipt) => this.handle(definition.job, receipt))
  }

  dispatchAtOnce(given: JobDefinition, payloads: readonly unknown[], options: DispatchOptions): readonly Run[] {
    const name = options.backend ?? homeOf(given)
    if (name !== this.#deps.name) throw new TreadleError('TRANSACTION_INVALID', notInThisTransaction(given.job, name))
    const opened = this.#atHand()
    const definition = this.#deps.registry.complete(given)
    if (opened === undefined) throw new TreadleError('TRANSACTION_INVALID', notOpen(`"${definition.job}"`))
    const send = (each: readonly unknown[], those: DispatchOptions | readonly DispatchOptions[]) => {
      for (const one of [those].flat()) this.#refuseDistant(one)
      const receipts = atOnce(opened.sending.sendJoined(definition, each, those), () => takesTime(`"${definition.job}"`))
      return receipts.map((receipt) => this.handle(definition.job, receipt))
    }
    if (definition.fields.aroundDispatch.length === 0 || !Array.isArray(payloads)) return send(payloads, options)
    return sentThroughMiddlewareAtOnce(
      payloads.map((payload) => ({ definition, payload, options })),
      (jobs) =>
        send(
          jobs.map(({ payload }) => payload),
          jobs.map((job) => job.options),
        ),
      this.#deps.onLateMiddleware,
    )
  }

  async #dispatchJoined(
    definition: JobDefinition,
    payloads: readonly unknown[],
    options: DispatchOptions | readonly DispatchOptions[],
  ): Promise<readonly Run[]> {
    const { sending } = this.#atHand() ?? (await this.opened())
    const receipts = await answerOf(sending.sendJoined(definition, payloads, options))
    return receipts.map((receipt) => this.handle(definition.job, receipt))
  }

  async dispatchWorkflow(make: MakeJobs, options: JoinOptions): Promise<SentWorkflow> {
    const { sending } = this.#atHand() ?? (await this.opened())
    const made = make(() => sending.newId())
    const names = [...new Set(made.jobs.map(backendOf))]
    if (names.length > 1) throw acrossBackends(names)
    const [name = this.#deps.name] = names
    const home = name === this.#deps.name ? this : await this.#named(name)
    return home.#dispatchWorkflowHere(made, options)
  }

  async #dispatchWorkflowHere({ root, jobs }: MadeJobs, options: JoinOptions): Promise<SentWorkflow> {
    const { backend, sending } = this.#atHand() ?? (await this.opened())
    if (backend.store === undefined) throw coordinationMissing(`The ${backend.kind} backend has no workflows`)
    const runs = await sentThroughMiddleware(jobs, async (changed) => {
      for (const job of changed) {
        refuseOwnTransaction(job)
        this.#refuseDistant(job.options)
      }
      const isJoined = 'in' in options
      const receipts = await (isJoined
        ? answerOf(sending.sendWorkflowJoined(changed, options.in))
        : sending.sendWorkflow(changed))
      if (backend.kind === 'sync') await this.#deps.pass()
      return this.#workflowOf({ root, jobs: changed }, receipts).runs
    })
    return { id: root, runs }
  }

  /** In a transaction on a SQLite file, which must be synchronous. */
  dispatchWorkflowAtOnce(make: MakeJobs, tx: unknown): SentWorkflow {
    const opened = this.#atHand()
    if (opened === undefined) throw new TreadleError('TRANSACTION_INVALID', notOpen('a workflow'))
    const made = make(() => opened.sending.newId())
    const stray = made.jobs.find((each) => backendOf(each) !== this.#deps.name)
    if (stray !== undefined)
      throw new TreadleError('TRANSACTION_INVALID', notInThisTransaction(stray.definition.job, backendOf(stray)))
    const runs = sentThroughMiddlewareAtOnce(
      made.jobs,
      (jobs) => {
        for (const job of jobs) {
          refuseOwnTransaction(job)
          this.#refuseDistant(job.options)
        }
        const receipts = atOnce(opened.sending.sendWorkflowJoined(jobs, tx), () => takesTime('a workflow'))
        return this.#workflowOf({ root: made.root, jobs }, receipts).runs
      },
      this.#deps.onLateMiddleware,
    )
    return { id: made.root, runs }
  }

  #workflowOf({ root, jobs }: MadeJobs, receipts: readonly SendReceipt[]): SentWorkflow {
    const runs = receipts.map((receipt, index) => this.handle(jobs[index]?.definition.job as string, receipt))
    return { id: root, runs }
  }

  async dispatchChild(request: ChildRequest): Promise<Run> {
    const { sending } = await this.opened()
    const { registry } = this.#deps
    const { payload } = request
    const definition = registry.complete(request.definition)
    const { job } = definition
    const home = homeOf(definition)
    if (home !== this.#deps.name) throw acrossBackends([this.#deps.name, home])
    if (definition.fields.aroundDispatch.length === 0)
      return this.handle(job, await sendChild({ ...request, definition }, registry, sending))
    const runs = await sentThroughMiddleware([{ definition, payload, options: request.options }], ([changed]) =>
      sendChild({ ...request, ...changed }, registry, sending).then((receipt) => [this.handle(job, receipt)]),
    )
    return runs[0] as Run
  }

  /** Refuses to wait for a job that another backend of the program keeps. Where a bare id is kept is not known. */
  #refuseDistant({ dependsOn }: DispatchOptions): void {
    if (dependsOn === undefined) return
    const { name, handles } = this.#deps
    for (const each of [dependsOn].flat()) {
      const other = each instanceof RunHandle ? each.backendBeside(handles) : null
      if (other !== null) throw acrossBackends([name, other])
    }
  }

  handle(job: string, { id, stored }: Pick<SendReceipt, 'id' | 'stored'>): Run {
    return new RunHandle(id, job, stored, this.#deps.handles)
  }

  /** A handle to a job known only by its id. */
  find(job: string, id: string): Run {
    return new RunHandle(id, job, false, this.#deps.located(id))
  }

  #named(name: string): Promise<Dispatches> {
    // Nothing is dispatched while an isolate loads its modules.
    const inside = insideIsolate()
    return inside?.isLoading ? inside.begin() : this.#deps.named(name)
  }

  /**
   * The queue, for sending and changing jobs. Never resolves while an isolate loads its modules: the program that started the
   * isolate has already done what its modules do on startup.
   */
  async opened(): Promise<Opened> {
    const inside = insideIsolate()
    return inside?.isLoading ? inside.begin() : this.#deps.opening.use()
  }

  /** The open queue, if there is one: saves a dispatch from awaiting it. */
  #atHand(): Opened | undefined {
    return insideIsolate()?.isLoading ? undefined : this.#deps.opening.opened
  }
}

function backendOf({ definition, options }: PlacedJob): string {
  return options.backend ?? homeOf(definition)
}

/** Removes the backend, which has already been chosen. */
function here(options: DispatchOptions): DispatchOptions {
  const { backend: _, ...rest } = dispatchOptions(options)
  return rest
}
