import { Heap } from '../../../core/heap.ts'
import type { Envelope } from '../../../envelope/envelope.ts'
import type { SendReceipt } from '../../contract/contract.ts'
import { type FinalState, finalStates, isFinal, type JobState } from '../../contract/job-state.ts'
import { UniqueKeys } from '../keys/unique-keys.ts'
import type { Groups } from '../limits/groups.ts'
import type { StoredOccurrence } from '../schedules/timeline.ts'
import { Counters } from './counters.ts'
import { keyIndexOf, newJob, runsFirst, type StoredJob } from './job.ts'
import { JobLists } from './job-lists.ts'
import { Lanes } from './lanes.ts'

/** What a move may change about a job. */
export type Changes = Partial<Omit<StoredJob, 'keyIndex' | 'sentAs' | 'occurrence' | 'links' | 'state' | 'slot' | 'removed'>>

/** Notified of every job that ends, however it ends. */
export interface JobsListener {
  ended(job: StoredJob): void
  /** If the job had not ended, the jobs that depend on it would otherwise wait forever. */
  deleted(job: StoredJob): void
}

/** Where jobs are looked up. An engine that has only some of them in memory passes maps that fetch the others. */
export interface JobsState {
  readonly byId: Map<string, StoredJob>
  readonly byNumber: Map<number, StoredJob>
  readonly byToken: Map<string, StoredJob>
  /** Number of running jobs by key. */
  readonly running: Map<string, number>
  /** Number of running jobs by queue. */
  readonly runningIn: Map<string, number>
  readonly groups: Groups
  readonly uniqueKeys: UniqueKeys
}

/**
 * All jobs, each in the place that its state requires: ready ones in lanes, scheduled ones by time, running ones by the expiry of
 * their leases, ended ones in the order in which they ended. `move` is the only way from one place to another.
 */
export class Jobs {
  readonly lanes: Lanes
  readonly scheduled = new Heap<StoredJob>(runsFirst)
  readonly blocked = new Heap<StoredJob>(givesUpFirst)
  readonly leased = new Heap<StoredJob>(endsFirst)
  readonly counters = new Counters()
  readonly lists = new JobLists()
  readonly uniqueKeys: UniqueKeys
  readonly #byId: Map<string, StoredJob>
  readonly #byNumber: Map<number, StoredJob>
  readonly #byToken: Map<string, StoredJob>
  readonly #running: Map<string, number>
  readonly #runningIn: Map<string, number>
  readonly #ended = new Map<FinalState, Set<StoredJob>>(finalStates.map((state) => [state, new Set()]))
  #listener: JobsListener | undefined

  constructor(state: Partial<JobsState> = {}) {
    this.lanes = new Lanes(state.groups)
    this.uniqueKeys = state.uniqueKeys ?? new UniqueKeys()
    this.#byId = state.byId ?? new Map()
    this.#byNumber = state.byNumber ?? new Map()
    this.#byToken = state.byToken ?? new Map()
    this.#running = state.running ?? new Map()
    this.#runningIn = state.runningIn ?? new Map()
  }

  listen(listener: JobsListener): void {
    this.#listener = listener
  }

  get(id: string): StoredJob | undefined {
    return this.#byId.get(id)
  }

  byNumber(number: number): StoredJob | undefined {
    return this.#byNumber.get(number)
  }

  /** The numbers of these jobs. Those without one get the next numbers, the oldest of them first. */
  numbersOf(ids: readonly string[], next: () => number): readonly (number | null)[] {
    for (const id of ids.toSorted()) {
      const job = this.get(id)
      if (job !== undefined && job.envelope.number === null) this.#giveNumber(job, next())
    }
    return ids.map((id) => this.get(id)?.envelope.number ?? null)
  }

  #giveNumber(job: StoredJob, number: number): void {
    job.envelope = { ...job.envelope, number }
    this.#byNumber.set(number, job)
  }

  byToken(token: string): StoredJob | undefined {
    return this.#byToken.get(token)
  }

  /** In the order of their claims. */
  get running(): Iterable<StoredJob> {
    return this.#byToken.values()
  }

  runningOf(job: string): number {
    return this.#running.get(job) ?? 0
  }

  runningIn(queue: string): number {
    return this.#runningIn.get(queue) ?? 0
  }

  /** In the order in which they ended. */
  ended(state: FinalState): ReadonlySet<StoredJob> {
    return this.#ended.get(state) as Set<StoredJob>
  }

  /** Puts an already stored job in the place that its state requires. */
  adopt(job: StoredJob): void {
    this.#byId.set(job.envelope.id, job)
    this.#enter(job)
  }

  /** The job is scheduled or ready, as its time says, unless another state is given. */
  insert(envelope: Envelope, now: number, occurrence: StoredOccurrence | null, state?: 'blocked'): SendReceipt {
    const keyIndex = keyIndexOf(envelope)
    const existing = this.#holderOf(envelope, keyIndex, now)
    if (existing !== undefined) return { id: existing, stored: false }
    const job = newJob(envelope, occurrence, keyIndex)
    job.state = state ?? (job.runAt > now ? 'scheduled' : 'ready')
    this.#byId.set(envelope.id, job)
    if (envelope.number !== null) this.#byNumber.set(envelope.number, job)
    this.lists.add(job)
    this.#enter(job)
    this.uniqueKeys.take(job, now)
    return { id: envelope.id, stored: true }
  }

  /** Stores a job from another queue as it is. */
  place(job: StoredJob): StoredJob {
    this.#byId.set(job.envelope.id, job)
    if (job.envelope.number !== null) this.#byNumber.set(job.envelope.number, job)
    this.lists.add(job)
    this.#enter(job)
    return job
  }

  /** Removes a job that moves to another queue. No listener is notified, and a unique key that outlives the job stays held. */
  takeOut(job: StoredJob): void {
    this.#leave(job)
    this.#byId.delete(job.envelope.id)
    if (job.envelope.number !== null) this.#byNumber.delete(job.envelope.number)
    this.lists.remove(job)
  }

  move(job: StoredJob, state: JobState, changes: Changes = {}): void {
    const change = () => {
      if (changes.envelope !== undefined) this.lists.amend(job, changes.envelope)
      Object.assign(job, changes)
      job.state = state
    }
    if (job.state === 'ready' && state === 'ready') this.#keepReady(job, change)
    else {
      this.#leave(job)
      change()
      this.#enter(job)
    }
    job.occurrence?.follow(job)
    if (!isFinal(state)) return
    this.uniqueKeys.freeUnclaimed(job)
    this.#listener?.ended(job)
  }

  /** Replaces the envelope of a waiting job. */
  amend(job: StoredJob, envelope: Envelope, state: JobState): void {
    const change = () => {
      this.lists.amend(job, envelope)
      job.runAt = envelope.runAt
      job.state = state
    }
    if (job.state === 'ready' && state === 'ready') {
      this.#keepReady(job, change)
      return
    }
    this.#leave(job)
    change()
    this.#enter(job)
  }

  /** Replaces the envelope of a running or ended job, which keeps its place among the others. */
  amendInPlace(job: StoredJob, envelope: Envelope): void {
    this.#countInPlace(job, -1)
    this.lists.amend(job, envelope)
    job.runAt = envelope.runAt
    this.#countInPlace(job, 1)
  }

  delete(job: StoredJob): void {
    this.#leave(job)
    this.uniqueKeys.freeUnclaimed(job)
    this.#byId.delete(job.envelope.id)
    if (job.envelope.number !== null) this.#byNumber.delete(job.envelope.number)
    this.lists.remove(job)
    this.#listener?.deleted(job)
  }

  /** A group whose only ready job gets another time has been waiting all along, so it keeps its turn. */
  #keepReady(job: StoredJob, change: () => void): void {
    const { queue, job: name } = job.envelope
    this.counters.add(queue, name, 'ready', -1)
    this.lanes.replace(job, change)
    this.counters.add(job.envelope.queue, job.envelope.job, 'ready', 1)
  }

  /** The id of the existing job that takes the place of this envelope. */
  #holderOf({ id, number }: Envelope, keyIndex: string | null, now: number): string | undefined {
    const same = this.#byId.get(id) ?? (number === null ? undefined : this.#byNumber.get(number))
    return same?.envelope.id ?? this.uniqueKeys.holderOf(keyIndex, now)
  }

  #countInPlace(job: StoredJob, change: 1 | -1): void {
    const { envelope, state } = job
    this.counters.add(envelope.queue, envelope.job, state, change)
    if (state === 'running') this.#countRunning(job, change)
  }

  #enter(job: StoredJob): void {
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

  #leave(job: StoredJob): void {
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

  #enterRunning(job: StoredJob): void {
    this.leased.add(job)
    this.#byToken.set(job.token as string, job)
    this.#countRunning(job, 1)
  }

  #leaveRunning(job: StoredJob): void {
    this.leased.remove(job)
    this.#byToken.delete(job.token as string)
    this.#countRunning(job, -1)
  }

  #countRunning({ envelope: { job, queue, group } }: StoredJob, change: 1 | -1): void {
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

function endsFirst(a: StoredJob, b: StoredJob): boolean {
  return a.leaseExpiresAt === b.leaseExpiresAt ? a.envelope.id < b.envelope.id : a.leaseExpiresAt < b.leaseExpiresAt
}

function givesUpFirst(a: StoredJob, b: StoredJob): boolean {
  const [one, other] = [givesUpAt(a), givesUpAt(b)]
  return one === other ? a.envelope.id < b.envelope.id : one < other
}

function givesUpAt({ links }: StoredJob): number {
  return links?.givesUpAt ?? Number.POSITIVE_INFINITY
}
