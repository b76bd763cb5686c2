import type { Settlement, SettleReceipt } from '../contract.ts'
import type { Connection } from './connection.ts'
import type { SqliteStatement } from './driver.ts'
import type { Endings } from './endings.ts'
import { appended, free } from './job-changes.ts'
import type { Lanes } from './lanes.ts'
import type { OnceMarks } from './once-marks.ts'
import { stateNumber } from './schema.ts'
import type { Token } from './token.ts'
import type { Left, Waiter, Waiters } from './waiters.ts'

export interface LinkedSettlingParts {
  readonly lanes: Lanes
  readonly endings: Endings
  readonly waiters: Waiters
  readonly onceMarks: OnceMarks
}

interface HeldJob extends Waiter {
  readonly cancel: number
}

type EndSettlement = Extract<Settlement, { readonly keep: boolean }>

/** Ends leases of jobs that others wait for, or that may wait for others. */
export class LinkedSettling {
  readonly #parts: LinkedSettlingParts
  readonly #find: SqliteStatement
  readonly #end: SqliteStatement
  readonly #endFailed: SqliteStatement

  constructor(connection: Connection, parts: LinkedSettlingParts) {
    this.#parts = parts
    this.#find = connection.prepare(
      `SELECT seq, lane, state, run_at, attempts, cancel, coalesce(longest_wait_ms, 0) AS longest_wait_ms,
         coalesce(pending, 0) AS pending, doom, ending
       FROM treadle_jobs LEFT JOIN treadle_links USING (seq) WHERE seq = ? AND token = ? AND state = 3`,
    )
    this.#end = connection.prepare(
      `UPDATE treadle_jobs SET state = ?, finished_at = ?, result = ?, seal = ?, reason = ?, attempts = attempts - ?, ${free}
       WHERE seq = ?`,
    )
    this.#endFailed = connection.prepare(
      `UPDATE treadle_jobs SET state = 5, finished_at = ?, reason = ?, errors = ${appended}, ${free} WHERE seq = ?`,
    )
  }

  settle({ seq, claim }: Token, settlement: Settlement, now: number): SettleReceipt {
    const job = this.#find.get(seq, claim) as HeldJob | undefined
    if (job === undefined) return 'lost'
    switch (settlement.kind) {
      case 'done':
      case 'wait':
        return this.#leave(job, settlement, now)
      case 'dead':
      case 'cancelled':
      case 'skipped':
        this.#finish(job, settlement, now)
        return 'applied'
      case 'retry':
      case 'snooze':
      case 'again':
        return 'lost'
    }
  }

  /** The handler has left, and the children have the last word. */
  #leave(job: HeldJob, settlement: Extract<Settlement, { kind: 'done' | 'wait' }>, now: number): SettleReceipt {
    const { endings, waiters, onceMarks } = this.#parts
    const isDone = settlement.kind === 'done'
    if (isDone && settlement.unlinked === true) return 'unsealed'
    if (isDone && settlement.alone === true && job.pending > 0) return 'blocked'
    if (job.cancel === 1 && (job.pending > 0 || job.doom !== null || !isDone)) {
      // It was asked to stop, and would not come back. Its children may have failed because they were asked as well.
      this.#finish(job, { ...settlement, kind: 'cancelled', keep: true }, now, isDone ? 0 : 1)
      return 'cancelled'
    }
    if (job.doom !== null) {
      endings.failFor(job, job.doom, now)
      return 'failed'
    }
    if (job.pending > 0) {
      waiters.block(job, isDone ? leftBy(settlement) : null, now)
      return isDone ? 'blocked' : 'applied'
    }
    if (isDone) {
      onceMarks.keep(settlement.once, settlement.result, now)
      this.#finish(job, settlement, now)
    } else waiters.unblock(job, now)
    return 'applied'
  }

  #finish(job: HeldJob, settlement: EndSettlement, now: number, givenBack = 0): void {
    const { lanes, endings } = this.#parts
    const state = this.#write(job, settlement, now, givenBack)
    lanes.move(job.lane, stateNumber.running, state)
    endings.ended(job.lane, job.seq, state, now)
    if (!settlement.keep) endings.remove(job.lane, job.seq, state)
  }

  #write({ seq }: HeldJob, settlement: EndSettlement, now: number, givenBack: number): number {
    switch (settlement.kind) {
      case 'done':
        this.#end.run(stateNumber.succeeded, now, settlement.result, settlement.seal ?? null, null, 0, seq)
        return stateNumber.succeeded
      case 'dead': {
        const error = JSON.stringify(settlement.error)
        this.#endFailed.run(now, settlement.reason, error, error, seq)
        return stateNumber.dead
      }
      case 'cancelled':
        this.#end.run(stateNumber.cancelled, now, null, null, null, givenBack, seq)
        return stateNumber.cancelled
      case 'skipped':
        this.#end.run(stateNumber.skipped, now, settlement.result ?? null, settlement.seal ?? null, settlement.why, 1, seq)
        return stateNumber.skipped
    }
  }
}

function leftBy({ result, seal = null, keep, once }: Extract<Settlement, { kind: 'done' }>): Left {
  return { ending: { keep, once: once ?? null }, result, seal }
}
