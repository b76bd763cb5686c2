import type { Envelope } from '../../../envelope/envelope.ts'
import type { StoredJob } from './job.ts'

const tidyAbove = 1_024

/** All stored jobs in order of arrival, to be read from the newest: together, and those of each name and each group. */
export class Arrivals {
  readonly #all = new ArrivalList()
  readonly #byJob = new Map<string, ArrivalList>()
  readonly #byGroup = new Map<string, ArrivalList>()

  add(job: StoredJob): void {
    const { job: name, group } = job.envelope
    this.#all.add(job)
    listIn(this.#byJob, name).add(job)
    if (group !== null) listIn(this.#byGroup, group).add(job)
  }

  remove(job: StoredJob): void {
    const { job: name, group } = job.envelope
    job.removed = true
    this.#all.leaveHole()
    leaveHole(this.#byJob, name)
    if (group !== null) leaveHole(this.#byGroup, group)
  }

  /** Replaces the envelope of a job, which may get another name or group. */
  amend(job: StoredJob, envelope: Envelope): void {
    const before = job.envelope
    job.envelope = envelope
    if (before.job !== envelope.job) {
      this.#byJob.get(before.job)?.takeOut(job)
      listIn(this.#byJob, envelope.job).insert(job)
    }
    if (before.group === envelope.group) return
    if (before.group !== null) this.#byGroup.get(before.group)?.takeOut(job)
    if (envelope.group !== null) listIn(this.#byGroup, envelope.group).insert(job)
  }

  /** The shortest list that includes all jobs of this name and this group. */
  listOf({ job, group }: { readonly job?: string; readonly group?: string } = {}): ArrivalList {
    const ofJob = job === undefined ? this.#all : (this.#byJob.get(job) ?? new ArrivalList())
    const ofGroup = group === undefined ? this.#all : (this.#byGroup.get(group) ?? new ArrivalList())
    return ofJob.length < ofGroup.length ? ofJob : ofGroup
  }
}

function listIn(lists: Map<string, ArrivalList>, name: string): ArrivalList {
  const known = lists.get(name)
  if (known !== undefined) return known
  const list = new ArrivalList()
  lists.set(name, list)
  return list
}

/** Names come and go: the list of one without jobs is forgotten. */
function leaveHole(lists: Map<string, ArrivalList>, name: string): void {
  const list = lists.get(name)
  list?.leaveHole()
  if (list?.length === 0) lists.delete(name)
}

/** Jobs in order of arrival. */
export class ArrivalList {
  #jobs: StoredJob[] = []
  #removed = 0

  /** Without those that were removed. */
  get length(): number {
    return this.#jobs.length - this.#removed
  }

  add(job: StoredJob): void {
    this.#jobs.push(job)
  }

  /** For a job that arrived earlier than others. */
  insert(job: StoredJob): void {
    this.#jobs.splice(this.#firstFrom(job.arrival), 0, job)
  }

  takeOut(job: StoredJob): void {
    const index = this.#firstFrom(job.arrival)
    if (this.#jobs[index] === job) this.#jobs.splice(index, 1)
  }

  /** One of them was removed. The list is compacted once half of it is holes, so the cost does not depend on its length. */
  leaveHole(): void {
    this.#removed++
    if (this.#removed < tidyAbove || this.#removed * 2 < this.#jobs.length) return
    this.#jobs = this.#jobs.filter((candidate) => !candidate.removed)
    this.#removed = 0
  }

  /** Newest first, starting with the one that arrived just before `arrival`. */
  *before(arrival: number): Iterable<StoredJob> {
    for (let index = this.#firstFrom(arrival) - 1; index >= 0; index--) {
      const job = this.#jobs[index] as StoredJob
      if (!job.removed) yield job
    }
  }

  /** Oldest first, starting with the one that arrived just after `arrival`. */
  *after(arrival: number): Iterable<StoredJob> {
    const jobs = this.#jobs
    for (let index = this.#firstFrom(arrival + 1); index < jobs.length; index++) {
      const job = jobs[index] as StoredJob
      if (!job.removed) yield job
    }
  }

  #firstFrom(arrival: number): number {
    let low = 0
    let high = this.#jobs.length
    while (low < high) {
      const middle = (low + high) >> 1
      if ((this.#jobs[middle] as StoredJob).arrival < arrival) low = middle + 1
      else high = middle
    }
    return low
  }
}
