import { firstFrom } from '../../../core/sorted.ts'
import type { Envelope } from '../../../envelope/envelope.ts'
import type { StoredJob } from './job.ts'

const tidyAbove = 1_024

/** All stored jobs in the order of their ids, which is that of their creation: together, and those of each name and each group. */
export class JobLists {
  readonly #all = new JobList()
  readonly #byJob = new Map<string, JobList>()
  readonly #byGroup = new Map<string, JobList>()

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
      takeOut(this.#byJob, before.job, job)
      listIn(this.#byJob, envelope.job).add(job)
    }
    if (before.group === envelope.group) return
    if (before.group !== null) takeOut(this.#byGroup, before.group, job)
    if (envelope.group !== null) listIn(this.#byGroup, envelope.group).add(job)
  }

  /** The shortest list that includes all jobs of this name and this group. */
  listOf({ job, group }: { readonly job?: string; readonly group?: string } = {}): JobList {
    const ofJob = job === undefined ? this.#all : (this.#byJob.get(job) ?? new JobList())
    const ofGroup = group === undefined ? this.#all : (this.#byGroup.get(group) ?? new JobList())
    return ofJob.length < ofGroup.length ? ofJob : ofGroup
  }
}

function listIn(lists: Map<string, JobList>, name: string): JobList {
  const known = lists.get(name)
  if (known !== undefined) return known
  const list = new JobList()
  lists.set(name, list)
  return list
}

function leaveHole(lists: Map<string, JobList>, name: string): void {
  lists.get(name)?.leaveHole()
  forgetEmpty(lists, name)
}

function takeOut(lists: Map<string, JobList>, name: string, job: StoredJob): void {
  lists.get(name)?.takeOut(job)
  forgetEmpty(lists, name)
}

/** Names come and go: the list of one without jobs is forgotten. */
function forgetEmpty(lists: Map<string, JobList>, name: string): void {
  if (lists.get(name)?.length === 0) lists.delete(name)
}

/** Jobs in the order of their ids. */
class JobList {
  #jobs: StoredJob[] = []
  #removed = 0

  /** Without those that were removed. */
  get length(): number {
    return this.#jobs.length - this.#removed
  }

  /** Ids usually rise from job to job. */
  add(job: StoredJob): void {
    const last = this.#jobs.at(-1)
    if (last === undefined || last.envelope.id < job.envelope.id) this.#jobs.push(job)
    else this.#jobs.splice(this.#firstFrom(job.envelope.id), 0, job)
  }

  takeOut(job: StoredJob): void {
    const index = this.#firstFrom(job.envelope.id)
    if (this.#jobs[index] === job) this.#jobs.splice(index, 1)
  }

  /** One of them was removed. The list is compacted once half of it is holes, so the cost does not depend on its length. */
  leaveHole(): void {
    this.#removed++
    if (this.#removed < tidyAbove || this.#removed * 2 < this.#jobs.length) return
    this.#jobs = this.#jobs.filter((candidate) => !candidate.removed)
    this.#removed = 0
  }

  /** Newest first, starting with the last one before this id. */
  *before(id: string | undefined): Iterable<StoredJob> {
    for (let index = (id === undefined ? this.#jobs.length : this.#firstFrom(id)) - 1; index >= 0; index--) {
      const job = this.#jobs[index] as StoredJob
      if (!job.removed) yield job
    }
  }

  /** Oldest first, starting with the first one after this id. */
  *after(id: string): Iterable<StoredJob> {
    const jobs = this.#jobs
    for (let index = this.#firstFrom(id); index < jobs.length; index++) {
      const job = jobs[index] as StoredJob
      if (!job.removed && job.envelope.id !== id) yield job
    }
  }

  /** Among those with this id, all but the first were removed. */
  #firstFrom(id: string): number {
    return firstFrom(this.#jobs, ({ envelope }) => envelope.id < id)
  }
}
