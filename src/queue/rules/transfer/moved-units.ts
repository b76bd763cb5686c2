import { isFinal } from '../../contract/job-state.ts'
import type { PlacedLogChunk } from '../../contract/stores/log-store.ts'
import type { MovedJob, MovedUnit, PageRequest, Refusal } from '../../contract/transfer.ts'
import { unscopedKey } from '../../model/unique-key.ts'
import type { StoredJob } from '../jobs/job.ts'
import type { Jobs } from '../jobs/jobs.ts'
import type { OnceKeys } from '../keys/once-keys.ts'
import type { Schedules } from '../schedules/schedules.ts'
import { StoredOccurrence } from '../schedules/timeline.ts'
import type { Edges } from '../workflows/edges.ts'
import type { StoredLinks } from '../workflows/links.ts'
import type { Trees } from '../workflows/trees.ts'
import { goneOf, heldByState, jobsOf, lastingKey, movedJob, placedJob, placedLinks } from './moved-jobs.ts'

/** The logs that travel with jobs. */
export interface MovedLogs {
  of(job: StoredJob): readonly PlacedLogChunk[]
  restore(job: StoredJob, chunks: readonly PlacedLogChunk[]): void
}

export interface MovedUnitsParts {
  readonly jobs: Jobs
  readonly edges: Edges
  readonly trees: Trees
  readonly once: OnceKeys
  readonly schedules: Schedules
  readonly logs: MovedLogs
}

/** Expiry of keys that are held for jobs in a parcel. */
export const reservedUntil = 8e15

/** Jobs as they leave and arrive. */
export class MovedUnits {
  readonly #parts: MovedUnitsParts

  constructor(parts: MovedUnitsParts) {
    this.#parts = parts
  }

  /** Whether to move this job: not if it is running, was created too late, or belongs to another queue than the requested one. */
  isMeant({ envelope, state }: StoredJob, { queue, createdBefore }: Pick<PageRequest, 'queue' | 'createdBefore'>): boolean {
    return state !== 'running' && (queue === null || envelope.queue === queue) && envelope.createdAt <= createdBefore
  }

  /**
   * Whether a reader has seen these jobs on an earlier page: on the one of the first of them. A job that is taken out is on no
   * later page anyway.
   */
  wasShown(members: readonly StoredJob[], after: string, request: PageRequest): boolean {
    return members.some((job) => job.envelope.id <= after && this.isMeant(job, request))
  }

  /** The jobs' unique keys stay held until the parcel has arrived. */
  takeOut(units: readonly MovedUnit[]): void {
    const { jobs, edges, trees, once } = this.#parts
    for (const moved of jobsOf(units)) {
      const job = jobs.get(moved.id) as StoredJob
      once.release(job)
      jobs.takeOut(job)
      for (const edge of job.links?.edges.all ?? []) if (edge.end === null) edges.remove(edge)
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

  /** Why this queue cannot take a job; null if it can. */
  refusalOf(job: MovedJob, now: number): string | null {
    const { jobs } = this.#parts
    const { id, number } = job
    if (jobs.get(id) !== undefined) return `job ${id} already exists`
    const namesake = number === null ? undefined : jobs.byNumber(number)
    if (namesake !== undefined) return `job ${namesake.envelope.id} has its number, ${number}`
    const holder = [heldByState(job), lastingKey(job)]
      .map((index) => jobs.uniqueKeys.holderOf(index, now))
      .find((each) => each !== undefined && each !== id)
    if (holder !== undefined) return `job ${holder} holds its unique key ${JSON.stringify(unscopedKey(job.uniqueKey as string))}`
    const isMore = job.startedAt !== null || isFinal(job.state)
    return this.isRepeated(job) && isMore ? `another job is already this run of "${job.occurrence?.schedule}"` : null
  }

  /** Whether the queue has another job for the same run of a schedule. */
  isRepeated({ id, occurrence }: MovedJob): boolean {
    if (occurrence === null) return false
    const known = this.#parts.schedules.timeline(occurrence.schedule).at(occurrence.at)
    return known !== undefined && known.jobId !== id
  }

  /** Stores all units that this queue can take, and returns the others. */
  placeAll(units: readonly MovedUnit[], now: number): readonly Refusal[] {
    const refusals: Refusal[] = []
    for (const unit of units) {
      const [first] = unit.jobs
      const why = unit.jobs.map((job) => this.refusalOf(job, now)).find((each) => each !== null)
      if (first === undefined) continue
      if (why != null) refusals.push({ id: first.id, jobs: unit.jobs.length, why })
      else if (unit.jobs.length > 1 || !this.isRepeated(first)) this.#place(unit, now)
    }
    return refusals
  }

  /** Stores units that come back. If a job was sent again with the same id in the meantime, that one stays instead. */
  takeBack(units: readonly MovedUnit[], now: number): void {
    for (const unit of units) if (unit.jobs.every(({ id }) => this.#parts.jobs.get(id) === undefined)) this.#place(unit, now)
  }

  #place(unit: MovedUnit, now: number): void {
    const { jobs, edges, trees, once } = this.#parts
    for (const moved of unit.jobs) {
      const job = jobs.place({ ...placedJob(moved, now, this.#occurrenceOf(moved)), links: this.#linksOf(moved) })
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
    return links === null ? null : placedLinks(id, links)
  }

  #occurrenceOf({ id, schedule, occurrence, runAt }: MovedJob): StoredOccurrence | null {
    if (schedule === null) return null
    if (occurrence === null) return new StoredOccurrence({ schedule, at: runAt, jobId: id, storedAt: 0 })
    const timeline = this.#parts.schedules.timeline(schedule)
    const known = timeline.at(occurrence.at) ?? timeline.add(occurrence.at, id, occurrence.storedAt)
    known.restore(occurrence)
    return known
  }

  /** The jobs that must leave together; null while one of them is running. */
  unitOf(members: readonly StoredJob[]): MovedUnit | null {
    if (members.some(({ state }) => state === 'running')) return null
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

  /** All jobs tied to this one, by its workflow or because one waits for another that has not ended. */
  componentOf(first: StoredJob): readonly StoredJob[] {
    const { jobs, edges, trees } = this.#parts
    const members = new Set([first])
    const roots = new Set<string>()
    for (const { envelope, links } of members) {
      if (links !== null && !roots.has(links.root)) {
        roots.add(links.root)
        for (const member of trees.members(links.root)) members.add(member)
      }
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
