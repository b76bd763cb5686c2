import type { Envelope } from '../../envelope/envelope.ts'
import type { SendReceipt } from '../contract.ts'
import { Heap } from '../heap.ts'
import { type FinalState, finalStates, isFinal, type JobState } from '../job-state.ts'
import { Arrivals } from './arrivals.ts'
import { Counters } from './counters.ts'
import { keyIndexOf, type MemoryJob, newJob, runsFirst } from './job.ts'
import { Lanes } from './lanes.ts'
import type { MemoryOccurrence } from './timeline.ts'
import { UniqueKeys } from './unique-keys.ts'

/** What a move may change of a job on its way. */
export type Changes = Partial<Omit<MemoryJob, 'keyIndex' | 'arrival' | 'occurrence' | 'links' | 'state' | 'slot' | 'removed'>>

/** Hears of every job that ends, however it ends. */
export interface JobsListener {
  ended(job: MemoryJob): void
  /** Of a job that had not ended, whoever waits for it does so in vain. */
  deleted(job: MemoryJob): void
}

/**
 * All jobs, each in the place that its state asks for: ready ones in lanes, scheduled ones by time, running ones by the end of
 * their lease, ended ones in the order of their end. `move` is the only way from one place to another.
 */
export class Jobs {
  readonly lanes = new Lanes()
  readonly scheduled = new Heap<MemoryJob>(runsFirst)
  readonly blocked = new Heap<MemoryJob>((a, b) => givesUpAt(a) < givesUpAt(b))
  readonly leased = new Heap<MemoryJob>((a, b) => a.leaseExpiresAt < b.leaseExpiresAt)
  readonly counters = new Counters()
  readonly arrivals = new Arrivals()
  readonly uniqueKeys = new UniqueKeys()
  readonly #byId = new Map<string, MemoryJob>()
  readonly #byNumber = new Map<number, MemoryJob>()
  readonly #byToken = new Map<string, MemoryJob>()
  readonly #running = new Map<string, number>()
  readonly #runningIn = new Map<string, number>()
  readonly #ended = new Map<FinalState, Set<MemoryJob>>(finalStates.map((state) => [state, new Set()]))
  #listener: JobsListener | undefined
  #arrived = 0

  listen(listener: JobsListener): void {
    this.#listener = listener
  }

  get(id: string): MemoryJob | undefined {
    return this.#byId.get(id)
  }

  byNumber(number: number): MemoryJob | undefined {
    return this.#byNumber.get(number)
  }

  /** For a job that has none. */
  giveNumber(job: MemoryJob, number: number): void {
    job.envelope = { ...job.envelope, number }
    this.#byNumber.set(number, job)
  }

  byToken(token: string): MemoryJob | undefined {
    return this.#byToken.get(token)
  }

  /** In the order of their claims. */
  get running(): Iterable<MemoryJob> {
    return this.#byToken.values()
  }

  runningOf(job: string): number {
    return this.#running.get(job) ?? 0
  }

  runningIn(queue: string): number {
    return this.#runningIn.get(queue) ?? 0
  }

  /** In the order of their end. */
  ended(state: FinalState): Iterable<MemoryJob> {
    return this.#ended.get(state) as Set<MemoryJob>
  }

  insert(envelope: Envelope, now: number, occurrence: MemoryOccurrence | null): SendReceipt {
    const existing = this.#holderOf(envelope, now)
    if (existing !== undefined) return { id: existing, stored: false }
    const job = newJob(envelope, this.#arrived++, occurrence)
    job.state = job.runAt > now ? 'scheduled' : 'ready'
    this.#byId.set(envelope.id, job)
    if (envelope.number !== null) this.#byNumber.set(envelope.number, job)
    this.arrivals.add(job)
    this.#enter(job)
    this.uniqueKeys.take(job, now)
    return { id: envelope.id, stored: true }
  }

  move(job: MemoryJob, state: JobState, changes: Changes = {}): void {
    this.#leave(job)
    Object.assign(job, changes)
    job.state = state
    this.#enter(job)
    job.occurrence?.follow(job)
    if (!isFinal(state)) return
    this.uniqueKeys.freeUnclaimed(job)
    this.#listener?.ended(job)
  }

  /** Puts another envelope in the place of a waiting job's own. */
  amend(job: MemoryJob, envelope: Envelope, state: JobState): void {
    this.#leave(job)
    job.envelope = envelope
    job.runAt = envelope.runAt
    job.state = state
    this.#enter(job)
  }

  /** The same for a job that runs or has ended, which stays in its place among the others. */
  amendInPlace(job: MemoryJob, envelope: Envelope): void {
    this.#countInPlace(job, -1)
    job.envelope = envelope
    job.runAt = envelope.runAt
    this.#countInPlace(job, 1)
  }

  delete(job: MemoryJob): void {
    this.#leave(job)
    this.uniqueKeys.freeUnclaimed(job)
    this.#byId.delete(job.envelope.id)
    if (job.envelope.number !== null) this.#byNumber.delete(job.envelope.number)
    this.arrivals.remove(job)
    this.#listener?.deleted(job)
  }

  /** The id of the job that an envelope finds in its place. */
  #holderOf(envelope: Envelope, now: number): string | undefined {
    const { id, number } = envelope
    const same = this.#byId.get(id) ?? (number === null ? undefined : this.#byNumber.get(number))
    return same?.envelope.id ?? this.uniqueKeys.holderOf(keyIndexOf(envelope), now)
  }

  #countInPlace(job: MemoryJob, change: 1 | -1): void {
    const { envelope, state } = job
    this.counters.add(envelope.queue, envelope.job, state, change)
    if (state === 'running') this.#countRunning(job, change)
  }

  #enter(job: MemoryJob): void {
    const { envelope, state } = job
    this.counters.add(envelope.queue, envelope.job, state, 1)
    if (isFinal(state)) {
      this.#ended.get(state)?.add(job)
      return
    }
    this.uniqueKeys.follow(job)
    if (state === 'ready') this.lanes.add(job)
    else if (state === 'scheduled') this.scheduled.add(job)
    else if (state === 'blocked') this.blocked.add(job)
    else if (state === 'running') this.#enterRunning(job)
  }

  #leave(job: MemoryJob): void {
    const { envelope, state } = job
    this.counters.add(envelope.queue, envelope.job, state, -1)
    if (isFinal(state)) {
      this.#ended.get(state)?.delete(job)
      return
    }
    this.uniqueKeys.leave(job)
    if (state === 'ready') this.lanes.remove(job)
    else if (state === 'scheduled') this.scheduled.remove(job)
    else if (state === 'blocked') this.blocked.remove(job)
    else if (state === 'running') this.#leaveRunning(job)
  }

  #enterRunning(job: MemoryJob): void {
    this.leased.add(job)
    this.#byToken.set(job.token as string, job)
    this.#countRunning(job, 1)
  }

  #leaveRunning(job: MemoryJob): void {
    this.leased.remove(job)
    this.#byToken.delete(job.token as string)
    this.#countRunning(job, -1)
  }

  #countRunning({ envelope: { job, queue, group } }: MemoryJob, change: 1 | -1): void {
    count(this.#running, job, change)
    count(this.#runningIn, queue, change)
    if (group !== null) this.lanes.groups.changeBusy(this.lanes.groups.of(job, group), change)
  }
}

function count(counts: Map<string, number>, key: string, change: 1 | -1): void {
  const rest = (counts.get(key) ?? 0) + change
  if (rest > 0) counts.set(key, rest)
  else counts.delete(key)
}

function givesUpAt({ links }: MemoryJob): number {
  return links?.givesUpAt ?? Number.POSITIVE_INFINITY
}
