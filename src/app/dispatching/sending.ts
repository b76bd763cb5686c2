import type { Steps } from '../../core/answer.ts'
import { Batcher } from '../../core/batcher.ts'
import { TreadleError } from '../../core/errors.ts'
import { idMaker } from '../../core/id.ts'
import { nextTurn } from '../../core/time/clock.ts'
import type { JobDefinition } from '../../definition/definition.ts'
import { type DispatchOptions, dispatchOptions } from '../../definition/dispatching/dispatch.ts'
import { noPayload } from '../../definition/dispatching/draft.ts'
import type { Envelope } from '../../envelope/envelope.ts'
import type { RunTrace } from '../../execution/attempt/run-trace.ts'
import { announcedSend, emitDispatched, type JobEvents } from '../../execution/job-events.ts'
import { coordinationMissing } from '../../queue/backend/missing-coordination.ts'
import type { QueueBackend, SendReceipt } from '../../queue/contract/contract.ts'
import { queueClock } from '../../queue/time/queue-clock.ts'
import { observedSend } from '../../telemetry/observed-calls.ts'
import type { Telemetry } from '../../telemetry/telemetry.ts'
import type { StoredRun } from '../../worker/scheduler/followed.ts'
import type { OpenedBackend } from '../config/open-backend.ts'
import type { Settings } from '../config/settings.ts'
import { refuseKeyInWorkflow } from '../workflows/linked-keys.ts'
import { sealWorkflow } from '../workflows/workflow-sealing.ts'
import { mayChangeHolder } from './changing-holders.ts'
import { Holders } from './holders.ts'
import { type DispatchedPart, receiptsOf } from './incomplete-dispatch.ts'
import { type JoinedSendingDeps, type PlacedJob, sendJoined, sendWorkflowJoined } from './joined-sending.ts'
import {
  type PlaceInWorkflow,
  type Plan,
  planDispatch,
  type SealingDeps,
  sealJob,
  type WrittenPayload,
  writePayload,
} from './sealing.ts'
import { tracedDispatch, tracedJoinedDispatch } from './traced-dispatch.ts'
import { refuseUncoordinated } from './undeliverable.ts'

const largestSend = 1_000
/** Longer lists are written in several transactions of at most `largestPart` jobs. */
const wholeList = 500
const largestPart = 1_000

/** Maximum number of concurrent transactions, so that neither the database nor the program waits for the other. */
const mostAtOnce = 2

/** Turns payloads into stored jobs. */
export class Sending {
  readonly #backend: QueueBackend
  readonly #settings: Settings
  readonly #sealing: SealingDeps
  readonly #sends: Batcher<Envelope, SendReceipt>
  readonly #plans = new WeakMap<JobDefinition, Plan>()
  readonly #send: QueueBackend['send']
  readonly #telemetry: Telemetry
  readonly #events: JobEvents
  #holders: Holders | undefined

  constructor({ backend, keys }: OpenedBackend, settings: Settings, telemetry: Telemetry, events: JobEvents) {
    const clock = queueClock(backend, settings.clock)
    const now = () => clock.now()
    const newUuid = idMaker(now)
    const newId = backend.kind === 'sync' ? () => `sync-${newUuid()}` : newUuid
    this.#backend = backend
    this.#settings = settings
    this.#sealing = { now, newId, keys, encrypts: settings.encrypt }
    this.#telemetry = telemetry
    this.#events = events
    this.#send = announcedSend(observedSend(backend, telemetry.observers), events, keys)
    this.#sends = new Batcher(this.#send, largestSend)
  }

  /**
   * If an id is given, the new job has that id and cannot change an existing one instead. Refuses a job by throwing, unless its
   * payload has to be awaited.
   */
  send(definition: JobDefinition, payload: unknown, options: DispatchOptions, id?: string): Promise<SendReceipt> {
    const plan = this.#planOf(definition, options)
    const written = writePayload(plan, payload, this.#settings.maxPayloadBytes)
    if (written instanceof Promise) return written.then((late) => this.#sendWritten(plan, late, id))
    return this.#sendWritten(plan, written, id)
  }

  #sendWritten(plan: Plan, written: WrittenPayload, id: string | undefined): Promise<SendReceipt> {
    const { definition } = plan
    refuseUncoordinated(definition, written, this.#backend)
    const changesHolder = written.uniqueKey !== null && mayChangeHolder(plan)
    if (changesHolder && id !== undefined) throw unchangeable(definition)
    if (changesHolder) return this.#changing().send(plan, written)
    const particulars = id === undefined ? {} : { id }
    return this.#traced(plan, 1, (sealing) => this.#sends.add(sealJob(plan, written, sealing, particulars)))
  }

  /** Without options, the plan is cached per definition. */
  #planOf(definition: JobDefinition, options: DispatchOptions): Plan {
    for (const _ in options) return planDispatch(definition, options, this.#sealing.now())
    let plan = this.#plans.get(definition)
    if (plan === undefined) {
      plan = planDispatch(definition, {}, this.#sealing.now())
      this.#plans.set(definition, plan)
    }
    return plan
  }

  /**
   * Serializes all payloads before sending the first: if one is invalid, nothing is stored. The options apply to all payloads, or
   * are a list with one entry per payload.
   */
  async sendMany(
    definition: JobDefinition,
    payloads: readonly unknown[],
    options: DispatchOptions | readonly DispatchOptions[],
  ): Promise<readonly SendReceipt[]> {
    refuseNoList(payloads)
    const { maxPayloadBytes } = this.#settings
    const planOf = this.#plansFor(definition, options)
    const changesHolders = payloads.some((_, index) => mayChangeHolder(planOf(index)))
    if (changesHolders) this.#changing()
    const write = (payload: unknown, index: number) => writePayload(planOf(index), payload, maxPayloadBytes)
    const written: readonly WrittenPayload[] =
      definition.fields.input === null
        ? (payloads.map(write) as WrittenPayload[])
        : await Promise.all(payloads.map(async (payload, index) => write(payload, index)))
    for (const each of written) refuseUncoordinated(definition, each, this.#backend)
    if (written.length === 0) return []
    const all = await this.#traced(planOf(0), written.length, (sealing) => this.#sendParts(definition, written, planOf, sealing))
    if (!changesHolders) return all
    const holders = this.#changing()
    return Promise.all(
      all.map((receipt, index) => {
        const plan = planOf(index)
        return receipt.stored || !mayChangeHolder(plan) ? receipt : holders.send(plan, written[index] as WrittenPayload)
      }),
    )
  }

  /** One plan for all payloads, or one per entry of the options. */
  #plansFor(definition: JobDefinition, options: DispatchOptions | readonly DispatchOptions[]): (index: number) => Plan {
    const plan = (each: unknown) => planDispatch(definition, dispatchOptions(each), this.#sealing.now())
    if (!Array.isArray(options)) {
      const common = plan(options)
      return () => common
    }
    const known = new Map(options.map((each) => [each, plan(each)]))
    return (index) => known.get(options[index]) as Plan
  }

  /** Signs the next part while the previous ones are being written. */
  async #sendParts(
    { job }: JobDefinition,
    written: readonly WrittenPayload[],
    planOf: (index: number) => Plan,
    sealing: SealingDeps,
  ): Promise<readonly SendReceipt[]> {
    const parts: DispatchedPart[] = []
    const partSize = partSizeOf(written.length)
    let hasFailed = false
    for (let from = 0; from < written.length; from += partSize) {
      const envelopes = written
        .slice(from, from + partSize)
        .map((payload, index) => sealJob(planOf(from + index), payload, sealing))
      await parts.at(-mostAtOnce)?.sending.catch(() => {})
      if (hasFailed) break
      const sending = this.#send(envelopes)
      sending.catch(() => {
        hasFailed = true
      })
      parts.push({ size: envelopes.length, sending })
      // Yield, so that the request is actually sent.
      await nextTurn()
    }
    return receiptsOf(job, parts, written.length)
  }

  /** Sends in the transaction that the options name. */
  sendJoined(
    definition: JobDefinition,
    payloads: readonly unknown[],
    options: DispatchOptions | readonly DispatchOptions[],
  ): Steps<readonly SendReceipt[]> {
    refuseNoList(payloads)
    const [first = {}] = [options].flat()
    const queue = first.queue ?? definition.fields.queue
    const dispatched = payloads.map(() => ({ queue, job: definition.job }))
    return tracedJoinedDispatch(this.#telemetry, this.#sealing, dispatched, (sealing) =>
      sendJoined(definition, payloads, options, this.#joining(sealing)),
    )
  }

  /** Sends all jobs of a workflow in the caller's transaction. */
  sendWorkflowJoined(jobs: readonly PlacedJob[], tx: unknown): Steps<readonly SendReceipt[]> {
    const dispatched = jobs.map(({ definition, options }) => ({
      queue: options.queue ?? definition.fields.queue,
      job: definition.job,
    }))
    return tracedJoinedDispatch(this.#telemetry, this.#sealing, dispatched, (sealing) =>
      sendWorkflowJoined(jobs, tx, this.#joining(sealing)),
    )
  }

  /** Sends a child of a running job. It is stored only while the parent holds its lease. */
  async sendChild(
    definition: JobDefinition,
    payload: unknown,
    options: DispatchOptions,
    place: PlaceInWorkflow,
    parent: RunTrace | null,
  ): Promise<SendReceipt> {
    const plan = this.#planOf(definition, options)
    const written = await writePayload(plan, payload, this.#settings.maxPayloadBytes)
    refuseKeyInWorkflow(plan, written, place)
    const send = (sealing: SealingDeps) => this.#sends.add(sealJob(plan, written, sealing, { place }))
    return this.#traced(plan, 1, send, parent)
  }

  /** Sends all jobs of a workflow atomically. */
  async sendWorkflow(jobs: readonly PlacedJob[]): Promise<readonly SendReceipt[]> {
    const { maxPayloadBytes } = this.#settings
    const plans = jobs.map(({ definition, options }) => this.#planOf(definition, options))
    const written = await Promise.all(plans.map(async (plan, index) => writePayload(plan, jobs[index]?.payload, maxPayloadBytes)))
    const steps = jobs.map(({ place }, index) => {
      return { plan: plans[index] as Plan, payload: written[index] as WrittenPayload, place }
    })
    const [first] = plans
    if (first === undefined) return this.#send([])
    return this.#traced(first, steps.length, (sealing) => this.#send(sealWorkflow(steps, sealing)))
  }

  newId(): string {
    return this.#sealing.newId()
  }

  /**
   * The job of one occurrence of a schedule, which may run later than the occurrence's instant. It is unique by that instant and
   * has no unique key: the next occurrence may wait while the last one runs, and a key would reject it.
   */
  async occurrence(definition: JobDefinition, at: number, runAt = at, stored: StoredRun | null = null): Promise<Envelope> {
    const common = this.#planOf(definition, {})
    const plan =
      stored === null ? { ...common, runAt, occurrence: at } : { ...common, runAt, occurrence: at, recurrence: stored.recurrence }
    const payload = await writePayload(plan, stored === null ? noPayload : stored.payload, this.#settings.maxPayloadBytes)
    const sealing = stored?.isSigned === false ? { ...this.#sealing, keys: null, encrypts: false } : this.#sealing
    return sealJob(plan, { ...payload, uniqueKey: null }, sealing)
  }

  #traced<Answer>(
    { definition, queue }: Plan,
    count: number,
    send: (sealing: SealingDeps) => Promise<Answer>,
    parent: RunTrace | null = null,
  ): Promise<Answer> {
    return tracedDispatch(this.#telemetry, this.#sealing, { job: definition.job, queue, count, parent }, send)
  }

  /** Validates and serializes the payload of a schedule like that of a dispatch. */
  async scheduledPayload(definition: JobDefinition, payload: unknown): Promise<string> {
    return (await writePayload(this.#planOf(definition, {}), payload, this.#settings.maxPayloadBytes)).text
  }

  /** Resolves when all calls of `send` have been answered. */
  async idle(): Promise<void> {
    await this.#holders?.idle()
    await this.#sends.idle()
  }

  #joining(sealing: SealingDeps): JoinedSendingDeps {
    const onSent: JoinedSendingDeps['onSent'] = (envelopes, receipts) =>
      emitDispatched(this.#events, envelopes, receipts, sealing.keys, true)
    return { backend: this.#backend, sealing, maxPayloadBytes: this.#settings.maxPayloadBytes, onSent }
  }

  /** For dispatches that may change the job that holds their unique key. */
  #changing(): Holders {
    const { store, kind } = this.#backend
    if (store === undefined) {
      throw coordinationMissing(`The ${kind} backend cannot change a job that waits: onConflict must be ignore`)
    }
    this.#holders ??= new Holders({
      queue: {
        send: (envelopes) => Promise.all(envelopes.map((envelope) => this.#sends.add(envelope))),
        get: (id) => store.get(id),
        amend: (changes) => store.amend(changes),
      },
      sealing: this.#sealing,
      maxPayloadBytes: this.#settings.maxPayloadBytes,
    })
    return this.#holders
  }
}

function partSizeOf(count: number): number {
  return count <= wholeList ? Math.max(count, 1) : Math.min(Math.ceil(count / mostAtOnce), largestPart)
}

function refuseNoList(payloads: unknown): void {
  if (!Array.isArray(payloads)) throw new TreadleError('CONFIG_INVALID', 'dispatchMany takes a list of payloads')
}

function unchangeable({ job }: JobDefinition): TreadleError {
  const message = `Dispatch of "${job}" with a function: it is for a new job, and cannot change one that holds its unique key`
  return new TreadleError('CONFIG_INVALID', message)
}
