import type { ClaimableJob, LeaseRequest } from '../contract.ts'
import { Heap } from '../heap.ts'
import type { Connection } from './connection.ts'
import type { SqliteStatement } from './driver.ts'
import { LaneReader, type Pick, type ReadLane, runsFirst } from './lane-reader.ts'
import type { Lane, Lanes } from './lanes.ts'
import { stateNumber } from './schema.ts'
import { Slots } from './slots.ts'
import { writeToken } from './token.ts'

/** The jobs that it is about stand in one text: thousands of objects are slow to cross into the database's thread. */
export interface FlatRequest extends Omit<LeaseRequest, 'jobs'> {
  readonly jobs: string
}

export function flattenJobs(jobs: readonly ClaimableJob[]): string {
  return JSON.stringify(jobs.map(({ job, concurrency }) => [job, concurrency]))
}

/** Up to so many lanes, or one for each job that is wanted, are each looked into; of more, only those whose first jobs are the best. */
const fewLanes = 16
/** To read one job costs little less than to read so many. */
const leastRead = 8

/** When to look again, and which of the owner's leases are to end. */
export interface Outlook {
  readonly nextAt: number | null
  readonly cancelled: readonly string[]
}

interface OutlookRow {
  readonly dueAt: number | null
  readonly expiresAt: number | null
  readonly cancelling: string
}

/** The rows as the JSON text that SQLite made of them, and the lanes that they stand in. */
export interface ClaimedRows {
  readonly rows: string
  readonly lanes: readonly Lane[]
}

/** seq, lane, id, identity, payload, signature, unique key, until when it is held, created at, run at, attempt. */
export type ClaimedRow = readonly [
  number,
  number,
  string,
  string,
  string,
  string | null,
  string | null,
  number | null,
  number,
  number,
  number,
]

/** Finds the best ready jobs and gives them to an owner. */
export class Claiming {
  readonly #lanes: Lanes
  readonly #first: SqliteStatement
  readonly #best: SqliteStatement
  readonly #fetch: SqliteStatement
  readonly #take: SqliteStatement
  readonly #outlook: SqliteStatement
  #asked = { jobs: '[]', limits: new Map<string, number | null>() }

  constructor(connection: Connection, lanes: Lanes) {
    this.#lanes = lanes
    // A bare parameter as the limit would have SQLite compile the statement anew at each call, to plan for its value.
    this.#first = connection.prepare(
      `SELECT json_group_array(json_array(run_at, seq)) AS picks FROM (
         SELECT run_at, seq FROM treadle_jobs WHERE lane = ? AND state = 0 ORDER BY run_at, seq LIMIT ? + 0 OFFSET ? + 0)`,
    )
    this.#best = connection.prepare(
      `SELECT json_group_array(place) AS places FROM (
         SELECT lanes.key AS place FROM json_each(?) AS lanes CROSS JOIN treadle_jobs ON seq = (
           SELECT seq FROM treadle_jobs WHERE lane = lanes.value AND state = 0 ORDER BY run_at, seq LIMIT 1)
         ORDER BY run_at, seq LIMIT ? + 0)`,
    )
    this.#fetch = connection.prepare(
      `SELECT json_group_array(json_array(seq, lane, treadle_jobs.id, identity, payload, signature, unique_key, unique_until, created_at, run_at, attempts + 1)) AS rows
       FROM json_each(?) AS picked CROSS JOIN treadle_jobs ON seq = picked.value`,
    )
    this.#take = connection.prepare(
      `UPDATE treadle_jobs SET state = 3, token = ?1, owner = ?2, lease_until = ?3, started_at = ?4, attempts = attempts + 1
       WHERE seq IN (SELECT value FROM json_each(?5))`,
    )
    this.#outlook = connection.prepare(
      `SELECT
         (SELECT min(run_at) FROM treadle_jobs WHERE state = 1) AS dueAt,
         (SELECT min(lease_until) FROM treadle_jobs WHERE state = 3) AS expiresAt,
         (SELECT json_group_array(json_array(seq, lane, token)) FROM treadle_jobs WHERE cancel = 1 AND owner = ?) AS cancelling`,
    )
  }

  /** What the owner must know beside the jobs that it gets. */
  outlook(owner: string): Outlook {
    const { dueAt, expiresAt, cancelling } = this.#outlook.get(owner) as OutlookRow
    const cancelled = (JSON.parse(cancelling) as [number, number, string][]).map((token) => writeToken(...token))
    return { nextAt: earlier(dueAt, expiresAt), cancelled }
  }

  /** The lanes with jobs that this request may claim. */
  open(request: FlatRequest): readonly Lane[] {
    if (request.limit === 0) return []
    const limits = this.#limitsOf(request)
    const queues = request.queues === null ? null : new Set(request.queues)
    return this.#lanes.ready().filter(({ job, queue }) => limits.has(job) && (queues === null || queues.has(queue)))
  }

  claim(request: FlatRequest, lanes: readonly Lane[], claim: string, now: number): ClaimedRows {
    const picks = this.#pick(request, lanes)
    const rows = picks.length > 0 ? this.#give(picks, request, claim, now) : '[]'
    return { rows, lanes: [...new Set(picks.map((pick) => pick.lane))] }
  }

  #give(picks: readonly Pick[], request: FlatRequest, claim: string, now: number): string {
    const seqs = JSON.stringify(picks.map((pick) => pick.seq))
    const { rows } = this.#fetch.get(seqs) as { rows: string }
    this.#take.run(claim, request.owner, now + request.leaseMs, now, seqs)
    for (const pick of picks) this.#lanes.move(pick.lane.lane, stateNumber.ready, stateNumber.running)
    return rows
  }

  /** Lane after lane by priority; lanes of the same priority are merged by the time at which their jobs were due. */
  #pick(request: FlatRequest, lanes: readonly Lane[]): readonly Pick[] {
    const slots = new Slots(this.#limitsOf(request), lanes, (job) => this.#lanes.runningOf(job))
    const picks: Pick[] = []
    for (let from = 0; from < lanes.length && picks.length < request.limit; ) {
      const to = endOfPriority(lanes, from)
      const limit = request.limit - picks.length
      picks.push(...this.#merge(this.#winners(lanes.slice(from, to), limit, slots), limit, slots))
      from = to
    }
    return picks
  }

  #merge(lanes: readonly Lane[], limit: number, slots: Slots): readonly Pick[] {
    const partSize = Math.max(leastRead, Math.ceil(limit / lanes.length))
    const readers = new Heap(runsFirst)
    for (const lane of lanes) {
      const reader = new LaneReader(lane, this.#read, partSize, Math.min(limit, slots.free(lane.job)))
      if (reader.head !== undefined) readers.add(reader)
    }
    const picks: Pick[] = []
    for (let best = readers.peek(); best !== undefined && picks.length < limit; best = readers.peek()) {
      const pick = best.head as Pick
      readers.remove(best)
      if (!slots.take(pick.lane.job)) continue
      picks.push(pick)
      best.advance()
      if (best.head !== undefined) readers.add(best)
    }
    return picks
  }

  /**
   * Of many lanes, those that a claim can get something from. Where the first jobs of so many lanes as the claim wants jobs may
   * all start, nothing that comes after them can be among the best.
   */
  #winners(lanes: readonly Lane[], limit: number, slots: Slots): readonly Lane[] {
    if (lanes.length <= Math.max(fewLanes, limit)) return lanes
    const best = withSlots(this.#bestOf(lanes, limit), slots)
    return best.length === limit ? best : withSlots(this.#bestOf(lanes, lanes.length), slots).slice(0, limit)
  }

  /** In the order of their first jobs. */
  #bestOf(lanes: readonly Lane[], count: number): readonly Lane[] {
    const { places } = this.#best.get(JSON.stringify(lanes.map(({ lane }) => lane)), count) as { places: string }
    return (JSON.parse(places) as number[]).map((place) => lanes[place] as Lane)
  }

  readonly #read: ReadLane = (lane, count, after) => {
    const { picks } = this.#first.get(lane.lane, count, after) as { picks: string }
    return (JSON.parse(picks) as [number, number][]).map(([runAt, seq]) => ({ seq, runAt, lane }))
  }

  /** By the jobs that it asks for; null where there is none. */
  #limitsOf({ jobs }: FlatRequest): ReadonlyMap<string, number | null> {
    if (this.#asked.jobs !== jobs) this.#asked = { jobs, limits: new Map(JSON.parse(jobs) as [string, number | null][]) }
    return this.#asked.limits
  }
}

export function earlier(a: number | null, b: number | null): number | null {
  return a === null || (b !== null && b < a) ? b : a
}

function endOfPriority(lanes: readonly Lane[], from: number): number {
  const priority = lanes[from]?.priority
  let to = from + 1
  while (lanes[to]?.priority === priority) to++
  return to
}

/** Those whose first jobs may all start together. */
function withSlots(lanes: readonly Lane[], slots: Slots): readonly Lane[] {
  const reserved = new Map<string, number>()
  return lanes.filter(({ job }) => {
    const taken = reserved.get(job) ?? 0
    reserved.set(job, taken + 1)
    return taken < slots.free(job)
  })
}
