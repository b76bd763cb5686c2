import type { AttemptError, DeadReason, ReapReport } from '../contract.ts'
import { interruption } from '../failure.ts'
import { handling } from '../handling.ts'
import type { Connection } from './connection.ts'
import type { SqliteStatement } from './driver.ts'
import type { Endings } from './endings.ts'
import { appended, free } from './job-changes.ts'
import type { Lanes } from './lanes.ts'
import { stateNumber } from './schema.ts'
import type { Token } from './token.ts'

const rescuesPerCall = 1_000

/** Ends leases whose time is over, or whose owners are dead. */
export class Rescuing {
  readonly #lanes: Lanes
  readonly #endings: Endings
  readonly #expired: SqliteStatement
  readonly #heldBy: SqliteStatement
  readonly #rescue: SqliteStatement
  readonly #giveUp: SqliteStatement
  readonly #cancelExpired: SqliteStatement

  constructor(connection: Connection, lanes: Lanes, endings: Endings) {
    this.#lanes = lanes
    this.#endings = endings
    const update = (changes: string) =>
      connection.prepare(`UPDATE treadle_jobs SET ${changes} WHERE seq = ? AND token = ? AND state = 3`)
    const leased = 'SELECT seq, lane, attempts, rescues, cancel, begun, run_at, token, owner FROM treadle_jobs WHERE state = 3'
    this.#expired = connection.prepare(`${leased} AND lease_until <= ? ORDER BY lease_until LIMIT ${rescuesPerCall}`)
    this.#heldBy = connection.prepare(`${leased} AND owner IN (SELECT value FROM json_each(?))`)
    this.#rescue = update(`state = ?, attempts = attempts - 1, rescues = rescues + 1, ${free}`)
    this.#cancelExpired = update(`state = 6, finished_at = ?, rescues = rescues + 1, ${free}`)
    this.#giveUp = update(`state = 5, finished_at = ?, reason = ?, rescues = rescues + 1, errors = ${appended}, ${free}`)
  }

  /** Expired leases go back with their attempt, or to `dead` when that happened too often; whoever asked for the job's end gets it. */
  rescue(maxRescues: number, now: number): ReapReport {
    return this.#rescueEach(this.#expired.all(now) as ExpiredRow[], maxRescues, now)
  }

  /** The same also for all leases of owners that are dead, as if they had expired. */
  reap(maxRescues: number, deadOwners: readonly string[], now: number): ReapReport {
    const orphaned = deadOwners.length === 0 ? [] : (this.#heldBy.all(JSON.stringify(deadOwners)) as ExpiredRow[])
    const dead = this.#rescueEach(orphaned, maxRescues, now)
    const expired = this.rescue(maxRescues, now)
    return { returned: dead.returned + expired.returned, poisoned: dead.poisoned + expired.poisoned }
  }

  #rescueEach(rows: readonly ExpiredRow[], maxRescues: number, now: number): ReapReport {
    const report = { returned: 0, poisoned: 0 }
    for (const row of rows) {
      const token: Token = { seq: row.seq, lane: row.lane, claim: row.token }
      if (row.cancel === 1) {
        this.#cancelExpired.run(now, token.seq, token.claim)
        this.#finish(token, stateNumber.cancelled, now)
      } else if (row.begun === handling.begunForGood) {
        this.#abandon(token, 'interrupted', { attempt: row.attempts, at: now, message: interruption(row.owner) }, now)
      } else if (row.rescues >= maxRescues && row.begun !== handling.amongOthers) {
        this.#abandon(token, 'poisoned', poisonError(row, now), now)
        report.poisoned++
      } else {
        // One that was amended while it ran may not be due yet.
        const state = row.run_at > now ? stateNumber.scheduled : stateNumber.ready
        this.#rescue.run(state, token.seq, token.claim)
        this.#lanes.move(row.lane, stateNumber.running, state)
        report.returned++
      }
    }
    return report
  }

  #abandon(token: Token, reason: DeadReason, error: AttemptError, now: number): void {
    const text = JSON.stringify(error)
    this.#giveUp.run(now, reason, text, text, token.seq, token.claim)
    this.#finish(token, stateNumber.dead, now)
  }

  #finish({ seq, lane }: Token, state: number, now: number): void {
    this.#lanes.move(lane, stateNumber.running, state)
    this.#endings.ended(lane, seq, state, now)
  }
}

interface ExpiredRow {
  readonly seq: number
  readonly lane: number
  readonly attempts: number
  readonly rescues: number
  readonly cancel: number
  readonly begun: number
  readonly run_at: number
  readonly token: string
  readonly owner: string
}

function poisonError(row: ExpiredRow, now: number): AttemptError {
  const message = `Its worker died or hung ${row.rescues + 1} times, the last one was ${row.owner}`
  return { attempt: row.attempts, at: now, message }
}
