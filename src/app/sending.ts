import type { QueueBackend, SendReceipt } from '../backends/contract.ts'
import { queueClock } from '../backends/queue-clock.ts'
import type { Steps } from '../core/answer.ts'
import { Batcher } from '../core/batcher.ts'
import { nextTurn } from '../core/clock.ts'
import { TreadleError } from '../core/errors.ts'
import { idMaker } from '../core/id.ts'
import type { JobDefinition } from '../definition/definition.ts'
import { type DispatchOptions, dispatchOptions } from '../definition/dispatch.ts'
import { noPayload } from '../definition/draft.ts'
import type { Envelope } from '../envelope/envelope.ts'
import { mayChangeHolder } from './changing-holders.ts'
import { Holders } from './holders.ts'
import { type DispatchedPart, receiptsOf } from './incomplete-dispatch.ts'
import { type JoinedSendingDeps, type PlacedJob, sendJoined, sendWorkflowJoined } from './joined-sending.ts'
import { refuseKeyInWorkflow } from './linked-keys.ts'
import type { OpenedBackend } from './open-backend.ts'
import type { Settings } from './options.ts'
import {
  type PlaceInWorkflow,
  type Plan,
  planDispatch,
  type SealingDeps,
  sealJob,
  type WrittenPayload,
  writePayload,
} from './sealing.ts'
import { sealWorkflow } from './workflow-sealing.ts'

const largestSend = 1_000
/** A list of more than this is written in several transactions, each of which takes no more than so many. */
const wholeList = 500
const largestPart = 1_000

/** So many of them are under way at once: the database need not wait for the program, nor the other way round. */
const mostAtOnce = 2

/** From a payload to a job on disk. */
export class Sending {
  readonly #backend: QueueBackend
  readonly #settings: Settings
  readonly #sealing: SealingDeps
  readonly #sends: Batcher<Envelope, SendReceipt>
  readonly #plans = new WeakMap<JobDefinition, Plan>()
  #holders: Holders | undefined

  constructor({ backend, keys }: OpenedBackend, settings: Settings) {
    const clock = queueClock(backend, settings.clock)
    const now = () => clock.now()
    const newUuid = idMaker(now)
    const newId = backend.kind === 'sync' ? () => `sync-${newUuid()}` : newUuid
    this.#backend = backend
    this.#settings = settings
    this.#sealing = { now, newId, keys, encrypts: settings.encrypt }
    this.#sends = new Batcher((envelopes: readonly Envelope[]) => backend.send(envelopes), largestSend)
  }

  async send(definition: JobDefinition, payload: unknown, options: DispatchOptions): Promise<SendReceipt> {
    const plan = this.#planOf(definition, options)
    const writing = writePayload(plan, payload, this.#settings.maxPayloadBytes)
    const written = writing instanceof Promise ? await writing : writing
    if (written.uniqueKey !== null && mayChangeHolder(plan)) return this.#changing().send(plan, written)
    return this.#sends.add(sealJob(plan, written, this.#sealing))
  }

  /** A dispatch without options is planned once for each definition. */
  #planOf(definition: JobDefinition, options: DispatchOptions): Plan {
    for (const _ in options) return planDispatch(definition, options, this.#sealing.now())
    let plan = this.#plans.get(definition)
    if (plan === undefined) {
      plan = planDispatch(definition, {}, this.#sealing.now())
      this.#plans.set(definition, plan)
    }
    return plan
  }

  /** All payloads are written down before the first is sent: a bad one is refused with nothing stored. */
  async sendMany(
    definition: JobDefinition,
    payloads: readonly unknown[],
    options: DispatchOptions,
  ): Promise<readonly SendReceipt[]> {
    refuseNoList(payloads)
    const { maxPayloadBytes } = this.#settings
    const plan = planDispatch(definition, dispatchOptions(options), this.#sealing.now())
    if (mayChangeHolder(plan)) this.#changing()
    const write = (payload: unknown) => writePayload(plan, payload, maxPayloadBytes)
    const written: readonly WrittenPayload[] =
      definition.fields.input === null
        ? (payloads.map(write) as WrittenPayload[])
        : await Promise.all(payloads.map(async (payload) => write(payload)))
    const all = await this.#sendParts(plan, written)
    if (!mayChangeHolder(plan)) return all
    const holders = this.#changing()
    return Promise.all(
      all.map((receipt, index) => (receipt.stored ? receipt : holders.send(plan, written[index] as WrittenPayload))),
    )
  }

  /** Signing the next part goes on while the last ones are being written. */
  async #sendParts(plan: Plan, written: readonly WrittenPayload[]): Promise<readonly SendReceipt[]> {
    const parts: DispatchedPart[] = []
    const partSize = partSizeOf(written.length)
    let hasFailed = false
    for (let from = 0; from < written.length; from += partSize) {
      const envelopes = written.slice(from, from + partSize).map((payload) => sealJob(plan, payload, this.#sealing))
      await parts.at(-mostAtOnce)?.sending.catch(() => {})
      if (hasFailed) break
      const sending = this.#backend.send(envelopes)
      sending.catch(() => {
        hasFailed = true
      })
      parts.push({ size: envelopes.length, sending })
      // It leaves only when the program lets go.
      await nextTurn()
    }
    return receiptsOf(plan.definition.job, parts, written.length)
  }

  /** In the transaction that the options name. */
  sendJoined(definition: JobDefinition, payloads: readonly unknown[], options: DispatchOptions): Steps<readonly SendReceipt[]> {
    refuseNoList(payloads)
    return sendJoined(definition, payloads, options, this.#joining())
  }

  /** All jobs of a workflow, in a transaction of the caller. */
  sendWorkflowJoined(jobs: readonly PlacedJob[], tx: unknown): Steps<readonly SendReceipt[]> {
    return sendWorkflowJoined(jobs, tx, this.#joining())
  }

  /** A job that a running one makes, stored while that one holds its lease. */
  async sendChild(
    definition: JobDefinition,
    payload: unknown,
    options: DispatchOptions,
    place: PlaceInWorkflow,
  ): Promise<SendReceipt> {
    const plan = this.#planOf(definition, options)
    const written = await writePayload(plan, payload, this.#settings.maxPayloadBytes)
    refuseKeyInWorkflow(plan, written, place)
    return this.#sends.add(sealJob(plan, written, this.#sealing, { place }))
  }

  /** All jobs of a workflow, together or not at all. */
  async sendWorkflow(jobs: readonly PlacedJob[]): Promise<readonly SendReceipt[]> {
    const { maxPayloadBytes } = this.#settings
    const plans = jobs.map(({ definition, options }) => this.#planOf(definition, options))
    const written = await Promise.all(plans.map(async (plan, index) => writePayload(plan, jobs[index]?.payload, maxPayloadBytes)))
    const steps = jobs.map(({ place }, index) => {
      return { plan: plans[index] as Plan, payload: written[index] as WrittenPayload, place }
    })
    return this.#backend.send(sealWorkflow(steps, this.#sealing))
  }

  newId(): string {
    return this.#sealing.newId()
  }

  /**
   * The job of one occurrence of a schedule, which may run later than the instant that it stands for. It is unique by that
   * instant and has no other key: the next one waits while the last one runs, and a key would keep it out.
   */
  async occurrence(definition: JobDefinition, at: number, runAt = at): Promise<Envelope> {
    const plan = { ...this.#planOf(definition, {}), runAt, occurrence: at }
    const payload = await writePayload(plan, noPayload, this.#settings.maxPayloadBytes)
    return sealJob(plan, { ...payload, uniqueKey: null }, this.#sealing)
  }

  /** Resolves when everything that was given to `send` has been answered. */
  async idle(): Promise<void> {
    await this.#holders?.idle()
    await this.#sends.idle()
  }

  #joining(): JoinedSendingDeps {
    return { backend: this.#backend, sealing: this.#sealing, maxPayloadBytes: this.#settings.maxPayloadBytes }
  }

  /** For dispatches that change the job which holds their key. */
  #changing(): Holders {
    const { store, kind } = this.#backend
    if (store === undefined) {
      throw new TreadleError(
        'CAPABILITY_MISSING',
        `The ${kind} backend can not change a job that waits: onConflict must be ignore`,
      )
    }
    this.#holders ??= new Holders({
      queue: {
        send: (envelopes) => Promise.all(envelopes.map((envelope) => this.#sends.add(envelope))),
        get: (id) => store.get(id),
        amend: (amendments) => store.amend(amendments),
        reject: (rejections) => store.reject(rejections),
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
