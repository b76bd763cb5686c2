import { type Steps, wait } from '../../../core/answer.ts'
import { type JobState, jobStates, zeroCounts } from '../../../queue/contract/job-state.ts'
import type { CountOptions, HeldLease, JobCount, JobFilter, JobRecord } from '../../../queue/contract/store.ts'
import type { ReadyPlace } from '../dialect.ts'
import type { Counts, NamedCount } from '../lanes/counts.ts'
import { type ChosenLanes, chosenLanes } from '../lanes/lane-choice.ts'
import { laneColumns, mayBeStored } from '../lanes/lane-numbers.ts'
import type { Lane, Lanes } from '../lanes/lanes.ts'
import { isJobId } from '../rows/lease-token.ts'
import { type HeldRow, heldColumns, heldLeaseOf, type RecordRow, recordColumns, recordOf } from '../rows/record.ts'
import { isRunning, stateNumber } from '../rows/tables.ts'
import type { SqlDatabase, SqlValue } from '../session.ts'

const columns = `${recordColumns.map((column) => `{jobs}.${column}`).join(', ')}, links.parent, links.root`
const links = 'LEFT JOIN {links} AS links ON links.id = {jobs}.id'

// Up to this many jobs, it is cheaper to find them by state and sort them than to scan all rows from the newest.
const sortedAtMost = 10_000

export interface LookingParts {
  readonly database: SqlDatabase
  readonly lanes: Lanes
  readonly counts: Counts
}

/** Reads jobs and counts. */
export class Looking {
  readonly #parts: LookingParts

  constructor(parts: LookingParts) {
    this.#parts = parts
  }

  *get(id: string): Steps<JobRecord | null> {
    if (!isJobId(id)) return null
    const [record] = yield* this.#records(`SELECT ${columns} FROM {jobs} ${links} WHERE {jobs}.id = ?`, [id])
    return record ?? null
  }

  /** Scans from the newest job, or, if few jobs match, reads all of those and sorts them. */
  *list(filter: JobFilter): Steps<readonly JobRecord[]> {
    const { state, group, root, isLinked, tag, before, limit } = filter
    const lanes = yield* chosenLanes(this.#parts.database, filter)
    if (lanes?.numbers?.length === 0 || (before !== undefined && !isJobId(before))) return []
    const isAny = root === undefined && tag === undefined
    const count = isAny && state !== undefined ? yield* this.#countOf(state, lanes) : null
    if (count === 0) return []
    const isRare = count !== null && state !== undefined && count <= sortedAtMost
    const byLane = isRare && isSought(state, isLinked) && lanes?.numbers != null ? this.#parts.database.dialect.byLane : null
    const conditions: string[] = []
    const values: SqlValue[] = []
    const where = (condition: string, value: SqlValue | undefined | null) => {
      if (value === undefined || value === null) return
      conditions.push(condition)
      values.push(value)
    }
    where('{jobs}.id IN (SELECT id FROM {links} WHERE root = ?)', root)
    where('tagged.tag = ?', tag)
    if (lanes !== null) {
      conditions.push(byLane === null ? lanes.condition : `${byLane.is} AND ${byLane.at} IN (?)`)
      values.push(...lanes.values)
    }
    where('{jobs}.grp = ?', group)
    where(tag === undefined ? '{jobs}.id < ?' : 'tagged.job_id < ?', before)
    if (isLinked === true) conditions.push('{jobs}.linked = 1')
    const whole = { from: isAny ? '{jobs by PRIMARY}' : '{jobs}', is: null }
    const { from, is } = isRare && byLane === null ? this.#inState(state) : { ...whole, ...(byLane && { from: byLane.from }) }
    if (state !== undefined) conditions.push(is ?? `{jobs}.state + 0 = ${stateNumber[state]}`)
    const meant = conditions.length === 0 ? '' : `WHERE ${conditions.join(' AND ')}`
    const order = isRare || root !== undefined ? sorted : tag === undefined ? '{jobs}.id' : 'tagged.job_id'
    const table = tag === undefined ? from : `{tags} AS tagged JOIN ${from} ON {jobs}.id = tagged.job_id`
    return yield* this.#records(`SELECT ${columns} FROM ${table} ${links} ${meant} ORDER BY ${order} DESC LIMIT ?`, [
      ...values,
      limit,
    ])
  }

  *jobCounts({ oldest = false, isSum = false, queue, job }: CountOptions): Steps<readonly JobCount[]> {
    if (isSum) return yield* this.#sum()
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
    const meant = new Map(lanes.filter((lane) => job === undefined || lane.job === job).map((lane) => [lane.lane, lane]))
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
      const at = firsts[index]?.[0]?.run_at
      if (at !== undefined) ages.set(key, Math.min(at, ages.get(key) ?? at))
    }
    return ages
  }

  /** Claims are ordered by time, and jobs within a claim by the order in which it chose them. */
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
    const rows = yield* wait(database.all<HeldRow>(`SELECT ${heldColumns.join(', ')} FROM ${which}`, [values]))
    yield* lanes.numbered(
      database,
      rows.map(({ lane }) => lane),
    )
    const priorityOf = ({ lane }: HeldRow) => lanes.get(lane).priority
    const byChoice = (a: HeldRow, b: HeldRow) =>
      a.started_at - b.started_at || priorityOf(b) - priorityOf(a) || a.run_at - b.run_at || (a.id < b.id ? -1 : 1)
    return rows.sort(byChoice).map((row) => heldLeaseOf(row, lanes.get(row.lane)))
  }

  /** An upper bound for the number of matching jobs. */
  *#countOf(state: JobState, lanes: ChosenLanes | null): Steps<number> {
    const { counts } = this.#parts
    const numbers = lanes?.numbers ?? null
    const rows = yield* wait(numbers === null ? counts.together() : counts.of(numbers))
    return rows.filter((row) => row.state === stateNumber[state]).reduce((sum, { jobs }) => sum + jobs, 0)
  }

  /** Jobs that wait for others are found through the links, because not every engine has an index of them. */
  #inState(state: JobState): { readonly from: string; readonly is: string } {
    const { from, is } = this.#parts.database.dialect.inState(stateNumber[state])
    if (state !== 'blocked') return { from, is }
    return { from, is: `${is} AND {jobs}.id IN (SELECT id FROM {links} WHERE gives_up_at IS NOT NULL)` }
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

/** Whether such jobs can be found by lane: see `isSoughtByLane`. */
function isSought(state: JobState, isLinked: true | undefined): boolean {
  return state !== 'ready' && state !== 'running' && (state !== 'succeeded' || isLinked === true)
}

/** An expression that no index contains: otherwise a planner might scan all rows to find these few in order. */
const sorted = "CONCAT({jobs}.id, '')"
