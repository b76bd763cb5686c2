import type { SendReceipt } from '../backends/contract.ts'
import { answerOf, atOnce } from '../core/answer.ts'
import { TreadleError } from '../core/errors.ts'
import { shown } from '../core/shown.ts'
import type { JobDefinition } from '../definition/definition.ts'
import { type Dispatcher, type DispatchOptions, dispatchOptions } from '../definition/dispatch.ts'
import type { Registry } from '../definition/registry.ts'
import type { Run } from '../definition/run.ts'
import type { ChildRequest } from '../execution/run-links.ts'
import { insideIsolate } from '../isolation/inside.ts'
import { sendChild } from './children.ts'
import type { PlacedJob } from './joined-sending.ts'
import type { Opened, Opening } from './opening.ts'
import { RunHandle, type RunHandleDeps } from './run-handle.ts'

export interface DispatchesDeps {
  readonly opening: Opening
  readonly registry: Registry
  readonly handles: RunHandleDeps
  /** Runs what was sent, where that is how the backend works. */
  readonly pass: () => Promise<unknown>
}

/** Which transaction of the caller a workflow is stored in. */
export interface JoinOptions {
  /** A transaction on the queue's database, which the caller ends: all of the jobs are there when it is committed. */
  readonly in?: DispatchOptions['in']
}

/** The jobs of a workflow, and what they have in common. */
export interface MadeJobs {
  readonly root: string
  readonly jobs: readonly PlacedJob[]
}

/** Jobs that name each other need their ids before they are sent. */
export type MakeJobs = (newId: () => string) => MadeJobs

export interface SentWorkflow {
  readonly id: string
  readonly runs: readonly Run[]
}

/** Sends jobs to the queue of a program, and gives handles of them. */
export class Dispatches implements Dispatcher {
  readonly #deps: DispatchesDeps

  constructor(deps: DispatchesDeps) {
    this.#deps = deps
  }

  async dispatch(definition: JobDefinition, payload: unknown, options: DispatchOptions): Promise<Run> {
    refuseOtherThanObject(options, definition)
    if ('in' in options) return (await this.#dispatchJoined(definition, [payload], options))[0] as Run
    const opened = this.#atHand() ?? (await this.opened())
    const receipt = await opened.sending.send(definition, payload, options)
    if (opened.backend.kind === 'sync') await this.#deps.pass()
    return this.handle(definition.job, receipt)
  }

  async dispatchMany(definition: JobDefinition, payloads: readonly unknown[], options: DispatchOptions): Promise<readonly Run[]> {
    if ('in' in dispatchOptions(options)) return this.#dispatchJoined(definition, payloads, options)
    const opened = await this.opened()
    const receipts = await opened.sending.sendMany(definition, payloads, options)
    if (opened.backend.kind === 'sync') await this.#deps.pass()
    return receipts.map((receipt) => this.handle(definition.job, receipt))
  }

  dispatchAtOnce(definition: JobDefinition, payloads: readonly unknown[], options: DispatchOptions): readonly Run[] {
    const opened = this.#atHand()
    if (opened === undefined) throw new TreadleError('TRANSACTION_INVALID', notOpen(`"${definition.job}"`))
    const receipts = atOnce(opened.sending.sendJoined(definition, payloads, options), () => takesTime(`"${definition.job}"`))
    return receipts.map((receipt) => this.handle(definition.job, receipt))
  }

  async #dispatchJoined(
    definition: JobDefinition,
    payloads: readonly unknown[],
    options: DispatchOptions,
  ): Promise<readonly Run[]> {
    const { sending } = this.#atHand() ?? (await this.opened())
    const receipts = await answerOf(sending.sendJoined(definition, payloads, options))
    return receipts.map((receipt) => this.handle(definition.job, receipt))
  }

  async dispatchWorkflow(make: MakeJobs, options: JoinOptions): Promise<SentWorkflow> {
    const opened = this.#atHand() ?? (await this.opened())
    const { backend, sending } = opened
    if (backend.store === undefined) throw new TreadleError('CAPABILITY_MISSING', `The ${backend.kind} backend has no workflows`)
    const made = make(() => sending.newId())
    const isJoined = 'in' in options
    const receipts = await (isJoined
      ? answerOf(sending.sendWorkflowJoined(made.jobs, options.in))
      : sending.sendWorkflow(made.jobs))
    if (backend.kind === 'sync') await this.#deps.pass()
    return this.#workflowOf(made, receipts)
  }

  /** In a transaction on a SQLite file, which can not wait. */
  dispatchWorkflowAtOnce(make: MakeJobs, tx: unknown): SentWorkflow {
    const opened = this.#atHand()
    if (opened === undefined) throw new TreadleError('TRANSACTION_INVALID', notOpen('a workflow'))
    const made = make(() => opened.sending.newId())
    const receipts = atOnce(opened.sending.sendWorkflowJoined(made.jobs, tx), () => takesTime('a workflow'))
    return this.#workflowOf(made, receipts)
  }

  #workflowOf({ root, jobs }: MadeJobs, receipts: readonly SendReceipt[]): SentWorkflow {
    const runs = receipts.map((receipt, index) => this.handle(jobs[index]?.definition.job as string, receipt))
    return { id: root, runs }
  }

  async dispatchChild(request: ChildRequest): Promise<Run> {
    const { sending } = await this.opened()
    return this.handle(request.job, await sendChild(request, this.#deps.registry, sending))
  }

  handle(job: string, { id, stored }: Pick<SendReceipt, 'id' | 'stored'>): Run {
    return new RunHandle(id, job, stored, this.#deps.handles)
  }

  /**
   * The queue, to change what is in it. While an isolate loads its modules that never comes: what a program does when it is run
   * is done already.
   */
  async opened(): Promise<Opened> {
    const inside = insideIsolate()
    return inside?.isLoading ? inside.begin() : this.#deps.opening.use()
  }

  /** Spares a dispatch the wait for what is open. */
  #atHand(): Opened | undefined {
    return insideIsolate()?.isLoading ? undefined : this.#deps.opening.opened
  }
}

function refuseOtherThanObject(options: unknown, { job }: JobDefinition): void {
  if (typeof options === 'object' && options !== null) return
  const message = `Dispatch of "${job}": the options must be an object such as { delay: '5s' }, got ${shown(options)}`
  throw new TreadleError('CONFIG_INVALID', message)
}

function notOpen(what: string): string {
  return `Dispatch of ${what} in a transaction on a SQLite file, which can not wait for the queue to be opened: await jobs.open() before it`
}

function takesTime(what: string): TreadleError {
  const message = `Dispatch of ${what} in a transaction on a SQLite file, which can not wait: its schema must be synchronous, and its transaction one of the file itself`
  return new TreadleError('TRANSACTION_INVALID', message)
}
