import { type Steps, wait } from '../../../core/answer.ts'
import type { JobState } from '../../../queue/contract/job-state.ts'
import type { JobFilter, JobRecord } from '../../../queue/contract/store.ts'
import { refuseWrongLimit } from '../../../queue/model/list-limit.ts'
import type { Counts } from '../lanes/counts.ts'
import { allLanesOf, type ChosenLanes, chosenLanes, mostLanesRead } from '../lanes/lane-choice.ts'
import { isJobId } from '../rows/lease-token.ts'
import { stateNumber } from '../rows/tables.ts'
import type { SqlDatabase, SqlValue } from '../session.ts'
import { isMember, mostParts, partsOf, sorted, sumOf } from './list-parts.ts'

// Up to this many jobs, it is cheaper to find them by state and sort them than to merge the lanes that they are in.
const sortedAtMost = 10_000
/** If many lanes match, or many jobs have to be sorted, the newest jobs are read first: most lists end among them. */
const newestRead = 2_000

export interface ListingParts {
  readonly database: SqlDatabase
  readonly counts: Counts
  /** Reads `{jobs}` from these tables. */
  readonly records: (from: string, rest: string, values: readonly SqlValue[]) => Steps<readonly JobRecord[]>
}

/**
 * Lists jobs, newest first. Every list is read in the order of an index that has few other jobs: by id; by tag; by workflow; by
 * lane and state; or by group and lane. A list of several lanes or states merges the newest jobs of each.
 */
export class Listing {
  readonly #parts: ListingParts

  constructor(parts: ListingParts) {
    this.#parts = parts
  }

  *list(filter: JobFilter): Steps<readonly JobRecord[]> {
    refuseWrongLimit(filter, 'list()')
    const { state, root, tag, isLinked, before } = filter
    if (before !== undefined && !isJobId(before)) return []
    const lanes = yield* chosenLanes(this.#parts.database, filter)
    if (lanes?.numbers?.length === 0) return []
    if (root !== undefined) return yield* this.#ofWorkflow(filter, lanes)
    if (tag !== undefined) return yield* this.#tagged(filter, lanes)
    if (lanes !== null) return yield* this.#ofLanes(filter, lanes)
    if (state !== undefined) return yield* this.#inState(filter, state)
    return yield* isLinked === true ? this.#linked(filter) : this.#newest(filter, null, null)
  }

  /** The members of one workflow are read and sorted. */
  #ofWorkflow(filter: JobFilter, lanes: ChosenLanes | null): Steps<readonly JobRecord[]> {
    const where = conditions(filter, lanes)
    where.add('{jobs}.id IN (SELECT id FROM {links} WHERE root = ?)', filter.root)
    where.add('EXISTS (SELECT 1 FROM {tags} AS tagged WHERE tagged.tag = ? AND tagged.job_id = {jobs}.id)', filter.tag)
    where.add('{jobs}.id < ?', filter.before)
    return this.#records('{jobs}', where, sorted, filter.limit)
  }

  #tagged(filter: JobFilter, lanes: ChosenLanes | null): Steps<readonly JobRecord[]> {
    const where = conditions(filter, lanes)
    where.add('tagged.tag = ?', filter.tag)
    where.add('tagged.job_id < ?', filter.before)
    where.add('{jobs}.id = tagged.job_id')
    return this.#records(startingWith('{tags} AS tagged'), where, 'tagged.job_id', filter.limit)
  }

  #linked(filter: JobFilter): Steps<readonly JobRecord[]> {
    const where = conditions(filter, null)
    where.add('members.id < ?', filter.before)
    where.add('{jobs}.id = members.id')
    return this.#records(startingWith('{links} AS members'), where, 'members.id', filter.limit)
  }

  /** Reads jobs in order of their ids, down to `floor` if it is given. */
  #newest(filter: JobFilter, lanes: ChosenLanes | null, floor: string | null): Steps<readonly JobRecord[]> {
    const where = conditions(filter, lanes)
    where.add('{jobs}.id < ?', filter.before)
    where.add('{jobs}.id >= ?', floor ?? undefined)
    return this.#records('{jobs by PRIMARY}', where, '{jobs}.id', filter.limit)
  }

  *#ofLanes(filter: JobFilter, lanes: ChosenLanes): Steps<readonly JobRecord[]> {
    const { counts } = this.#parts
    if (lanes.numbers === null) return yield* this.#newestFirst(filter, lanes, () => allLanesOf(this.#parts.database, filter))
    const { numbers } = lanes
    const isAnyReady = filter.group === undefined && (filter.state === undefined || filter.state === 'ready')
    const counted = isAnyReady ? yield* wait(counts.of(numbers)) : []
    const ready = sumOf(counted, stateNumber.ready)
    if (filter.state === 'ready' && isAnyReady && ready === 0) return []
    if (ready <= sortedAtMost) return yield* this.#merged(filter, numbers)
    return yield* this.#newestFirst(filter, lanes, numbers)
  }

  *#inState(filter: JobFilter, state: JobState): Steps<readonly JobRecord[]> {
    const { counts } = this.#parts
    const count = sumOf(yield* wait(counts.together()), stateNumber[state])
    if (count === 0) return []
    if (count <= sortedAtMost) return yield* this.#sortedInState(filter, state)
    return yield* this.#newestFirst(filter, null, () => this.#lanesIn(state))
  }

  /** The lanes with jobs in this state; null if there are too many to read each of them. */
  *#lanesIn(state: JobState): Steps<readonly number[] | null> {
    const found = yield* wait(this.#parts.counts.lanesIn(stateNumber[state], mostLanesRead + 1))
    return found.length > mostLanesRead ? null : found.map(({ lane }) => lane)
  }

  /** Jobs that wait for others are found through the links, because not every engine has an index of them. */
  #sortedInState(filter: JobFilter, state: JobState): Steps<readonly JobRecord[]> {
    const { from, is } = this.#parts.database.dialect.inState(stateNumber[state])
    const where = conditions(filter.isLinked === true ? { isLinked: true } : {}, null)
    where.add(is)
    if (state === 'blocked') where.add('{jobs}.id IN (SELECT id FROM {links} WHERE gives_up_at IS NOT NULL)')
    where.add('{jobs}.id < ?', filter.before)
    return this.#records(from, where, sorted, filter.limit)
  }

  /** Reads the newest jobs of all, and only then lane by lane. If there are too many lanes for that, all jobs are read. */
  *#newestFirst(
    filter: JobFilter,
    lanes: ChosenLanes | null,
    numbersOf: readonly number[] | (() => Steps<readonly number[] | null>),
  ): Steps<readonly JobRecord[]> {
    const floor = yield* this.#floor(filter.before)
    const recent = yield* this.#newest(filter, lanes, floor)
    if (floor === null || recent.length === filter.limit) return recent
    const rest = { ...filter, before: floor, limit: filter.limit - recent.length }
    const numbers = typeof numbersOf === 'function' ? yield* numbersOf() : numbersOf
    const older = yield* numbers === null ? this.#newest(rest, lanes, null) : this.#merged(rest, numbers)
    return [...recent, ...older]
  }

  /** The id down to which the newest jobs are read; null if there are no older ones. */
  *#floor(before: string | undefined): Steps<string | null> {
    const [older, values] = before === undefined ? ['', []] : ['WHERE id < ?', [before]]
    const sql = `SELECT id FROM {jobs by PRIMARY} ${older} ORDER BY id DESC LIMIT 1 OFFSET ${newestRead - 1}`
    const [row] = yield* wait(this.#parts.database.all<{ id: string }>(sql, values))
    return row?.id ?? null
  }

  /** The newest jobs of these lanes. Jobs older than the oldest of those already found are not read again. */
  *#merged(filter: JobFilter, lanes: readonly number[]): Steps<readonly JobRecord[]> {
    const { database, records } = this.#parts
    let best: readonly JobRecord[] = []
    const parts = partsOf(database.dialect, filter, lanes)
    for (let from = 0; from < parts.length; from += mostParts) {
      const some = parts.slice(from, from + mostParts)
      const after = best.length === filter.limit ? best.at(-1)?.id : undefined
      const [range, bounds] = rangeOf(filter.before, after)
      const selects = some.map(({ table, is, order }) => {
        const select = `SELECT {jobs}.id FROM ${table} WHERE ${is}${range} ORDER BY ${order} DESC LIMIT ?`
        return `SELECT id FROM (${select}) AS part`
      })
      const values = some.flatMap((part) => [...part.values, ...bounds, filter.limit])
      const newest = `SELECT id FROM (${selects.join(' UNION ALL ')}) AS parts ORDER BY id DESC LIMIT ?`
      const found = yield* records(startingWith(`(${newest}) AS found`), 'WHERE {jobs}.id = found.id ORDER BY found.id DESC', [
        ...values,
        filter.limit,
      ])
      best = [...best, ...found].sort(newestFirst).slice(0, filter.limit)
    }
    return best
  }

  #records(from: string, where: Conditions, order: string, limit: number): Steps<readonly JobRecord[]> {
    return this.#parts.records(from, `${where.text} ORDER BY ${order} DESC LIMIT ?`, [...where.values, limit])
  }
}

/** A cross join, so that no planner begins with all jobs, as SQLite does for a table that it has no statistics of. */
function startingWith(table: string): string {
  return `${table} CROSS JOIN {jobs by PRIMARY}`
}

/** Conditions on jobs, joined by AND. */
class Conditions {
  readonly #conditions: string[] = []
  readonly values: SqlValue[] = []

  /** Without a value, `undefined` leaves the condition out. */
  add(condition: string, ...values: readonly (SqlValue | undefined)[]): void {
    if (values.includes(undefined)) return
    this.#conditions.push(condition)
    this.values.push(...(values as readonly SqlValue[]))
  }

  get text(): string {
    return this.#conditions.length === 0 ? '' : `WHERE ${this.#conditions.join(' AND ')}`
  }
}

/** What is checked on each row. */
function conditions({ state, group, isLinked }: Partial<JobFilter>, lanes: ChosenLanes | null): Conditions {
  const where = new Conditions()
  if (lanes !== null) where.add(lanes.condition, ...lanes.values)
  where.add('{jobs}.grp = ?', group)
  if (isLinked === true) where.add(`{jobs}.linked = 1 AND ${isMember}`)
  if (state !== undefined) where.add(`{jobs}.state + 0 = ${stateNumber[state]}`)
  return where
}

function rangeOf(before: string | undefined, after: string | undefined): readonly [text: string, values: readonly string[]] {
  const bounds = [
    ...(before === undefined ? [] : [[' AND {jobs}.id < ?', before]]),
    ...(after === undefined ? [] : [[' AND {jobs}.id > ?', after]]),
  ]
  return [bounds.map(([text]) => text).join(''), bounds.map(([, value]) => value as string)]
}

function newestFirst(a: JobRecord, b: JobRecord): number {
  return a.id < b.id ? 1 : -1
}
