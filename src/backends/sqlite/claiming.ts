import type { LeaseRequest } from '../contract.ts'
import type { Connection } from './connection.ts'
import type { SqliteStatement } from './driver.ts'
import type { Lane, Lanes, ReadyLane } from './lanes.ts'
import { stateNumber } from './schema.ts'
import { writeToken } from './token.ts'

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

/** seq, lane, id, identity, payload, signature, unique key, created at, run at, attempt. */
export type ClaimedRow = readonly [number, number, string, string, string, string | null, string | null, number, number, number]

interface Pick {
  readonly seq: number
  readonly runAt: number
  readonly lane: ReadyLane
}

/** Finds the best ready jobs and gives them to an owner. */
export class Claiming {
  readonly #lanes: Lanes
  readonly #first: SqliteStatement
  readonly #fetch: SqliteStatement
  readonly #take: SqliteStatement
  readonly #outlook: SqliteStatement

  constructor(connection: Connection, lanes: Lanes) {
    this.#lanes = lanes
    // A bare parameter as the limit would have SQLite compile the statement anew at each call, to plan for its value.
    this.#first = connection.prepare(
      `SELECT json_group_array(json_array(run_at, seq)) AS picks FROM (
         SELECT run_at, seq FROM treadle_jobs WHERE lane = ? AND state = 0 ORDER BY run_at, seq LIMIT ? + 0)`,
    )
    this.#fetch = connection.prepare(
      `SELECT json_group_array(json_array(seq, lane, treadle_jobs.id, identity, payload, signature, unique_key, created_at, run_at, attempts + 1)) AS rows
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
  open(request: LeaseRequest): readonly ReadyLane[] {
    if (request.limit === 0) return []
    const jobs = new Set(request.jobs.map(({ job }) => job))
    const queues = request.queues === null ? null : new Set(request.queues)
    return this.#lanes.ready().filter((lane) => jobs.has(lane.job) && (queues === null || queues.has(lane.queue)))
  }

  claim(request: LeaseRequest, lanes: readonly ReadyLane[], claim: string, now: number): ClaimedRows {
    const picks = this.#pick(request, lanes)
    const rows = picks.length > 0 ? this.#give(picks, request, claim, now) : '[]'
    return { rows, lanes: [...new Set(picks.map((pick) => pick.lane))] }
  }

  #give(picks: readonly Pick[], request: LeaseRequest, claim: string, now: number): string {
    const seqs = JSON.stringify(picks.map((pick) => pick.seq))
    const { rows } = this.#fetch.get(seqs) as { rows: string }
    this.#take.run(claim, request.owner, now + request.leaseMs, now, seqs)
    for (const pick of picks) this.#lanes.move(pick.lane.lane, stateNumber.ready, stateNumber.running)
    return rows
  }

  /** Lane after lane by priority; lanes of the same priority are merged by the time at which their jobs were due. */
  #pick(request: LeaseRequest, lanes: readonly ReadyLane[]): readonly Pick[] {
    const slots = this.#freeSlots(lanes, request)
    const picks: Pick[] = []
    for (let from = 0; from < lanes.length && picks.length < request.limit; ) {
      const to = endOfPriority(lanes, from)
      const best = lanes.slice(from, to).flatMap((lane) => this.#head(lane, request.limit - picks.length, slots))
      if (to - from > 1) best.sort((a, b) => a.runAt - b.runAt || a.seq - b.seq)
      for (const pick of best) {
        if (picks.length < request.limit && takeSlot(pick.lane, slots)) picks.push(pick)
      }
      from = to
    }
    return picks
  }

  /** How many more of each limited job may run. */
  #freeSlots(lanes: readonly ReadyLane[], request: LeaseRequest): Map<string, number> {
    const limits = new Map<string, number>()
    for (const { job, concurrency } of request.jobs) if (concurrency !== null) limits.set(job, concurrency)
    for (const { job, single } of lanes) if (single === 1) limits.set(job, 1)
    const slots = new Map<string, number>()
    for (const { job } of lanes) {
      const limit = limits.get(job)
      if (limit !== undefined && !slots.has(job)) slots.set(job, limit - this.#lanes.runningOf(job))
    }
    return slots
  }

  #head(lane: ReadyLane, limit: number, slots: ReadonlyMap<string, number>): Pick[] {
    const count = Math.min(limit, lane.ready, slots.get(lane.job) ?? limit)
    if (count <= 0) return []
    const { picks } = this.#first.get(lane.lane, count) as { picks: string }
    return (JSON.parse(picks) as [number, number][]).map(([runAt, seq]) => ({ seq, runAt, lane }))
  }
}

export function earlier(a: number | null, b: number | null): number | null {
  return a === null || (b !== null && b < a) ? b : a
}

function endOfPriority(lanes: readonly ReadyLane[], from: number): number {
  let to = from + 1
  while (to < lanes.length && (lanes[to] as ReadyLane).priority === (lanes[from] as ReadyLane).priority) to++
  return to
}

function takeSlot(lane: ReadyLane, slots: Map<string, number>): boolean {
  const free = slots.get(lane.job)
  if (free === undefined) return true
  if (free <= 0) return false
  slots.set(lane.job, free - 1)
  return true
}
