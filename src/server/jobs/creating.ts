import { type Plan, planDispatch, sealJob, type WrittenPayload, writePayload } from '../../app/dispatching/sealing.ts'
import type { ServedQueue } from '../../app/workers/served-queue.ts'
import { Batcher } from '../../core/batcher.ts'
import { refuseWritten } from '../../core/text/json.ts'
import { JobDefinition } from '../../definition/definition.ts'
import type { DispatchOptions } from '../../definition/dispatching/dispatch.ts'
import { jobNameProblem, refuse } from '../../definition/names.ts'
import { validate } from '../../definition/schema.ts'
import type { Envelope, Identity, Opened, ParentLink } from '../../envelope/envelope.ts'
import type { ScopedJob } from '../../envelope/keys/key-scope.ts'
import { onceMarkOf } from '../../execution/admit/once.ts'
import { announcedSend } from '../../execution/job-events.ts'
import type { OnceMark, SendReceipt } from '../../queue/contract/contract.ts'
import { queueClock } from '../../queue/time/queue-clock.ts'
import { observedSend } from '../../telemetry/observed-calls.ts'
import type { GroupCommit } from './group-commit.ts'

/** A job created by another program. This program need not define it. */
export interface NewJob {
  readonly job: string
  /** JSON text, which is stored unchanged. */
  readonly payload: string
  readonly options?: DispatchOptions
  readonly repeat?: string | null
  readonly number?: number | null
  /** The verified job that it is a copy of. A copy of an unsigned job is not signed either. */
  readonly copied?: Opened
  readonly parent?: { readonly root: string; readonly link: ParentLink; readonly job: ScopedJob }
}

const largestSend = 1_000
/** Maximum number of cached definitions for names that this program does not define. */
const mostBareDefinitions = 1_000

/** Shared by all jobs that this program does not define, whatever their names. */
const anyJob = new JobDefinition({ job: 'any', handler: null })

/** Seals and stores jobs for other programs. Jobs that this program defines use their definition, all others the defaults. */
export class Creating {
  readonly #queue: ServedQueue
  readonly #bare = new Map<string, JobDefinition>()
  readonly #sends: Batcher<Envelope, SendReceipt>
  readonly #send: (envelopes: readonly Envelope[]) => Promise<readonly SendReceipt[]>
  #lastPlan: { readonly definition: JobDefinition; readonly given: DispatchOptions['priority']; readonly plan: Plan } | undefined
  #lastNamed: { readonly plan: Plan; readonly named: Plan } | undefined

  constructor(queue: ServedQueue, groupCommit: GroupCommit) {
    this.#queue = queue
    // Jobs that several connections send at about the same time are stored together.
    const gather = (pending: () => number) => groupCommit.gather(pending)
    this.#send = announcedSend(observedSend(queue.backend, queue.observers), queue.events, queue.keys)
    this.#sends = new Batcher(this.#send, largestSend, gather)
  }

  definitionOf(job: string): JobDefinition {
    return this.#queue.registry.find(job) ?? this.#bareDefinition(job)
  }

  /** What a successful run stores for its idempotency key; null if it has none. */
  onceMarkOf(identity: Pick<Identity, 'job' | 'idempotencyKey'>): OnceMark | null {
    return identity.idempotencyKey === null ? null : onceMarkOf(identity, this.definitionOf(identity.job))
  }

  /** Validates a job like a dispatch from this program, and throws the same errors. */
  async seal(given: NewJob): Promise<Envelope> {
    const { settings, newId } = this.#queue
    const keys = given.copied === undefined ? this.#queue.keys : given.copied.signer(this.#queue.keys)
    const clock = queueClock(this.#queue.backend, settings.clock)
    const { repeat = null, number = null, parent } = given
    const plan = this.#planOf(given.job, given.options ?? {}, repeat)
    const written = hasNoKeys(plan) ? this.#writePlainly(plan, given.payload) : await this.#write(plan, given.payload)
    const sealing = { now: () => clock.now(), newId, keys, encrypts: settings.encrypt && keys !== null }
    const place = parent && { root: parent.root, parent: parent.link, parentJob: parent.job, waitsFor: [] }
    return sealJob(plan, written, sealing, { number, ...(place && { place }) })
  }

  /** Checks a new payload for an existing job, and throws the same errors as creating a job with it. */
  async checkPayload(job: string, text: string): Promise<void> {
    const { input } = this.definitionOf(job).fields
    this.#refuseUnfit(job, text)
    if (input !== null) await validate(input, JSON.parse(text), payloadOf(job), 'PAYLOAD_INVALID')
  }

  /** Batches the job with whatever else is being sent at the moment. */
  send(envelope: Envelope): Promise<SendReceipt> {
    return this.#sends.add(envelope)
  }

  /** Sends all jobs or none. */
  sendAll(envelopes: readonly Envelope[]): Promise<readonly SendReceipt[]> {
    return this.#send(envelopes)
  }

  /** Resolves when everything passed to `send` is stored. */
  idle(): Promise<void> {
    return this.#sends.idle()
  }

  #planOf(job: string, options: DispatchOptions, repeat: string | null): Plan {
    const defined = this.#queue.registry.find(job)
    if (defined !== undefined) return this.#planWith(defined, job, options, repeat)
    refuse(`Job ${JSON.stringify(job)}`, [jobNameProblem(job)])
    const plan = this.#planWith(this.#queue.registry.complete(anyJob), job, options, repeat)
    if (plan.job === job) return plan
    const last = this.#lastNamed
    if (last?.plan === plan && last.named.job === job) return last.named
    const named = { ...plan, job, name: job }
    this.#lastNamed = { plan, named }
    return named
  }

  /** Most jobs differ only in their payload and name, so the last plan is reused. */
  #planWith(definition: JobDefinition, job: string, options: DispatchOptions, repeat: string | null): Plan {
    const { priority, ...others } = options
    const isPlain = repeat === null && Object.keys(others).length === 0
    const last = this.#lastPlan
    if (isPlain && last?.definition === definition && last.given === priority) return last.plan
    const now = queueClock(this.#queue.backend, this.#queue.settings.clock).now()
    const plan: Plan = { ...planDispatch(definition, options, now, job), repeat }
    if (isPlain) this.#lastPlan = { definition, given: priority, plan }
    return plan
  }

  /** Nothing is derived from the payload, so it is only validated. */
  #writePlainly({ job }: Plan, text: string): WrittenPayload {
    this.#refuseUnfit(job, text)
    return { text, uniqueKey: null, idempotencyKey: null, group: null }
  }

  #refuseUnfit(job: string, text: string): void {
    refuseWritten(JSON.parse(text), text, { what: payloadOf(job), maxBytes: this.#queue.settings.maxPayloadBytes })
  }

  /** The text is stored as it was sent, with its spaces and large numbers. */
  async #write(plan: Plan, text: string): Promise<WrittenPayload> {
    const { maxPayloadBytes } = this.#queue.settings
    const written = await writePayload(plan, JSON.parse(text), maxPayloadBytes)
    return { ...written, text }
  }

  #bareDefinition(job: string): JobDefinition {
    const known = this.#bare.get(job)
    if (known !== undefined) return known
    const definition = this.#queue.registry.complete(new JobDefinition({ job, handler: null }))
    if (this.#bare.size >= mostBareDefinitions) this.#bare.clear()
    this.#bare.set(job, definition)
    return definition
  }
}

function payloadOf(job: string): string {
  return `payload of "${job}"`
}

/** Whether there is no schema and no key that depends on the payload. */
function hasNoKeys({ definition, uniqueness, idempotencyKey, group }: Plan): boolean {
  const { fields } = definition
  const isAsked = fields.input !== null || fields.idempotencyKey !== null || fields.group !== null || uniqueness !== null
  return !isAsked && idempotencyKey === undefined && group === undefined
}
