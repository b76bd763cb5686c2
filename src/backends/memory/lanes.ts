import { Heap, type Slotted } from '../heap.ts'
import { GroupedJobs } from './grouped-jobs.ts'
import { Groups } from './groups.ts'
import { type MemoryJob, runsFirst } from './job.ts'

/** Ready jobs that a claim treats alike. Whatever decides about a claim is decided once for a lane, not for each job in it. */
export interface Lane extends Slotted {
  readonly key: string
  readonly queue: string
  readonly job: string
  readonly priority: number
  readonly singleInstance: boolean
  /** Where its jobs belong to groups; null where they do not. */
  readonly groups: GroupedJobs | null
  readonly jobs: GroupedJobs | PlainJobs
  /** The job that gives it its place among the lanes. */
  head: MemoryJob | undefined
  isAside: boolean
}

class PlainJobs extends Heap<MemoryJob> {
  get isEmpty(): boolean {
    return this.size === 0
  }
}

/**
 * All ready work, by lane. A claim looks at the heads of lanes, the best lane first, so its cost grows neither with the number
 * of waiting jobs nor with that of lanes.
 */
export class Lanes {
  readonly groups = new Groups()
  readonly #byJob = new Map<string, Map<string, Lane>>()
  #ageingMs = 0
  #byBestJob = new Heap<Lane>(byPriority)

  add(job: MemoryJob): void {
    const { envelope } = job
    const lanes = this.#byJob.get(envelope.job) ?? new Map<string, Lane>()
    this.#byJob.set(envelope.job, lanes)
    const key = laneKey(job)
    const lane = lanes.get(key) ?? this.#newLane(job, key)
    lanes.set(key, lane)
    lane.jobs.add(job)
    this.#place(lane)
  }

  remove(job: MemoryJob): void {
    const lanes = this.#byJob.get(job.envelope.job) as Map<string, Lane>
    const lane = lanes.get(laneKey(job)) as Lane
    lane.jobs.remove(job)
    this.#place(lane)
    if (!lane.jobs.isEmpty) return
    lanes.delete(lane.key)
    if (lanes.size === 0) this.#byJob.delete(lane.job)
  }

  /** The job is about to start. */
  serve(job: MemoryJob): void {
    if (job.envelope.group !== null) this.#byJob.get(job.envelope.job)?.get(laneKey(job))?.groups?.serve(job)
  }

  /** How much waiting counts as one level of priority; 0 is none. */
  orderBy(ageingMs: number): void {
    if (ageingMs === this.#ageingMs) return
    this.#ageingMs = ageingMs
    this.#byBestJob = new Heap(ageingMs === 0 ? byPriority : byAge(ageingMs))
    for (const lanes of this.#byJob.values()) {
      for (const lane of lanes.values()) if (lane.head !== undefined) this.#byBestJob.add(lane)
    }
  }

  /** The lane with the best job of all. */
  best(): Lane | undefined {
    return this.#byBestJob.peek()
  }

  /** Leaves a lane out of those that `best` gives, until it is put back. */
  setAside(lane: Lane): void {
    this.#byBestJob.remove(lane)
    lane.isAside = true
  }

  putBack(lane: Lane): void {
    lane.isAside = false
    lane.head = lane.jobs.peek()
    if (lane.head !== undefined) this.#byBestJob.add(lane)
  }

  of(job: string): Iterable<Lane> {
    return this.#byJob.get(job)?.values() ?? []
  }

  /** After its first job may have become another one. */
  #place(lane: Lane): void {
    const head = lane.jobs.peek()
    if (lane.isAside || head === lane.head) return
    if (lane.head !== undefined) this.#byBestJob.remove(lane)
    lane.head = head
    if (head !== undefined) this.#byBestJob.add(lane)
  }

  #newLane({ envelope }: MemoryJob, key: string): Lane {
    const { queue, job, priority, singleInstance } = envelope
    const groups: GroupedJobs | null = envelope.group === null ? null : new GroupedJobs(this.groups, () => this.#place(lane))
    const jobs = groups ?? new PlainJobs(runsFirst)
    const lane: Lane = { key, queue, job, priority, singleInstance, groups, jobs, head: undefined, isAside: false, slot: -1 }
    return lane
  }
}

function byPriority(a: Lane, b: Lane): boolean {
  return a.priority === b.priority ? runsFirst(a.head as MemoryJob, b.head as MemoryJob) : a.priority > b.priority
}

function byAge(ageingMs: number): (a: Lane, b: Lane) => boolean {
  const rank = ({ head, priority }: Lane) => (head as MemoryJob).runAt - priority * ageingMs
  return (a, b) => {
    const [one, other] = [rank(a), rank(b)]
    return one === other ? (a.head as MemoryJob).arrival < (b.head as MemoryJob).arrival : one < other
  }
}

/** Within the lanes of one job. The queue stands last, so that whatever characters it has, two keys never look alike. */
function laneKey({ envelope }: MemoryJob): string {
  return `${envelope.priority}${envelope.singleInstance ? '!' : ' '}${envelope.group === null ? ' ' : '&'}${envelope.queue}`
}
