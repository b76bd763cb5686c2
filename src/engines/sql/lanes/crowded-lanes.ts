import { type Steps, wait } from '../../../core/answer.ts'
import type { LeaseRequest } from '../../../queue/contract/contract.ts'
import { keyRanges } from '../../../queue/rules/claiming/key-pattern.ts'
import { wantedTest } from '../../../queue/rules/claiming/wanted-jobs.ts'
import { isReadyIn } from '../dialect.ts'
import type { SqlDatabase, SqlValue } from '../session.ts'
import { crowdedFrom, isLaneNumber, type Lane, laneColumns, mayBeStored } from './lane-numbers.ts'
import type { Lanes } from './lanes.ts'
import { isUnpaused } from './outlook.ts'
import { limitedTest } from './ranked-lanes.ts'

/** Lanes that may be claimed from. */
export interface OpenCrowd {
  readonly lanes: readonly Lane[]
  /** Whether they hold everything that is ready for the claim. */
  readonly isAll: boolean
}

/** Maximum number of names to look up one by one, and of their lanes to check. */
const mostNames = 256
const fewLanes = 64
/** How many jobs to read in order to find the wanted ones, increasing from try to try. */
const pages = [20, 100, 1_000, 10_000] as const
/** Extra jobs to look for, in case other workers are claiming the first ones. */
const slack = 20
/** Maximum number of lanes to check if the wanted jobs come after more jobs than are read. */
const mostLanes = 1_000
/** With ageing, the first jobs of up to this many priorities are compared. */
const mostPriorities = 50

/**
 * Finds the crowded lanes that a claim has to check: those that contain its first jobs. A program may have a queue per customer
 * or a name per item, so the cost must not grow with their number. If only a few lanes can match, those are checked; otherwise
 * the ready jobs are read in order until enough wanted ones are found.
 */
export class CrowdedLanes {
  readonly #database: SqlDatabase
  readonly #lanes: Lanes
  /** Where the next check begins when there are too many lanes for one. */
  #cursor = 0

  constructor(database: SqlDatabase, lanes: Lanes) {
    this.#database = database
    this.#lanes = lanes
  }

  *open(request: LeaseRequest): Steps<OpenCrowd> {
    const isAgeing = (request.ageingMs ?? 0) > 0
    // Most jobs match the pattern of a worker that claims by pattern, so often the first ones are all it needs.
    const [needed, firstPage] = [this.#needed(request), pages[0]]
    const sizes = needed < firstPage ? [needed, firstPage] : [needed]
    const first = request.others == null || isAgeing ? null : yield* this.#inOrder(request, sizes)
    const few = first ?? (yield* this.#few(request))
    if (few !== null) return few
    const found = isAgeing ? yield* this.#ofPriorities(request) : yield* this.#inOrder(request, pages)
    return found ?? (yield* this.#some(request))
  }

  /** Null if more than a few lanes match, ready or not, or if finding out would take long. */
  *#few(request: LeaseRequest): Steps<OpenCrowd | null> {
    const named = namesOf(request)
    if (named === null) return null
    const { condition, values } = named
    const few = `SELECT ${laneColumns} FROM {lanes} WHERE ${condition} LIMIT ${fewLanes + 1}`
    const open = `CASE WHEN ${isUnpaused('few.lane')} THEN ${isReadyIn(this.#database.dialect, 'few.lane')} END AS is_open`
    const lanes = yield* wait(this.#database.all<FewRow>(`SELECT few.*, ${open} FROM (${few}) AS few`, values))
    if (lanes.length > fewLanes) return null
    return {
      lanes: this.#met(lanes.filter(({ lane, is_open }) => is_open === 1 && isLaneNumber(lane)).filter(wantedTest(request))),
      isAll: true,
    }
  }

  /** Null if too few of the jobs read are wanted. */
  *#inOrder(request: LeaseRequest, sizes: readonly number[]): Steps<OpenCrowd | null> {
    const [isWanted, isLimited] = [wantedTest(request), limitedTest(request)]
    const needed = this.#needed(request)
    for (const size of sizes) {
      if (size < needed) continue
      const lanes = yield* this.#page(size, null)
      const wanted = lanes.filter(isWanted)
      const enough = nth(wanted, needed, (lane) => !isLimited(lane))
      if (enough === null && lanes.length === size) continue
      const first = distinct(wanted.slice(0, enough ?? wanted.length))
      return {
        lanes: first.slice(0, mostLanes + needed),
        isAll: lanes.length < size && (enough ?? wanted.length) === wanted.length,
      }
    }
    return null
  }

  #needed({ limit }: LeaseRequest): number {
    return limit + (this.#database.dialect.isAlone === true ? 0 : slack)
  }

  /** With ageing, the very first job may have any priority. */
  *#ofPriorities(request: LeaseRequest): Steps<OpenCrowd | null> {
    const isWanted = wantedTest(request)
    const found: Lane[] = []
    const size = pages[1] + request.limit
    let rank = yield* this.#rankAfter(null)
    for (let round = 0; rank !== null && round < mostPriorities; round++) {
      const lanes = yield* this.#page(size, rank)
      const wanted = lanes.filter(isWanted)
      if (lanes.length === size && wanted.length < request.limit) return null
      found.push(...wanted)
      rank = yield* this.#rankAfter(rank)
    }
    return rank === null ? { lanes: distinct(found), isAll: false } : null
  }

  *#rankAfter(rank: number | null): Steps<number | null> {
    const { from, is, at } = this.#database.dialect.crowd
    const [after, values] = rank === null ? ['', []] : [` AND ${at} > ?`, [rank]]
    const first = `SELECT ${at} AS first_rank FROM ${from} WHERE ${is}${after} ORDER BY ${at} LIMIT 1`
    const [row] = yield* wait(this.#database.all<{ first_rank: number }>(first, values))
    return row?.first_rank ?? null
  }

  /** The lanes of the first ready jobs in queues that are not paused, one per job. */
  *#page(size: number, rank: number | null): Steps<readonly Lane[]> {
    const { from, is, at } = this.#database.dialect.crowd
    const [which, order] = rank === null ? [is, `${at}, run_at, id`] : [`${is} AND ${at} = ?`, 'run_at, id']
    const rows = yield* wait(
      this.#database.all<{ lane: number }>(
        `SELECT lane FROM ${from} WHERE ${which} AND ${isUnpaused('{jobs}.lane')} ORDER BY ${order} LIMIT ?`,
        rank === null ? [size] : [rank, size],
      ),
    )
    return yield* this.#lanes.numbered(
      this.#database,
      rows.map(({ lane }) => lane),
    )
  }

  /**
   * Some of the wanted lanes, different ones each time. Their order relative to the lanes left out is lost. None are returned only
   * if none of all lanes is wanted, so that a worker does not sleep beside ready jobs.
   */
  *#some(request: LeaseRequest): Steps<OpenCrowd> {
    const { condition, values } = namesOf(request) ?? anyName
    const isWanted = wantedTest(request)
    const isOpen = `${isReadyIn(this.#database.dialect, 'some_lanes.lane')} = 1 AND ${isUnpaused('some_lanes.lane')}`
    const some = `SELECT ${laneColumns} FROM {lanes} AS some_lanes WHERE ${condition} AND lane > ? AND ${isOpen} ORDER BY lane LIMIT ${mostLanes}`
    let after = this.#cursor
    let isFromStart = after === 0
    for (;;) {
      const lanes = yield* wait(this.#database.all<Lane>(some, [...values, after]))
      after = lanes.length < mostLanes ? 0 : (lanes.at(-1) as Lane).lane
      const wanted = lanes.filter(isWanted)
      const isEnd = after === 0 && isFromStart
      if (wanted.length > 0 || isEnd) {
        this.#cursor = after
        return { lanes: this.#met(wanted), isAll: wanted.length === 0 }
      }
      isFromStart ||= after === 0
    }
  }

  #met(lanes: readonly Lane[]): readonly Lane[] {
    this.#lanes.met(lanes)
    return lanes
  }
}

const anyName = { condition: `lane >= ${crowdedFrom}`, values: [] }

interface FewRow extends Lane {
  readonly is_open: number | null
}

/**
 * A condition for the crowded lanes with the wanted names, or with names that share their beginning; null if any name may match.
 */
function namesOf({
  jobs,
  others,
  queues,
}: LeaseRequest): { readonly condition: string; readonly values: readonly SqlValue[] } | null {
  const ranges = others == null ? [] : keyRanges(others)
  if (ranges === null || jobs.length > mostNames) return null
  const keys: string[] = []
  const values: SqlValue[] = []
  const names = jobs.map(({ job }) => job).filter(mayBeStored)
  if (names.length > 0) {
    keys.push('job IN (?)')
    values.push(names)
  }
  for (const { from, to } of ranges) {
    keys.push('job >= ? AND job < ?')
    values.push(from, to)
  }
  const conditions = [`lane >= ${crowdedFrom}`, keys.length === 0 ? '1 = 0' : `(${keys.join(' OR ')})`]
  const places = queues?.filter(mayBeStored)
  if (places !== undefined) {
    conditions.push(places.length === 0 ? '1 = 0' : 'queue IN (?)')
    if (places.length > 0) values.push(places)
  }
  return { condition: conditions.join(' AND '), values }
}

/** How many of the first lanes contain `count` that pass; null if fewer pass. */
function nth(lanes: readonly Lane[], count: number, passes: (lane: Lane) => boolean): number | null {
  let found = 0
  for (const [index, lane] of lanes.entries()) if (passes(lane) && ++found === count) return index + 1
  return null
}

function distinct(lanes: readonly Lane[]): readonly Lane[] {
  return [...new Map(lanes.map((lane) => [lane.lane, lane])).values()]
}
