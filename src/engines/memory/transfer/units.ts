import { isFinal } from '../../../queue/contract/job-state.ts'
import type { MovedJob, MovedUnit, PageRequest } from '../../../queue/contract/transfer.ts'
import { unscopedKey } from '../../../queue/model/unique-key.ts'
import type { StoredJob } from '../../../queue/rules/jobs/job.ts'
import type { Jobs } from '../../../queue/rules/jobs/jobs.ts'
import type { OnceKeys } from '../../../queue/rules/keys/once-keys.ts'
import type { Schedules } from '../../../queue/rules/schedules/schedules.ts'
import { StoredOccurrence } from '../../../queue/rules/schedules/timeline.ts'
import type { Edges } from '../../../queue/rules/workflows/edges.ts'
import type { StoredLinks } from '../../../queue/rules/workflows/links.ts'
import type { Trees } from '../../../queue/rules/workflows/trees.ts'
import type { MemoryLogs } from '../logs.ts'
import { goneOf, heldByState, jobsOf, lastingKey, memoryJob, memoryLinks, movedJob } from './moved-jobs.ts'

export interface UnitsParts {
  readonly jobs: Jobs
  readonly edges: Edges
  readonly trees: Trees
  readonly once: OnceKeys
  readonly schedules: Schedules
  readonly logs: MemoryLogs
}

/** Of keys that are held for jobs in a parcel. */
export const reservedUntil = 8e15

/** Jobs as they leave and arrive. */
export class Units {
  readonly #parts: UnitsParts

  constructor(parts: UnitsParts) {
    this.#parts = parts
  }

  /** Jobs that nobody runs, with their workflows, in the order in which they came. */
  read({ queue, createdBefore, limit }: PageRequest, after: number): { units: readonly MovedUnit[]; last: number | null } {
    const units: MovedUnit[] = []
    const seen = new Set<StoredJob>()
    let last: number | null = null
    for (const job of this.#parts.jobs.arrivals.after(after)) {
      if (seen.size >= limit) return { units, last }
      last = job.arrival
      const isMeant = (queue === null || job.envelope.queue === queue) && job.envelope.createdAt <= createdBefore
      if (!isMeant || seen.has(job) || job.state === 'running') continue
      const members = this.#component(job)
      for (const member of members) seen.add(member)
      if (!members.some(({ state }) => state === 'running')) units.push(this.#unitOf(members))
    }
    return { units, last: null }
  }

  /** Their unique keys stay held until the parcel has arrived. */
  takeOut(units: readonly MovedUnit[]): void {
    const { jobs, edges, trees, once } = this.#parts
    for (const moved of jobsOf(units)) {
      const job = jobs.get(moved.id) as StoredJob
      once.release(job)
      jobs.takeOut(job)
      for (const edge of job.links?.edges.all ?? []) edges.remove(edge)
      if (job.links !== null) trees.takeOut(job as StoredJob & { links: StoredLinks })
      const index = heldByState(moved)
      if (index !== null) jobs.uniqueKeys.hold({ index, jobId: moved.id, expiresAt: reservedUntil })
    }
  }

  freeReserved(units: readonly MovedUnit[]): void {
    for (const job of jobsOf(units)) {
      const index = heldByState(job)
      if (index !== null) this.#parts.jobs.uniqueKeys.free({ index, jobId: job.id })
    }
  }

  /** Why there is no place for a job; null where there is. */
  refusalOf(job: MovedJob, now: number): string | null {
    const { jobs } = this.#parts
    const { id, number } = job
    if (jobs.get(id) !== undefined) return `there is a job ${id} already`
    const namesake = number === null ? undefined : jobs.byNumber(number)
    if (namesake !== undefined) return `job ${namesake.envelope.id} has its number, ${number}`
    const holder = [heldByState(job), lastingKey(job)]
      .map((index) => jobs.uniqueKeys.holderOf(index, now))
      .find((each) => each !== undefined && each !== id)
    if (holder !== undefined) return `job ${holder} holds its unique key ${JSON.stringify(unscopedKey(job.uniqueKey as string))}`
    const isMore = job.startedAt !== null || isFinal(job.state)
    return this.isRepeated(job) && isMore ? `another job stands for this run of "${job.occurrence?.schedule}"` : null
  }

  /** The queue has another job for the same run of a schedule. */
  isRepeated({ id, occurrence }: MovedJob): boolean {
    if (occurrence === null) return false
    const known = this.#parts.schedules.timeline(occurrence.schedule).at(occurrence.at)
    return known !== undefined && known.jobId !== id
  }

  place(unit: MovedUnit, now: number): void {
    const { jobs, edges, trees, once } = this.#parts
    for (const moved of unit.jobs) {
      const job = jobs.place({ ...memoryJob(moved, now, this.#occurrenceOf(moved)), links: this.#linksOf(moved) })
      if (job.links !== null) {
        trees.add(job, job.links)
        for (const edge of job.links.edges.all) if (edge.end === null) edges.add(edge)
      }
      this.#parts.logs.restore(job, moved.log)
      for (const key of moved.onceKeys) once.hold(key, job)
      if (moved.holdsLastingKey) jobs.uniqueKeys.take(job, now)
    }
    for (const { root, state, jobs: count } of unit.gone) trees.addGone(root, state, count)
  }

  #linksOf({ id, links }: MovedJob): StoredLinks | null {
    return links === null ? null : memoryLinks(id, links)
  }

  #occurrenceOf({ id, schedule, occurrence, runAt }: MovedJob): StoredOccurrence | null {
    if (schedule === null) return null
    if (occurrence === null) return new StoredOccurrence({ schedule, at: runAt, jobId: id, storedAt: 0 })
    const timeline = this.#parts.schedules.timeline(schedule)
    const known = timeline.at(occurrence.at) ?? timeline.add(occurrence.at, id, occurrence.storedAt)
    known.restore(occurrence)
    return known
  }

  #unitOf(members: readonly StoredJob[]): MovedUnit {
    const roots = new Set(members.flatMap(({ links }) => links?.root ?? []))
    return {
      jobs: members.map((job) => this.#moved(job)),
      gone: [...roots].flatMap((root) => goneOf(root, this.#parts.trees.gone(root))),
    }
  }

  #moved(job: StoredJob): MovedJob {
    const { jobs, once, schedules } = this.#parts
    const { occurrence, keyIndex, envelope } = job
    const known = occurrence === null ? undefined : schedules.timeline(occurrence.schedule).at(occurrence.at)
    const lasting = jobs.uniqueKeys.lastingOf(keyIndex)
    return movedJob(job, {
      onceKeys: once.heldBy(job),
      holdsLastingKey: lasting?.jobId === envelope.id,
      log: this.#parts.logs.of(job),
      occurrence: known === occurrence ? occurrence : null,
    })
  }

  /** All that a job is tied to, by its workflow or because one waits for another that has not ended. */
  #component(first: StoredJob): readonly StoredJob[] {
    const { jobs, edges, trees } = this.#parts
    const members = new Set([first])
    for (const { envelope, links } of members) {
      if (links !== null) for (const member of trees.members(links.root)) members.add(member)
      const targets = links?.edges.all.filter(({ end }) => end === null).map(({ id }) => id) ?? []
      const waiters = [...edges.on(envelope.id)].map(({ waiterId }) => waiterId)
      for (const id of [...targets, ...waiters]) {
        const tied = jobs.get(id)
        if (tied !== undefined) members.add(tied)
      }
    }
    return [...members]
  }
}
