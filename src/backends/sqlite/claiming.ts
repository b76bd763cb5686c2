import { messageOf } from '../../core/errors.ts'
import type { LeaseRequest } from '../contract.ts'
import { handlingOf } from '../handling.ts'
import type { JobLimits } from '../limits.ts'
import { readTime } from '../spoilt.ts'
import type { Connection } from './connection.ts'
import { readAll, type SqliteStatement } from './driver.ts'
import { limitsByJob } from './flat-rules.ts'
import type { Lane } from './lane.ts'
import type { Pick } from './lane-reader.ts'
import type { Lanes } from './lanes.ts'
import { earlier, Picking, type PickRequest } from './picking.ts'
import type { Rates } from './rates.ts'
import { stateNumber } from './schema.ts'
import { writeToken } from './token.ts'
import { withoutBlob } from './without-blob.ts'

/** The jobs that it is about stand in one text. */
export interface FlatRequest extends Omit<LeaseRequest, 'jobs'> {
  readonly jobs: string
}

/** When to look again, and which of the owner's leases are to end. */
export interface Outlook {
  readonly nextAt: number | null
  readonly cancelled: readonly string[]
}

interface OutlookRow {
  readonly dueAt: number | null
  readonly expiresAt: number | null
  readonly heldUntil: number | null
  readonly givesUpAt: number | null
  readonly cancelling: string
}

/** The rows as the JSON text that SQLite made of them, and the lanes that they stand in. */
export interface ClaimedRows {
  readonly rows: string
  readonly lanes: readonly Lane[]
  readonly nextTokenAt: number | null
}

/** seq, lane, id, identity (empty where there is a stamp), stamp, payload, signature, unique key, until when it is held, created at, run at, attempt, number, rescues, whether it is linked. */
export type ClaimedRow = readonly [
  number,
  number,
  string,
  string,
  number | null,
  string,
  string | null,
  string | null,
  number | null,
  number,
  number,
  number,
  number | null,
  number,
  number,
]

const claimedColumns =
  'seq, lane, treadle_jobs.id, identity, stamp, payload, signature, unique_key, unique_until, created_at, run_at, attempts + 1, number, rescues, linked'.split(
    ', ',
  )

/** Finds the best ready jobs and gives them to an owner. */
export class Claiming {
  readonly #lanes: Lanes
  readonly #picking: Picking
  readonly #fetch: SqliteStatement
  readonly #fetchSpoilt: SqliteStatement
  readonly #take: SqliteStatement
  readonly #outlook: SqliteStatement
  #asked = { jobs: '[]', limits: new Map() as ReadonlyMap<string, JobLimits> }

  constructor(connection: Connection, lanes: Lanes, rates: Rates) {
    this.#lanes = lanes
    this.#picking = new Picking(connection, lanes, rates)
    const fetch = (columns: readonly string[]) =>
      connection.prepare(
        `SELECT json_group_array(json_array(${columns.join(', ')})) AS rows
         FROM json_each(?) AS picked CROSS JOIN treadle_jobs ON seq = picked.value`,
      )
    this.#fetch = fetch(claimedColumns)
    this.#fetchSpoilt = fetch(claimedColumns.map(withoutBlob))
    this.#take = connection.prepare(
      `UPDATE treadle_jobs SET state = 3, token = ?1, owner = ?2, lease_until = ?3, started_at = ?4, attempts = attempts + 1, begun = ?6
       WHERE seq IN (SELECT value FROM json_each(?5))`,
    )
    this.#outlook = connection.prepare(
      `SELECT
         (SELECT min(run_at) FROM treadle_jobs WHERE state = 1) AS dueAt,
         (SELECT min(lease_until) FROM treadle_jobs WHERE state = 3) AS expiresAt,
         (SELECT min(held_until) FROM treadle_lanes INDEXED BY treadle_lanes_held
           WHERE held_until IS NOT NULL AND ready > 0) AS heldUntil,
         (SELECT min(gives_up_at) FROM treadle_links WHERE gives_up_at IS NOT NULL) AS givesUpAt,
         (SELECT json_group_array(json_array(seq, lane, ${withoutBlob('token')})) FROM treadle_jobs WHERE cancel = 1 AND owner = ?) AS cancelling`,
    )
  }

  /** What the owner must know beside the jobs that it gets. */
  outlook(owner: string): Outlook {
    const [row] = readAll(this.#outlook, owner)
    const { cancelling, ...times } = row as OutlookRow
    const dueAt = readTime(times.dueAt)
    const expiresAt = readTime(times.expiresAt)
    const heldUntil = readTime(times.heldUntil)
    const givesUpAt = readTime(times.givesUpAt)
    const cancelled = (JSON.parse(cancelling) as [number, number, string][]).map((token) => writeToken(...token))
    return { nextAt: earlier(earlier(dueAt, expiresAt), earlier(heldUntil, givesUpAt)), cancelled }
  }

  /** The same lanes as `open`, or none where a limit keeps all of their jobs waiting; and when the first rate gives way. */
  look(request: FlatRequest, now: number): { readonly open: readonly Lane[]; readonly nextTokenAt: number | null } {
    const open = this.open(request)
    if (open.length === 0) return { open, nextTokenAt: null }
    const { isAny, nextTokenAt } = this.#picking.look(this.#asking(request, now), open)
    return { open: isAny ? open : [], nextTokenAt }
  }

  /** The lanes with jobs that this request may claim. */
  open(request: FlatRequest): readonly Lane[] {
    if (request.limit === 0) return []
    const limits = this.#limitsOf(request)
    const queues = request.queues === null ? null : new Set(request.queues)
    const wanted = request.priority ?? null
    const isOpen = ({ job, queue, priority }: Lane) =>
      limits.has(job) && (queues === null || queues.has(queue)) && (wanted === null || wanted === priority)
    return this.#lanes.ready().filter(isOpen)
  }

  claim(request: FlatRequest, lanes: readonly Lane[], claim: string, now: number): ClaimedRows {
    if (lanes.length === 0) return { rows: '[]', lanes: [], nextTokenAt: null }
    const { picks, nextTokenAt } = this.#picking.pick(this.#asking(request, now), lanes)
    const rows = picks.length > 0 ? this.#give(picks, request, claim, now) : '[]'
    return { rows, lanes: [...new Set(picks.map((pick) => pick.lane))], nextTokenAt }
  }

  #asking(request: FlatRequest, now: number): PickRequest {
    const { limit, queueLimits: queues = [], ageingMs } = request
    return { limit, jobs: this.#limitsOf(request), queues, ageingMs: ageingMs ?? 0, now }
  }

  #give(picks: readonly Pick[], request: FlatRequest, claim: string, now: number): string {
    const seqs = JSON.stringify(picks.map((pick) => pick.seq))
    const rows = this.#rowsOf(seqs)
    this.#take.run(claim, request.owner, now + request.leaseMs, now, seqs, handlingOf(request))
    for (const pick of picks) this.#lanes.move(pick.lane.lane, stateNumber.ready, stateNumber.running)
    return rows
  }

  /** A BLOB that somebody has written, which JSON cannot hold, is read as a text: whoever verifies the job refuses it. */
  #rowsOf(seqs: string): string {
    try {
      return (this.#fetch.get(seqs) as { rows: string }).rows
    } catch (thrown) {
      if (!/BLOB/.test(messageOf(thrown))) throw thrown
      return (this.#fetchSpoilt.get(seqs) as { rows: string }).rows
    }
  }

  /** By the jobs that it asks for. */
  #limitsOf({ jobs }: FlatRequest): ReadonlyMap<string, JobLimits> {
    if (this.#asked.jobs !== jobs) this.#asked = { jobs, limits: limitsByJob(jobs) }
    return this.#asked.limits
  }
}
