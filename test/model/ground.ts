import { idMaker } from '../../src/core/id.ts'
import { type Envelope, type Links, sealEnvelope } from '../../src/envelope/envelope.ts'
import type { WholeBackend } from '../../src/queue/contract/contract.ts'
import type { JobStore } from '../../src/queue/contract/store.ts'
import type { ManualClock } from '../../src/testing/manual-clock.ts'
import { LimitsModel } from './limits-model.ts'
import { type ModelJob, ModelQueue } from './model-queue.ts'
import { ModelSchedules } from './model-schedules.ts'
import { OnceModel } from './once-model.ts'
import type { JobSpec, ProgramSpec } from './operations.ts'

export const maxRescues = 2
export const longestWaitMs = 86_400_000

export type StoredBackend = WholeBackend

/** A claim that was given out once. */
export interface GivenToken {
  readonly token: string
  readonly id: string
  readonly owner: string
}

/**
 * A backend, the model beside it and what the program's own workers remember. Programs on the same backend keep out of each
 * other's way by the names of their jobs and queues.
 */
export class Ground {
  readonly backend: StoredBackend
  readonly store: JobStore
  readonly clock: ManualClock
  readonly model = new ModelQueue()
  readonly schedules: ModelSchedules
  readonly once: OnceModel
  readonly limits: LimitsModel
  /** When the program began. */
  readonly startedAt: number
  /** Every token that was ever given out. */
  readonly tokens: GivenToken[] = []
  /** Tokens that only a process had that is gone. */
  readonly crashed = new Set<string>()
  /** The child of each parent and key. */
  readonly children = new Map<string, string>()
  readonly #name: string
  readonly #newId: () => string

  constructor(backend: StoredBackend, clock: ManualClock, name: string, spec: ProgramSpec) {
    this.backend = backend
    this.store = backend.store
    this.clock = clock
    this.#name = name
    this.#newId = idMaker(() => clock.now())
    this.startedAt = clock.now()
    this.schedules = new ModelSchedules(this.model)
    this.once = new OnceModel(this.model)
    this.model.onMarked = ({ key, keepMs }, now) => this.once.keep(key, now + keepMs)
    this.limits = new LimitsModel(this.model, spec, (job) => this.jobName(job))
  }

  /** The job whose lease this token is, or undefined when it is nobody's any more. */
  held({ token, id }: Pick<GivenToken, 'token' | 'id'>): ModelJob | undefined {
    const job = this.model.jobs.get(id)
    return job?.state === 'running' && job.token === token ? job : undefined
  }

  newJob(spec: JobSpec, known: readonly ModelJob[]): ModelJob {
    const edges = spec.waitsFor.flatMap((pick) => {
      const on = pickOf(known, pick)
      return on === undefined ? [] : [{ on: on.id, policy: spec.policy, isChild: false, outcome: null }]
    })
    return {
      id: this.#newId(),
      job: this.jobName(spec.job),
      queue: this.queueName(spec.queue),
      priority: spec.priority,
      group: spec.group,
      uniqueKey: spec.uniqueKey,
      uniqueUntil: spec.uniqueUntil === 'soon' ? this.clock.now() + 2_000 : spec.uniqueUntil,
      maxAttempts: spec.maxAttempts,
      edges: edges.filter(({ on }, index) => edges.findIndex((each) => each.on === on) === index),
      state: 'ready',
      runAt: this.clock.now() + spec.delayMs,
      attempts: 0,
      rescues: 0,
      token: null,
      lastToken: null,
      occurrence: null,
      leaseUntil: 0,
      cancelRequested: false,
      isDone: false,
      isKept: true,
      onceMark: null,
      wasStarted: false,
      isBegun: false,
    }
  }

  envelope(job: ModelJob, parent: Links['parent']): Envelope {
    const { id, queue, priority, runAt, uniqueKey, uniqueUntil, group } = job
    const waitsFor = job.edges.map(({ on, policy }) => ({ id: on, onFailure: policy }))
    const links = parent === null && waitsFor.length === 0 ? null : { root: parent?.id ?? id, parent, waitsFor, longestWaitMs }
    const identity = {
      id,
      job: job.job,
      name: job.job,
      queue,
      priority,
      maxRetries: job.maxAttempts - 1,
      timeoutMs: null,
      singleInstance: false,
      idempotencyKey: null,
      meta: {},
      occurrence: job.occurrence,
      repeat: null,
    }
    const createdAt = this.clock.now()
    return sealEnvelope(identity, '{"n":1}', { createdAt, runAt, uniqueKey, uniqueUntil, group, links }, null)
  }

  jobName(job: number): string {
    return `${this.#name}-${job}`
  }

  queueName(queue: string): string {
    return this.named(queue)
  }

  /** A name that no other program uses. */
  named(text: string): string {
    return `${this.#name}-${text}`
  }
}

/** One of them, whatever the number; undefined where there is none. */
export function pickOf<Item>(items: readonly Item[], pick: number): Item | undefined {
  return items[pick % Math.max(1, items.length)]
}
