import { type JobState, jobStates, zeroCounts } from '../job-state.ts'
import type { HeldLease, JobCount, JobFilter, JobRecord } from '../store.ts'
import type { Counts } from './counts.ts'
import { chosenLanes } from './lane-choice.ts'
import type { Lanes } from './lanes.ts'
import { type HeldRow, heldColumns, heldLeaseOf, type RecordRow, recordColumns, recordOf } from './record.ts'
import type { SqlDatabase, SqlValue } from './session.ts'
import { isRunning, stateNumber } from './tables.ts'
import { isJobId } from './token.ts'

const columns = `${recordColumns.map((column) => `{jobs}.${column}`).join(', ')}, links.parent, links.root`
const links = 'LEFT JOIN {links} AS links ON links.id = {jobs}.id'

// Up to this many jobs it is cheaper to find them by their state and sort them than to walk all rows from the newest.
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

  async get(id: string): Promise<JobRecord | null> {
    if (!isJobId(id)) return null
    const [record] = await this.#records(`SELECT ${columns} FROM {jobs} ${links} WHERE {jobs}.id = ?`, [id])
    return record ?? null
  }

  /** From the newest on, or, where those that are meant are few, all of them and then the newest. */
  async list(filter: JobFilter): Promise<readonly JobRecord[]> {
    const { state, group, root, before, limit } = filter
    const lanes = await chosenLanes(this.#parts.lanes, filter)
    if (lanes?.length === 0 || (before !== undefined && !isJobId(before))) return []
    const conditions: string[] = []
    const values: SqlValue[] = []
    const where = (condition: string, value: SqlValue | undefined | null) => {
      if (value === undefined || value === null) return
      conditions.push(condition)
      values.push(value)
    }
    where('{jobs}.id IN (SELECT id FROM {links} WHERE root = ?)', root)
    where('{jobs}.lane IN (?)', lanes)
    where('{jobs}.grp = ?', group)
    where('{jobs}.id < ?', before)
    const isRare = root === undefined && state !== undefined && (await this.#countOf(state, lanes)) <= sortedAtMost
    const { from, is } = isRare ? this.#inState(state) : { from: root === undefined ? '{jobs by PRIMARY}' : '{jobs}', is: null }
    if (state !== undefined) conditions.push(is ?? `{jobs}.state + 0 = ${stateNumber[state]}`)
    const meant = conditions.length === 0 ? '' : `WHERE ${conditions.join(' AND ')}`
    const order = isRare || root !== undefined ? sorted : '{jobs}.id'
    return this.#records(`SELECT ${columns} FROM ${from} ${links} ${meant} ORDER BY ${order} DESC LIMIT ?`, [...values, limit])
  }

  async jobCounts(): Promise<readonly JobCount[]> {
    const { database, lanes, counts } = this.#parts
    const rows = await counts.all()
    const places = await lanes.numbered(
      database,
      rows.map(({ lane }) => lane),
    )
    const byJob = new Map<string, JobCount & { readonly counts: Record<JobState, number> }>()
    for (const [index, { queue, job }] of places.entries()) {
      const { state, jobs } = rows[index] as (typeof rows)[number]
      const key = `${queue}\n${job}`
      const entry = byJob.get(key) ?? { queue, job, counts: zeroCounts() }
      entry.counts[jobStates[state] as JobState] += jobs
      byJob.set(key, entry)
    }
    return [...byJob.values()]
  }

  /** The order of the claims is that of their times, and within one claim the order in which it chose. */
  async leases(owners: readonly string[]): Promise<readonly HeldLease[]> {
    const { from, is } = this.#parts.database.dialect.inState(stateNumber.running)
    return this.#leases(`${from} WHERE ${is} AND owner IN (?)`, owners)
  }

  async leasesOf(ids: readonly string[]): Promise<readonly HeldLease[]> {
    return this.#leases(`{jobs by PRIMARY} WHERE id IN (?) AND ${isRunning}`, ids.filter(isJobId))
  }

  async #leases(which: string, values: readonly string[]): Promise<readonly HeldLease[]> {
    if (values.length === 0) return []
    const { database, lanes } = this.#parts
    const rows = await database.all<HeldRow>(`SELECT ${heldColumns.join(', ')} FROM ${which}`, [values])
    await lanes.numbered(
      database,
      rows.map(({ lane }) => lane),
    )
    const priorityOf = ({ lane }: HeldRow) => lanes.get(lane).priority
    const byChoice = (a: HeldRow, b: HeldRow) =>
      a.started_at - b.started_at || priorityOf(b) - priorityOf(a) || a.run_at - b.run_at || (a.id < b.id ? -1 : 1)
    return rows.sort(byChoice).map((row) => heldLeaseOf(row, lanes.get(row.lane)))
  }

  async #countOf(state: JobState, lanes: readonly number[] | null): Promise<number> {
    const meant = lanes === null ? null : new Set(lanes)
    const rows = await this.#parts.counts.all()
    const counted = rows.filter((row) => row.state === stateNumber[state] && (meant === null || meant.has(row.lane)))
    return counted.reduce((sum, { jobs }) => sum + jobs, 0)
  }

  /** Those that wait for others are found among the links: not every engine has an index of them. */
  #inState(state: JobState): { readonly from: string; readonly is: string } {
    const { from, is } = this.#parts.database.dialect.inState(stateNumber[state])
    if (state !== 'blocked') return { from, is }
    return { from, is: `${is} AND {jobs}.id IN (SELECT id FROM {links} WHERE gives_up_at IS NOT NULL)` }
  }

  async #records(sql: string, values: readonly SqlValue[]): Promise<readonly JobRecord[]> {
    const { database, lanes } = this.#parts
    const rows = await database.all<RecordRow>(sql, values)
    await lanes.numbered(
      database,
      rows.map(({ lane }) => lane),
    )
    return rows.map((row) => recordOf(row, lanes.get(row.lane)))
  }
}

/** By something that is in no index, or a planner might walk all rows to find these few in their order. */
const sorted = "CONCAT({jobs}.id, '')"
