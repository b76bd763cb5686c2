import { Heap, type Slotted } from '../heap.ts'
import type { MemoryJob } from './job.ts'

/** Ready jobs that a claim treats alike. Whatever decides about a claim is decided once for a lane, not for each job in it. */
export interface Lane extends Slotted {
  readonly key: string
  readonly queue: string
  readonly job: string
  readonly priority: number
  readonly singleInstance: boolean
  readonly jobs: Heap<MemoryJob>
}

/**
 * All ready work, by lane. A claim looks at the heads of lanes, the best lane first, so its cost grows neither with the number
 * of waiting jobs nor with that of lanes.
 */
export class Lanes {
  readonly #byJob = new Map<string, Map<string, Lane>>()
  readonly #byBestJob = new Heap<Lane>(hasBetterJob)

  add(job: MemoryJob): void {
    const { envelope } = job
    const lanes = this.#byJob.get(envelope.job) ?? new Map<string, Lane>()
    this.#byJob.set(envelope.job, lanes)
    const key = laneKey(job)
    const lane = lanes.get(key) ?? newLane(job, key)
    lanes.set(key, lane)
    lane.jobs.add(job)
    if (lane.jobs.size === 1) this.#byBestJob.add(lane)
    else if (lane.jobs.peek() === job) this.#moveToPlace(lane)
  }

  remove(job: MemoryJob): void {
    const lanes = this.#byJob.get(job.envelope.job) as Map<string, Lane>
    const lane = lanes.get(laneKey(job)) as Lane
    const wasBest = lane.jobs.peek() === job
    lane.jobs.remove(job)
    if (lane.jobs.size > 0) {
      if (wasBest) this.#moveToPlace(lane)
      return
    }
    this.#byBestJob.remove(lane)
    lanes.delete(lane.key)
    if (lanes.size === 0) this.#byJob.delete(lane.job)
  }

  /** The lane with the best job of all. */
  best(): Lane | undefined {
    return this.#byBestJob.peek()
  }

  /** Leaves a lane out of those that `best` gives, until it is put back. None of its jobs may come or go meanwhile. */
  setAside(lane: Lane): void {
    this.#byBestJob.remove(lane)
  }

  putBack(lane: Lane): void {
    this.#byBestJob.add(lane)
  }

  of(job: string): Iterable<Lane> {
    return this.#byJob.get(job)?.values() ?? []
  }

  #moveToPlace(lane: Lane): void {
    this.#byBestJob.remove(lane)
    this.#byBestJob.add(lane)
  }
}

function hasBetterJob(a: Lane, b: Lane): boolean {
  return a.priority === b.priority ? runsFirst(a.jobs.peek() as MemoryJob, b.jobs.peek() as MemoryJob) : a.priority > b.priority
}

export function runsFirst(a: MemoryJob, b: MemoryJob): boolean {
  return a.runAt === b.runAt ? a.arrival < b.arrival : a.runAt < b.runAt
}

function newLane({ envelope }: MemoryJob, key: string): Lane {
  const { queue, job, priority, singleInstance } = envelope
  return { key, queue, job, priority, singleInstance, jobs: new Heap(runsFirst), slot: -1 }
}

/** Within the lanes of one job. The queue stands last, so that whatever characters it has, two keys never look alike. */
function laneKey({ envelope }: MemoryJob): string {
  return `${envelope.priority}${envelope.singleInstance ? '!' : ' '}${envelope.queue}`
}
