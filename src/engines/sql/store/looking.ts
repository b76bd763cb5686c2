import { type Steps, wait } from '../../../core/answer.ts'
import { type JobState, jobStates, zeroCounts } from '../../../queue/contract/job-state.ts'
import { isOverall, summedCounts } from '../../../queue/contract/queue-counts.ts'
import type { CountOptions, HeldLease, JobCount, JobFilter, JobRecord } from '../../../queue/contract/store.ts'
import { readTime } from '../../../queue/model/spoilt.ts'
import { inClaimOrder } from '../../../queue/rules/claiming/claim-order.ts'
import type { ReadyPlace } from '../dialect.ts'
import type { Counts, NamedCount } from '../lanes/counts.ts'
import { isLaneNumber, laneColumns, mayBeStored } from '../lanes/lane-numbers.ts'
import type { Lane, Lanes } from '../lanes/lanes.ts'
import { isJobId } from '../rows/lease-token.ts'
import { type HeldRow, heldColumns, heldLeaseOf, type RecordRow, recordColumns, recordOf } from '../rows/record.ts'
import { isRunning, stateNumber } from '../rows/tables.ts'
import type { SqlDatabase, SqlValue } from '../session.ts'
import { Listing, type ListingParts } from './listing.ts'

const columns = `${recordColumns.map((column) => `{jobs}.${column}`).join(', ')}, links.parent, links.root`
const links = 'LEFT JOIN {links} AS links ON links.id = {jobs}.id'

export interface LookingParts {
  readonly database: SqlDatabase
  readonly lanes: Lanes
  readonly counts: Counts
}

/** Reads jobs and counts. */
export class Looking {
  readonly #parts: LookingParts
  readonly #listing: Listing

  constructor(parts: LookingParts) {
    this.#parts = parts
    const records: ListingParts['records'] = (...query) => this.#recordsFrom(...query)
    this.#listing = new Listing({ ...parts, records })
  }

  *get(id: string): Steps<JobRecord | null> {
    if (!isJobId(id)) return null
    const [record] = yield* this.#recordsFrom('{jobs}', 'WHERE {jobs}.id = ?', [id])
    return record ?? null
  }

  list(filter: JobFilter): Steps<readonly JobRecord[]> {
    return this.#listing.list(filter)
  }

  *jobCounts(options: CountOptions): Steps<readonly JobCount[]> {
    if (isOverall(options)) return yield* this.#sum()
    const counts = yield* this.#byPlace(options)
    return options.isSum === true ? [summedCounts(counts, options)] : counts
  }

  *#byPlace({ oldest = false, queue, job }: CountOptions): Steps<readonly JobCount[]> {
    const rows = queue === undefined && job === undefined ? yield* wait(this.#parts.counts.all()) : yield* this.#some(queue, job)
    const byJob = new Map<string, JobCount & { readonly counts: Record<JobState, number> }>()
    for (const { queue, job, state, jobs } of rows) {
      const key = `${queue}\n${job}`
      const entry = byJob.get(key) ?? { queue, job, counts: zeroCounts() }
      entry.counts[jobStates[state] as JobState] += jobs
      byJob.set(key, entry)
    }
    if (!oldest) return [...byJob.values()]
    const ages = yield* this.#oldestOf(rows.filter(({ state, jobs }) => state === stateNumber.ready && jobs > 0))
    return [...byJob].map(([key, count]) => ({ ...count, oldestReadyAt: ages.get(key) ?? null }))
  }

  *#sum(): Steps<readonly JobCount[]> {
    const counts = zeroCounts()
    for (const { state, jobs } of yield* wait(this.#parts.counts.together())) counts[jobStates[state] as JobState] += jobs
    return [{ queue: '', job: '', counts }]
  }

  /** Counts of one queue, of one job, or of one job in one queue. */
  *#some(queue: string | undefined, job: string | undefined): Steps<readonly NamedCount[]> {
    const { database, counts } = this.#parts
    if (![queue ?? '', job ?? ''].every(mayBeStored)) return []
    const [where, values] = queue === undefined ? ['job = ?', [job as string]] : ['queue = ?', [queue]]
    const lanes = yield* wait(database.all<Lane>(`SELECT ${laneColumns} FROM {lanes} WHERE ${where}`, values))
    const isMeant = (lane: Lane) => isLaneNumber(lane.lane) && (job === undefined || lane.job === job)
    const meant = new Map(lanes.filter(isMeant).map((lane) => [lane.lane, lane]))
    if (meant.size === 0) return []
    const found = yield* wait(counts.of([...meant.keys()]))
    return found.filter(({ jobs }) => jobs !== 0).map((count) => ({ ...(meant.get(count.lane) as Lane), ...count }))
  }

  /** By queue and job: one lookup in the index of ready jobs per lane, and per group for lanes with groups. */
  *#oldestOf(waiting: readonly NamedCount[]): Steps<ReadonlyMap<string, number>> {
    const { database } = this.#parts
    const named = new Map(waiting.map((lane) => [lane.lane, lane]))
    const grouped = waiting.filter((lane) => lane.grouped === 1).map(({ lane }) => lane)
    const inGroups = 'SELECT lane, grp FROM {groups} WHERE lane IN (?)'
    const groups = grouped.length === 0 ? [] : yield* wait(database.all<ReadyPlace>(inGroups, [grouped]))
    const places = [...waiting.filter((lane) => lane.grouped === 0).map(({ lane }) => ({ lane, grp: '' })), ...groups]
    const firsts = yield* wait(database.dialect.firstReady(database, places, 1))
    const ages = new Map<string, number>()
    for (const [index, { lane }] of places.entries()) {
      const { queue, job } = named.get(lane) as NamedCount
      const key = `${queue}\n${job}`
      const at = readTime(firsts[index]?.[0]?.run_at)
      if (at !== null) ages.set(key, Math.min(at, ages.get(key) ?? at))
    }
    return ages
  }

  leases(owners: readonly string[]): Steps<readonly HeldLease[]> {
    const { from, is } = this.#parts.database.dialect.inState(stateNumber.running)
    return this.#leases(`${from} WHERE ${is} AND owner IN (?)`, owners)
  }

  leasesOf(ids: readonly string[]): Steps<readonly HeldLease[]> {
    return this.#leases(`{jobs by PRIMARY} WHERE id IN (?) AND ${isRunning}`, ids.filter(isJobId))
  }

  *#leases(which: string, values: readonly string[]): Steps<readonly HeldLease[]> {
    if (values.length === 0) return []
    const { database, lanes } = this.#parts
    const found = yield* wait(database.all<HeldRow>(`SELECT ${heldColumns.join(', ')} FROM ${which}`, [values]))
    // Nobody holds a lease whose token somebody else has removed from the row. Such a job is rescued when its lease ends.
    const rows = found.filter(({ token }) => typeof token === 'string')
    yield* lanes.numbered(
      database,
      rows.map(({ lane }) => lane),
    )
    const claimed = ({ id, lane, started_at, run_at }: HeldRow) => {
      return { id, priority: lanes.get(lane).priority, claimedAt: started_at, runAt: run_at }
    }
    return rows.sort((a, b) => inClaimOrder(claimed(a), claimed(b))).map((row) => heldLeaseOf(row, lanes.get(row.lane)))
  }

  #recordsFrom(tables: string, rest: string, values: readonly SqlValue[]): Steps<readonly JobRecord[]> {
    return this.#records(`SELECT ${columns} FROM ${tables} ${links} ${rest}`, values)
  }

  *#records(sql: string, values: readonly SqlValue[]): Steps<readonly JobRecord[]> {
    const { database, lanes } = this.#parts
    const rows = yield* wait(database.all<RecordRow>(sql, values))
    const found = yield* lanes.there(
      database,
      rows.map(({ lane }) => lane),
    )
    return rows.map((row, index) => recordOf(row, found[index]))
  }
}
