import { Heap, type Slotted } from '../../../core/heap.ts'
import { GroupedJobs } from '../limits/grouped-jobs.ts'
import { Groups } from '../limits/groups.ts'
import { runsFirst, type StoredJob } from './job.ts'
import { LanesByQueue } from './lanes-by-queue.ts'

/** Ready jobs that a claim treats alike. Claim decisions are made once per lane, not for each job in it. */
export interface Lane extends Slotted {
  readonly key: string
  readonly queue: string
  readonly job: string
  readonly priority: number
  readonly singleInstance: boolean
  /** Null if its jobs do not belong to groups. */
  readonly groups: GroupedJobs | null
  readonly jobs: GroupedJobs | PlainJobs
  /** The job that determines its place among the lanes. */
  head: StoredJob | undefined
  isAside: boolean
}

class PlainJobs extends Heap<StoredJob> {
  get isEmpty(): boolean {
    return this.size === 0
  }

  oldest(): StoredJob | undefined {
    return this.peek()
  }
}

/** The lanes of one key that have ready jobs, best first. */
export interface LanesOfJob extends Slotted {
  readonly job: string
  readonly byKey: Map<string, Lane>
  /** Those of jobs that must run alone. */
  readonly single: Set<Lane>
  best: Heap<Lane>
  /** The job that determines its place among the keys. */
  head: StoredJob | undefined
  isLeftOut: boolean
}

/**
 * All ready work, by key and lane. A claim checks only the heads of the keys and queues it asks for, so its cost does not grow
 * with the number of waiting jobs, lanes or keys.
 */
export class Lanes {
  readonly groups: Groups
  readonly byQueue = new LanesByQueue<Lane>()
  readonly #byJob = new Map<string, LanesOfJob>()
  #arrivals = 0
  #ageingMs = 0
  #precedes: (a: Ranked, b: Ranked) => boolean = byPriority
  #onHead: ((lane: Lane) => void) | null = null
  #byBestLane = new Heap<LanesOfJob>((a, b) => this.isBefore(a, b))

  constructor(groups = new Groups()) {
    this.groups = groups
  }

  add(job: StoredJob): void {
    const { envelope } = job
    job.arrival = ++this.#arrivals
    const lanes = this.#byJob.get(envelope.job) ?? this.#newLanes(envelope.job)
    this.#byJob.set(envelope.job, lanes)
    const key = laneKey(job)
    const lane = lanes.byKey.get(key) ?? this.#newLane(job, key, lanes)
    lane.jobs.add(job)
    this.#place(lane)
  }

  remove(job: StoredJob): void {
    const lane = this.#laneOf(job) as Lane
    lane.jobs.remove(job)
    this.#place(lane)
    this.#dropWhenEmpty(lane)
  }

  /** Changes a job that stays ready. If it stays in its lane and group, these keep their places. */
  replace(job: StoredJob, change: () => void): void {
    const lane = this.#laneOf(job) as Lane
    const { arrival } = job
    const { group } = job.envelope
    if (lane.groups === null) lane.jobs.remove(job)
    else lane.groups.takeOut(job)
    // Before the change: the heaps still sort the lane by its previous first job.
    this.#place(lane)
    change()
    this.add(job)
    if (this.#laneOf(job) === lane && job.envelope.group === group) job.arrival = arrival
    if (lane.groups !== null) lane.groups.dropWhenEmpty(group as string)
    this.#place(lane)
    this.#dropWhenEmpty(lane)
  }

  #laneOf(job: StoredJob): Lane | undefined {
    return this.#byJob.get(job.envelope.job)?.byKey.get(laneKey(job))
  }

  #dropWhenEmpty(lane: Lane): void {
    const lanes = this.#byJob.get(lane.job)
    if (!lane.jobs.isEmpty || lanes?.byKey.get(lane.key) !== lane) return
    lanes.byKey.delete(lane.key)
    lanes.single.delete(lane)
    this.byQueue.remove(lane)
    if (lanes.byKey.size === 0) this.#byJob.delete(lane.job)
  }

  /** Called when the job is about to start. */
  serve(job: StoredJob): void {
    if (job.envelope.group !== null) this.#byJob.get(job.envelope.job)?.byKey.get(laneKey(job))?.groups?.serve(job)
  }

  /** How long a job must wait to gain one level of priority; 0 turns this off. */
  orderBy(ageingMs: number): void {
    if (ageingMs === this.#ageingMs) return
    this.#ageingMs = ageingMs
    this.#precedes = laneOrder(ageingMs)
    this.#byBestLane = new Heap((a, b) => this.isBefore(a, b))
    for (const lanes of this.#byJob.values()) {
      lanes.best = new Heap<Lane>(this.#precedes)
      for (const lane of lanes.byKey.values()) if (lane.head !== undefined) lanes.best.add(lane)
      lanes.head = lanes.best.peek()?.head
      if (lanes.head !== undefined) this.#byBestLane.add(lanes)
    }
  }

  isBefore(a: LanesOfJob, b: LanesOfJob): boolean {
    return this.#precedes(a.best.peek() as Lane, b.best.peek() as Lane)
  }

  /** The key with the best job among those that are not left out. */
  first(): LanesOfJob | undefined {
    return this.#byBestLane.peek()
  }

  ofJob(job: string): LanesOfJob | undefined {
    return this.#byJob.get(job)
  }

  /** The keys that have ready jobs. */
  get jobs(): Iterable<string> {
    return this.#byJob.keys()
  }

  /** Hides a key from `first` until it is let in again. */
  leaveOut(lanes: LanesOfJob): void {
    this.#byBestLane.remove(lanes)
    lanes.isLeftOut = true
  }

  letIn(lanes: LanesOfJob): void {
    lanes.isLeftOut = false
    lanes.head = lanes.best.peek()?.head
    if (lanes.head !== undefined) this.#byBestLane.add(lanes)
  }

  /** Hides a lane from its key's lanes until it is put back. */
  setAside(lane: Lane): void {
    lane.isAside = true
    this.#reorder(lane, (best) => best.remove(lane))
  }

  putBack(lane: Lane): void {
    lane.isAside = false
    lane.head = lane.jobs.peek()
    if (lane.head !== undefined) this.#reorder(lane, (best) => best.add(lane))
  }

  /** Reports each lane whose first job changes, until it is called again. */
  follow(onHead: ((lane: Lane) => void) | null): void {
    this.#onHead = onHead
  }

  /** The lanes of a key in these queues; null means all. */
  within(job: string, queues: ReadonlySet<string> | null): Iterable<Lane> {
    const lanes = this.#byJob.get(job)
    if (lanes === undefined) return []
    return this.#in(lanes.byKey, queues, job)
  }

  /** Those of them whose jobs must run alone. */
  singleWithin(job: string, queues: ReadonlySet<string> | null): Iterable<Lane> {
    const lanes = this.#byJob.get(job)
    if (lanes === undefined || lanes.single.size === 0) return []
    return [...this.#in(lanes.single, queues, job)].filter(({ singleInstance }) => singleInstance)
  }

  /** When the oldest ready job of a queue and key was due; null if there is none. */
  oldestReadyAt(queue: string, job: string): number | null {
    let oldest: number | null = null
    for (const lane of this.byQueue.at(queue, job)) {
      const first = lane.jobs.oldest()
      if (first !== undefined && (oldest === null || first.runAt < oldest)) oldest = first.runAt
    }
    return oldest
  }

  /** To be called after its first job may have changed. */
  #place(lane: Lane): void {
    const head = lane.jobs.peek()
    if (lane.isAside || head === lane.head) return
    this.#reorder(lane, (best) => {
      if (lane.head !== undefined) best.remove(lane)
      lane.head = head
      if (head !== undefined) best.add(lane)
    })
    this.#onHead?.(lane)
  }

  /** Looks into each queue, or at each of these lanes, whichever are fewer. */
  #in(some: ReadonlyMap<string, Lane> | ReadonlySet<Lane>, queues: ReadonlySet<string> | null, job: string): Iterable<Lane> {
    if (queues !== null && queues.size < some.size) return [...queues].flatMap((queue) => this.byQueue.at(queue, job))
    const lanes = some.values()
    return queues === null ? lanes : [...lanes].filter(({ queue }) => queues.has(queue))
  }

  /** A key must be taken out of its heap before its best lane changes. */
  #reorder(lane: Lane, change: (best: Heap<Lane>) => void): void {
    const lanes = this.#byJob.get(lane.job)
    if (lanes === undefined) return
    const isPlaced = lanes.head !== undefined && !lanes.isLeftOut
    if (isPlaced) this.#byBestLane.remove(lanes)
    change(lanes.best)
    lanes.head = lanes.best.peek()?.head
    if (lanes.head !== undefined && !lanes.isLeftOut) this.#byBestLane.add(lanes)
  }

  #newLanes(job: string): LanesOfJob {
    return {
      job,
      byKey: new Map(),
      single: new Set(),
      best: new Heap<Lane>(this.#precedes),
      head: undefined,
      isLeftOut: false,
      slot: -1,
    }
  }

  #newLane({ envelope }: StoredJob, key: string, lanes: LanesOfJob): Lane {
    const { queue, job, priority, singleInstance } = envelope
    const groups: GroupedJobs | null = envelope.group === null ? null : new GroupedJobs(this.groups, () => this.#place(lane))
    const jobs = groups ?? new PlainJobs(runsFirst)
    const lane: Lane = { key, queue, job, priority, singleInstance, groups, jobs, head: undefined, isAside: false, slot: -1 }
    lanes.byKey.set(key, lane)
    if (singleInstance) lanes.single.add(lane)
    this.byQueue.add(lane)
    return lane
  }
}

type Ranked = Pick<Lane, 'priority' | 'head'>

/** By priority, or by age if a job gains one level of it each time it has waited this long. */
export function laneOrder(ageingMs: number): (a: Ranked, b: Ranked) => boolean {
  return ageingMs === 0 ? byPriority : byAge(ageingMs)
}

function byPriority(a: Ranked, b: Ranked): boolean {
  return a.priority === b.priority ? runsFirst(a.head as StoredJob, b.head as StoredJob) : a.priority > b.priority
}

function byAge(ageingMs: number): (a: Ranked, b: Ranked) => boolean {
  const rank = ({ head, priority }: Ranked) => (head as StoredJob).runAt - priority * ageingMs
  return (a, b) => {
    const [one, other] = [rank(a), rank(b)]
    return one === other ? (a.head as StoredJob).envelope.id < (b.head as StoredJob).envelope.id : one < other
  }
}

/** Unique within the lanes of one job. The queue comes last, so that no character in it can make two keys look alike. */
function laneKey({ envelope }: StoredJob): string {
  return `${envelope.priority}${envelope.singleInstance ? '!' : ' '}${envelope.group === null ? ' ' : '&'}${envelope.queue}`
}
