import type { Settlement, SettleReceipt } from '../contract.ts'
import { heldAlone } from '../handling.ts'
import type { Again } from './again.ts'
import type { Connection } from './connection.ts'
import type { SqliteStatement } from './driver.ts'
import type { Endings } from './endings.ts'
import { appended, free } from './job-changes.ts'
import type { Lanes } from './lanes.ts'
import type { LinkedSettling } from './linked-settling.ts'
import type { OnceMarks } from './once-marks.ts'
import { type DoneClaim, type FlatSettlement, isPlainlyDone, PlainlyDone, seqsByLane, settlementOf } from './plainly-done.ts'
import { stateNumber } from './schema.ts'
import { readToken, type Token } from './token.ts'

const promotionsPerCall = 1_000

const held = 'WHERE seq = ? AND token = ? AND state = 3'
// One statement is enough for a job that nobody waits for and that waits for nobody; what it does not find is looked at closer.
const alone = `${held} AND linked = 0`

export interface SettlingParts {
  readonly lanes: Lanes
  readonly endings: Endings
  readonly linked: LinkedSettling
  readonly again: Again
  readonly onceMarks: OnceMarks
}

export interface Settled {
  /** By their places; all the rest are applied. */
  readonly others: readonly (readonly [index: number, receipt: SettleReceipt])[]
  /** A job that waited for one of these has become ready. */
  readonly released: boolean
}

/** Ends leases by their owner's word. */
export class Settling {
  readonly #lanes: Lanes
  readonly #endings: Endings
  readonly #linked: LinkedSettling
  readonly #again: Again
  readonly #onceMarks: OnceMarks
  readonly #end: SqliteStatement
  readonly #endAll: SqliteStatement
  readonly #endSome: SqliteStatement
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
  readonly #extendAlone: SqliteStatement
  readonly #begin: SqliteStatement
  readonly #promote: SqliteStatement

  constructor(connection: Connection, { lanes, endings, linked, again, onceMarks }: SettlingParts) {
    this.#lanes = lanes
    this.#endings = endings
    this.#linked = linked
    this.#again = again
    this.#onceMarks = onceMarks
    const update = (changes: string, which = held) => connection.prepare(`UPDATE treadle_jobs SET ${changes} ${which}`)
    this.#end = update(`state = ?, finished_at = ?, result = ?, seal = ?, ${free}`, alone)
    const endMany = `UPDATE treadle_jobs SET state = 4, finished_at = ?1, result = NULL, ${free}
      WHERE seq IN (SELECT value FROM json_each(?3)) AND token = ?2 AND state = 3 AND linked = 0`
    this.#endAll = connection.prepare(endMany)
    this.#endSome = connection.prepare(`${endMany} RETURNING seq`)
    this.#mark = connection.prepare('SAVEPOINT treadle_done')
    this.#undo = connection.prepare('ROLLBACK TO treadle_done')
    this.#unmark = connection.prepare('RELEASE treadle_done')
    this.#endFailed = update(`state = 5, finished_at = ?, reason = ?, errors = ${appended}, ${free}`, alone)
    this.#endUnrun = update(
      `state = 7, finished_at = ?, reason = ?, result = ?, seal = ?, attempts = attempts - 1, ${free}`,
      alone,
    )
    this.#delete = connection.prepare(`DELETE FROM treadle_jobs ${alone}`)
    this.#deleteEnded = connection.prepare('DELETE FROM treadle_jobs WHERE seq = ?')
    // A job that was amended while it ran may stand in another lane than its token says, and be due at another time.
    const putBack = (changes: string) => update(`${changes}, token = NULL, lease_until = NULL`, `${held} RETURNING lane, state`)
    this.#retry = putBack(`state = ?, run_at = ?, errors = ${appended}`)
    this.#snooze = putBack('state = coalesce(?1, run_at) > ?2, run_at = coalesce(?1, run_at), attempts = attempts - 1, begun = 0')
    this.#endAsked = connection.prepare(
      'UPDATE treadle_jobs SET state = 6, finished_at = ?, cancel = 0 WHERE seq = ? AND cancel = 1',
    )
    this.#extend = update('lease_until = ?')
    this.#extendAlone = update(`lease_until = ?, ${heldAlone}`)
    this.#begin = update('begun = 1')
    this.#promote = connection.prepare(
      `UPDATE treadle_jobs SET state = 0 WHERE seq IN (
         SELECT seq FROM treadle_jobs WHERE state = 1 AND run_at <= ? ORDER BY run_at LIMIT ${promotionsPerCall}) RETURNING lane`,
    )
  }

  settle(settlements: readonly FlatSettlement[], now: number): Settled {
    const plain = new PlainlyDone()
    const others: [number, SettleReceipt][] = []
    const settleOne = (index: number, token: Token | undefined) => {
      const receipt =
        token === undefined ? 'lost' : this.#settleOne(token, settlementOf(settlements[index] as FlatSettlement), now)
      if (receipt !== 'applied') others.push([index, receipt])
    }
    settlements.forEach((settlement, index) => {
      const token = readToken(typeof settlement === 'string' ? settlement : settlement.token)
      const isPlain = typeof settlement === 'string' || isPlainlyDone(settlement)
      if (token !== undefined && isPlain) plain.add(token, index)
      else settleOne(index, token)
    })
    for (const claim of plain.claims) {
      const rest = this.#endTogether(claim, now)
      for (const at of rest) settleOne(claim.indexes[at] as number, claim.tokens[at])
    }
    return { others, released: this.#endings.takeReleased() }
  }

  #settleOne(token: Token, settlement: Settlement, now: number): SettleReceipt {
    return this.#apply(token, settlement, now) ?? this.#linked.settle(token, settlement, now)
  }

  /** One statement for all of a claim, whatever lanes they stand in. Gives the places of the rest, which are lost or linked. */
  #endTogether({ claim, tokens }: DoneClaim, now: number): readonly number[] {
    const seqs = JSON.stringify(tokens.map(({ seq }) => seq))
    this.#mark.run()
    const isAll = Number(this.#endAll.run(now, claim, seqs).changes) === tokens.length
    if (!isAll) this.#undo.run()
    this.#unmark.run()
    if (isAll) {
      this.#succeeded(tokens, now)
      return []
    }
    // To be told which ones ended costs a third more than to be told how many.
    const ended = new Set((this.#endSome.all(now, claim, seqs) as { seq: number }[]).map(({ seq }) => seq))
    // A token that is there twice has ended its job once.
    const isEnded = tokens.map(({ seq }) => ended.delete(seq))
    this.#succeeded(
      tokens.filter((_, at) => isEnded[at]),
      now,
    )
    return tokens.flatMap((_, at) => (isEnded[at] ? [] : [at]))
  }

  #succeeded(tokens: readonly Token[], now: number): void {
    for (const [lane, seqs] of seqsByLane(tokens)) {
      this.#lanes.move(lane, stateNumber.running, stateNumber.succeeded, seqs.length)
      this.#endings.endedAlone(lane, seqs, stateNumber.succeeded, now)
    }
  }

  extend(tokens: readonly string[], until: number, alone: boolean): readonly SettleReceipt[] {
    const extend = alone ? this.#extendAlone : this.#extend
    return tokens.map((text) => {
      const token = readToken(text)
      return token !== undefined && changed(extend.run(until, token.seq, token.claim)) ? 'applied' : 'lost'
    })
  }

  begin(tokens: readonly string[]): readonly SettleReceipt[] {
    return tokens.map((text) => {
      const token = readToken(text)
      return token !== undefined && changed(this.#begin.run(token.seq, token.claim)) ? 'applied' : 'lost'
    })
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
        const done = this.#end.run(stateNumber.succeeded, now, settlement.result, settlement.seal ?? null, seq, claim)
        const receipt = this.#finish(token, stateNumber.succeeded, done, now)
        if (receipt !== null) this.#onceMarks.keep(settlement.once, settlement.result, now)
        return receipt
      }
      case 'dead': {
        const error = JSON.stringify(settlement.error)
        return this.#finish(token, stateNumber.dead, this.#endFailed.run(now, settlement.reason, error, error, seq, claim), now)
      }
      case 'cancelled':
        return this.#finish(token, stateNumber.cancelled, this.#end.run(stateNumber.cancelled, now, null, null, seq, claim), now)
      case 'skipped':
        return this.#finish(
          token,
          stateNumber.skipped,
          this.#endUnrun.run(now, settlement.why, settlement.result ?? null, settlement.seal ?? null, seq, claim),
          now,
        )
      case 'retry': {
        const error = JSON.stringify(settlement.error)
        const runAt = now + settlement.delayMs
        return this.#putBack(seq, this.#retry.get(waiting(settlement.delayMs), runAt, error, error, seq, claim), now)
      }
      case 'snooze': {
        const runAt = settlement.delayMs > 0 ? now + settlement.delayMs : null
        return this.#putBack(seq, this.#snooze.get(runAt, now, seq, claim), now)
      }
      case 'wait':
        return null
      case 'again':
        return this.#again.settle(token, settlement.envelope, now)
    }
  }

  /** A job that was asked to stop does not come back. */
  #putBack(seq: number, row: unknown, now: number): SettleReceipt | null {
    if (row === undefined) return null
    const { lane, state } = row as { lane: number; state: number }
    const asked = changed(this.#endAsked.run(now, seq))
    this.#lanes.move(lane, stateNumber.running, asked ? stateNumber.cancelled : state)
    if (asked) this.#endings.ended(lane, seq, stateNumber.cancelled, now)
    return asked ? 'cancelled' : 'applied'
  }

  #finish(token: Token, state: number, outcome: { readonly changes: number | bigint }, now: number): SettleReceipt | null {
    if (!changed(outcome)) return null
    this.#lanes.move(token.lane, stateNumber.running, state)
    this.#endings.endedAlone(token.lane, [token.seq], state, now)
    return 'applied'
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

function changed(outcome: { readonly changes: number | bigint }): boolean {
  return Number(outcome.changes) === 1
}

function waiting(delayMs: number): number {
  return delayMs > 0 ? stateNumber.scheduled : stateNumber.ready
}
