import type { AttemptError, DeadReason, ReapReport, Settlement, SettleReceipt } from '../contract.ts'
import { interruption } from '../failure.ts'
import type { Connection } from './connection.ts'
import type { SqliteStatement } from './driver.ts'
import type { Endings } from './endings.ts'
import { appended, free } from './job-changes.ts'
import type { Lanes } from './lanes.ts'
import type { LinkedSettling } from './linked-settling.ts'
import type { OnceMarks } from './once-marks.ts'
import { type DoneGroup, isPlainlyDone, PlainlyDone } from './plainly-done.ts'
import { stateNumber } from './schema.ts'
import { readToken, type Token } from './token.ts'

const rescuesPerCall = 1_000
const promotionsPerCall = 1_000

const held = 'WHERE seq = ? AND token = ? AND state = 3'
// One statement is enough for a job that nobody waits for and that waits for nobody; what it does not find is looked at closer.
const alone = `${held} AND linked = 0`

export interface SettlingParts {
  readonly lanes: Lanes
  readonly endings: Endings
  readonly linked: LinkedSettling
  readonly onceMarks: OnceMarks
}

export interface Settled {
  /** By their places; all the rest are applied. */
  readonly others: readonly (readonly [index: number, receipt: SettleReceipt])[]
  /** A job that waited for one of these has become ready. */
  readonly released: boolean
}

/** Ends leases: by their owner's word, or because their time is over. */
export class Settling {
  readonly #lanes: Lanes
  readonly #endings: Endings
  readonly #linked: LinkedSettling
  readonly #onceMarks: OnceMarks
  readonly #end: SqliteStatement
  readonly #endMany: SqliteStatement
  readonly #mark: SqliteStatement
  readonly #undo: SqliteStatement
  readonly #unmark: SqliteStatement
  readonly #endFailed: SqliteStatement
  readonly #endUnrun: SqliteStatement
  readonly #delete: SqliteStatement
  readonly #deleteEnded: SqliteStatement
  readonly #retry: SqliteStatement
  readonly #snooze: SqliteStatement
  readonly #endAsked: SqliteStatement
  readonly #extend: SqliteStatement
  readonly #begin: SqliteStatement
  readonly #expired: SqliteStatement
  readonly #heldBy: SqliteStatement
  readonly #rescue: SqliteStatement
  readonly #giveUp: SqliteStatement
  readonly #cancelExpired: SqliteStatement
  readonly #promote: SqliteStatement

  constructor(connection: Connection, { lanes, endings, linked, onceMarks }: SettlingParts) {
    this.#lanes = lanes
    this.#endings = endings
    this.#linked = linked
    this.#onceMarks = onceMarks
    const update = (changes: string, which = held) => connection.prepare(`UPDATE treadle_jobs SET ${changes} ${which}`)
    this.#end = update(`state = ?, finished_at = ?, result = ?, ${free}`, alone)
    this.#endMany = connection.prepare(
      `UPDATE treadle_jobs SET state = 4, finished_at = ?1, result = NULL, ${free}
       WHERE seq IN (SELECT value FROM json_each(?3)) AND token = ?2 AND state = 3 AND linked = 0`,
    )
    this.#mark = connection.prepare('SAVEPOINT treadle_done')
    this.#undo = connection.prepare('ROLLBACK TO treadle_done')
    this.#unmark = connection.prepare('RELEASE treadle_done')
    this.#endFailed = update(`state = 5, finished_at = ?, reason = ?, errors = ${appended}, ${free}`, alone)
    this.#endUnrun = update(`state = 7, finished_at = ?, reason = ?, result = ?, attempts = attempts - 1, ${free}`, alone)
    this.#delete = connection.prepare(`DELETE FROM treadle_jobs ${alone}`)
    this.#deleteEnded = connection.prepare('DELETE FROM treadle_jobs WHERE seq = ?')
    this.#retry = update(`state = ?, run_at = ?, errors = ${appended}, token = NULL, lease_until = NULL`)
    this.#snooze = update(
      'state = ?, run_at = coalesce(?, run_at), attempts = attempts - 1, begun = 0, token = NULL, lease_until = NULL',
    )
    this.#endAsked = connection.prepare(
      'UPDATE treadle_jobs SET state = 6, finished_at = ?, cancel = 0 WHERE seq = ? AND cancel = 1',
    )
    this.#extend = update('lease_until = ?')
    this.#begin = update('begun = 1')
    const leased = 'SELECT seq, lane, attempts, rescues, cancel, begun, token, owner FROM treadle_jobs WHERE state = 3'
    this.#expired = connection.prepare(`${leased} AND lease_until <= ? ORDER BY lease_until LIMIT ${rescuesPerCall}`)
    this.#heldBy = connection.prepare(`${leased} AND owner IN (SELECT value FROM json_each(?))`)
    this.#rescue = update(`state = 0, attempts = attempts - 1, rescues = rescues + 1, ${free}`)
    this.#cancelExpired = update(`state = 6, finished_at = ?, rescues = rescues + 1, ${free}`)
    this.#giveUp = update(`state = 5, finished_at = ?, reason = ?, rescues = rescues + 1, errors = ${appended}, ${free}`)
    this.#promote = connection.prepare(
      `UPDATE treadle_jobs SET state = 0 WHERE seq IN (
         SELECT seq FROM treadle_jobs WHERE state = 1 AND run_at <= ? ORDER BY run_at LIMIT ${promotionsPerCall}) RETURNING lane`,
    )
  }

  settle(settlements: readonly Settlement[], now: number): Settled {
    const plain = new PlainlyDone()
    const others: [number, SettleReceipt][] = []
    const settleOne = (index: number, token: Token | undefined) => {
      const receipt = token === undefined ? 'lost' : this.#settleOne(token, settlements[index] as Settlement, now)
      if (receipt !== 'applied') others.push([index, receipt])
    }
    settlements.forEach((settlement, index) => {
      const token = readToken(settlement.token)
      if (token !== undefined && isPlainlyDone(settlement)) plain.add(token, index)
      else settleOne(index, token)
    })
    for (const group of plain.groups) {
      if (this.#endTogether(group, now)) continue
      group.seqs.forEach((seq, at) => {
        settleOne(group.indexes[at] as number, { seq, lane: group.lane, claim: group.claim })
      })
    }
    return { others, released: this.#endings.takeReleased() }
  }

  #settleOne(token: Token, settlement: Settlement, now: number): SettleReceipt {
    return this.#apply(token, settlement, now) ?? this.#linked.settle(token, settlement, now)
  }

  /** One statement for all; false, and nothing changed, where some of them are lost or linked. */
  #endTogether({ claim, lane, seqs }: DoneGroup, now: number): boolean {
    this.#mark.run()
    const ended = Number(this.#endMany.run(now, claim, JSON.stringify(seqs)).changes)
    const isAll = ended === seqs.length
    if (isAll) {
      this.#lanes.move(lane, stateNumber.running, stateNumber.succeeded, ended)
      this.#endings.endedAlone(lane, seqs, stateNumber.succeeded, now)
    } else this.#undo.run()
    this.#unmark.run()
    return isAll
  }

  extend(tokens: readonly string[], until: number): readonly SettleReceipt[] {
    return tokens.map((text) => {
      const token = readToken(text)
      return token !== undefined && changed(this.#extend.run(until, token.seq, token.claim)) ? 'applied' : 'lost'
    })
  }

  begin(tokens: readonly string[]): readonly SettleReceipt[] {
    return tokens.map((text) => {
      const token = readToken(text)
      return token !== undefined && changed(this.#begin.run(token.seq, token.claim)) ? 'applied' : 'lost'
    })
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
        this.#finishAny(token, stateNumber.cancelled, now)
      } else if (row.begun === 1) {
        this.#abandon(token, 'interrupted', { attempt: row.attempts, at: now, message: interruption(row.owner) }, now)
      } else if (row.rescues >= maxRescues) {
        this.#abandon(token, 'poisoned', poisonError(row, now), now)
        report.poisoned++
      } else {
        this.#rescue.run(token.seq, token.claim)
        this.#lanes.move(row.lane, stateNumber.running, stateNumber.ready)
        report.returned++
      }
    }
    return report
  }

  #abandon(token: Token, reason: DeadReason, error: AttemptError, now: number): void {
    const text = JSON.stringify(error)
    this.#giveUp.run(now, reason, text, text, token.seq, token.claim)
    this.#finishAny(token, stateNumber.dead, now)
  }

  /** False when there may be more than were promoted now. */
  promote(now: number): boolean {
    const promoted = this.#promote.all(now) as { lane: number }[]
    for (const { lane } of promoted) this.#lanes.move(lane, stateNumber.scheduled, stateNumber.ready)
    return promoted.length < promotionsPerCall
  }

  /** Null for a lease that is lost, and for a job that is linked. */
  #apply(token: Token, settlement: Settlement, now: number): SettleReceipt | null {
    const { seq, claim } = token
    if ('keep' in settlement && !settlement.keep) return this.#remove(token, settlement, now)
    switch (settlement.kind) {
      case 'done': {
        const done = this.#end.run(stateNumber.succeeded, now, settlement.result, seq, claim)
        const receipt = this.#finish(token, stateNumber.succeeded, done, now)
        if (receipt !== null) this.#onceMarks.keep(settlement.once, settlement.result, now)
        return receipt
      }
      case 'dead': {
        const error = JSON.stringify(settlement.error)
        return this.#finish(token, stateNumber.dead, this.#endFailed.run(now, settlement.reason, error, error, seq, claim), now)
      }
      case 'cancelled':
        return this.#finish(token, stateNumber.cancelled, this.#end.run(stateNumber.cancelled, now, null, seq, claim), now)
      case 'skipped':
        return this.#finish(
          token,
          stateNumber.skipped,
          this.#endUnrun.run(now, settlement.why, settlement.result ?? null, seq, claim),
          now,
        )
      case 'retry': {
        const state = waiting(settlement.delayMs)
        const error = JSON.stringify(settlement.error)
        return this.#putBack(token, state, this.#retry.run(state, now + settlement.delayMs, error, error, seq, claim), now)
      }
      case 'snooze': {
        const state = waiting(settlement.delayMs)
        const runAt = settlement.delayMs > 0 ? now + settlement.delayMs : null
        return this.#putBack(token, state, this.#snooze.run(state, runAt, seq, claim), now)
      }
      case 'wait':
        return null
    }
  }

  /** A job that was asked to stop does not come back. */
  #putBack(token: Token, state: number, outcome: { readonly changes: number | bigint }, now: number): SettleReceipt | null {
    if (!changed(outcome)) return null
    const asked = changed(this.#endAsked.run(now, token.seq))
    this.#lanes.move(token.lane, stateNumber.running, asked ? stateNumber.cancelled : state)
    if (asked) this.#endings.ended(token.lane, token.seq, stateNumber.cancelled, now)
    return asked ? 'cancelled' : 'applied'
  }

  #finish(token: Token, state: number, outcome: { readonly changes: number | bigint }, now: number): SettleReceipt | null {
    if (!changed(outcome)) return null
    this.#lanes.move(token.lane, stateNumber.running, state)
    this.#endings.endedAlone(token.lane, [token.seq], state, now)
    return 'applied'
  }

  #finishAny({ seq, lane }: Token, state: number, now: number): void {
    this.#lanes.move(lane, stateNumber.running, state)
    this.#endings.ended(lane, seq, state, now)
  }

  #remove(token: Token, settlement: EndSettlement, now: number): SettleReceipt | null {
    if (this.#lanes.isRecurring(token.lane)) return this.#removeOccurrence(token, settlement, now)
    if (!changed(this.#delete.run(token.seq, token.claim))) return null
    this.#lanes.add(token.lane, stateNumber.running, -1)
    if (settlement.kind === 'done') this.#onceMarks.keep(settlement.once, settlement.result, now)
    return 'applied'
  }

  /** Its outcome outlives it, and is written while its row still tells when it began. */
  #removeOccurrence(token: Token, settlement: EndSettlement, now: number): SettleReceipt | null {
    const receipt = this.#apply(token, { ...settlement, keep: true }, now)
    if (receipt === null) return null
    this.#deleteEnded.run(token.seq)
    this.#lanes.add(token.lane, endState[settlement.kind], -1)
    return receipt
  }
}

type EndSettlement = Extract<Settlement, { readonly keep: boolean }>

const endState = {
  done: stateNumber.succeeded,
  dead: stateNumber.dead,
  cancelled: stateNumber.cancelled,
  skipped: stateNumber.skipped,
} as const

interface ExpiredRow {
  readonly seq: number
  readonly lane: number
  readonly attempts: number
  readonly rescues: number
  readonly cancel: number
  readonly begun: number
  readonly token: string
  readonly owner: string
}

function changed(outcome: { readonly changes: number | bigint }): boolean {
  return Number(outcome.changes) === 1
}

function waiting(delayMs: number): number {
  return delayMs > 0 ? stateNumber.scheduled : stateNumber.ready
}

function poisonError(row: ExpiredRow, now: number): AttemptError {
  const message = `Its worker died or hung ${row.rescues + 1} times, the last one was ${row.owner}`
  return { attempt: row.attempts, at: now, message }
}
