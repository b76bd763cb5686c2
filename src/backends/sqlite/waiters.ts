import type { AttemptError, OnceMark } from '../contract.ts'
import type { Connection } from './connection.ts'
import type { SqliteStatement } from './driver.ts'
import { appended, free } from './job-changes.ts'
import type { Lanes } from './lanes.ts'
import { stateNumber } from './schema.ts'

/** A job that waits for others, or may. */
export interface Waiter {
  readonly seq: number
  readonly lane: number
  readonly state: number
  readonly run_at: number
  readonly attempts: number
  readonly longest_wait_ms: number
  /** How many edges it waits for. */
  readonly pending: number
  /** The edge that a running job will fail for when its handler has ended. */
  readonly doom: number | null
  /** What its handler left to be done when its children have ended. */
  readonly ending: string | null
}

/** What becomes of a job that is done, once its children have ended. */
export interface Ending {
  readonly keep: boolean
  readonly once: OnceMark | null
}

export interface Left {
  readonly ending: Ending
  readonly result: string | null
  readonly seal: string | null
}

export interface BlockedRow {
  readonly seq: number
  readonly gives_up_at: number
  /** 1 where what it counts on is not what there is. */
  readonly isInVain: number
}

export interface NewWaiter {
  readonly root: string
  readonly parent: string | null
  readonly longestWaitMs: number
}

/** The jobs of workflows, and how they begin and cease to wait. */
export class Waiters {
  readonly #lanes: Lanes
  readonly #add: SqliteStatement
  readonly #mark: SqliteStatement
  readonly #find: SqliteStatement
  readonly #overdue: SqliteStatement
  readonly #after: SqliteStatement
  readonly #expect: SqliteStatement
  readonly #doom: SqliteStatement
  readonly #wait: SqliteStatement
  readonly #rest: SqliteStatement
  readonly #block: SqliteStatement
  readonly #move: SqliteStatement
  readonly #succeed: SqliteStatement
  readonly #skip: SqliteStatement
  readonly #fail: SqliteStatement

  constructor(connection: Connection, lanes: Lanes) {
    this.#lanes = lanes
    this.#add = connection.prepare(
      `INSERT INTO treadle_links (seq, root, parent, longest_wait_ms) VALUES (?, ?, ?, ?)
       ON CONFLICT (seq) DO UPDATE SET longest_wait_ms = excluded.longest_wait_ms`,
    )
    this.#mark = connection.prepare('UPDATE treadle_jobs SET linked = 1 WHERE seq = ? AND linked = 0')
    const select = `SELECT seq, lane, state, run_at, attempts, longest_wait_ms, pending, doom, ending
      FROM treadle_links JOIN treadle_jobs USING (seq)`
    this.#find = connection.prepare(`${select} WHERE seq = ?`)
    this.#overdue = connection.prepare(`${select} WHERE gives_up_at <= ? ORDER BY gives_up_at LIMIT ?`)
    this.#after = connection.prepare(
      `SELECT seq, gives_up_at, (
           SELECT count(*) = 0 OR count(*) <> links.pending OR total(coalesce(jobs.state, ${stateNumber.dead}) > 3) > 0
           FROM treadle_edges AS edges LEFT JOIN treadle_jobs AS jobs ON jobs.seq = edges.target AND jobs.id = edges.target_id
           WHERE edges.waiter = links.seq AND edges.waiting = 1) AS isInVain
       FROM treadle_links AS links
       WHERE gives_up_at IS NOT NULL AND (gives_up_at, seq) > (?, ?) ORDER BY gives_up_at, seq LIMIT ?`,
    )
    this.#expect = connection.prepare('UPDATE treadle_links SET pending = ? WHERE seq = ?')
    this.#doom = connection.prepare('UPDATE treadle_links SET doom = ? WHERE seq = ?')
    this.#wait = connection.prepare('UPDATE treadle_links SET gives_up_at = ?, ending = ? WHERE seq = ?')
    this.#rest = connection.prepare('UPDATE treadle_links SET gives_up_at = NULL, ending = NULL WHERE seq = ?')
    this.#block = connection.prepare(
      `UPDATE treadle_jobs SET state = 2, result = ?, seal = ?, attempts = attempts - ?, ${free} WHERE seq = ?`,
    )
    this.#move = connection.prepare(`UPDATE treadle_jobs SET state = ?, attempts = attempts - ?, ${free} WHERE seq = ?`)
    this.#succeed = connection.prepare('UPDATE treadle_jobs SET state = 4, finished_at = ? WHERE seq = ?')
    this.#skip = connection.prepare(
      `UPDATE treadle_jobs SET state = 7, finished_at = ?, reason = ?, result = NULL, seal = NULL, ${free} WHERE seq = ?`,
    )
    this.#fail = connection.prepare(
      `UPDATE treadle_jobs SET state = 5, finished_at = ?, reason = 'dependency', result = NULL, seal = NULL,
         errors = ${appended}, ${free}
       WHERE seq = ?`,
    )
  }

  /** A job that has a place in a workflow; one that had it before keeps it. */
  add(seq: number, { root, parent, longestWaitMs }: NewWaiter): void {
    this.#add.run(seq, root, parent, longestWaitMs)
    this.mark(seq)
  }

  /** From here on somebody must be told when this job ends. */
  mark(seq: number): void {
    this.#mark.run(seq)
  }

  find(seq: number): Waiter | undefined {
    return this.#find.get(seq) as Waiter | undefined
  }

  /** Those that have waited for too long. */
  overdue(now: number, limit: number): readonly Waiter[] {
    return this.#overdue.all(now, limit) as Waiter[]
  }

  /** Blocked jobs, in the order in which they give up. */
  after(giveUpAt: number, seq: number, limit: number): readonly BlockedRow[] {
    return this.#after.all(giveUpAt, seq, limit) as BlockedRow[]
  }

  expect({ seq }: Waiter, pending: number): void {
    this.#expect.run(pending, seq)
  }

  doom({ seq }: Waiter, edge: number | null): void {
    this.#doom.run(edge, seq)
  }

  /** `left` is what a job whose handler is done has left behind; one that is to run again gets its attempt back. */
  block(waiter: Waiter, left: Left | null, now: number): void {
    const ending = left?.ending ?? null
    const givenBack = ending === null && waiter.state === stateNumber.running ? 1 : 0
    this.#block.run(left?.result ?? null, left?.seal ?? null, givenBack, waiter.seq)
    this.#wait.run(now + waiter.longest_wait_ms, ending === null ? null : JSON.stringify(ending), waiter.seq)
    this.#lanes.move(waiter.lane, waiter.state, stateNumber.blocked)
  }

  /** To be run when its time has come. */
  unblock(waiter: Waiter, now: number): void {
    const state = waiter.run_at > now ? stateNumber.scheduled : stateNumber.ready
    this.#move.run(state, waiter.state === stateNumber.running ? 1 : 0, waiter.seq)
    this.rest(waiter.seq)
    this.#lanes.move(waiter.lane, waiter.state, state)
  }

  /** It waits for nothing any more. */
  rest(seq: number): void {
    this.#rest.run(seq)
  }

  succeed({ seq, lane, state }: Waiter, now: number): void {
    this.#succeed.run(now, seq)
    this.#lanes.move(lane, state, stateNumber.succeeded)
  }

  skip({ seq, lane, state }: Waiter, why: string, now: number): void {
    this.#skip.run(now, why, seq)
    this.#lanes.move(lane, state, stateNumber.skipped)
  }

  fail({ seq, lane, state, attempts }: Waiter, message: string, now: number): void {
    const error = JSON.stringify({ attempt: attempts, at: now, message } satisfies AttemptError)
    this.#fail.run(now, error, error, seq)
    this.#lanes.move(lane, state, stateNumber.dead)
  }
}
