import { type Steps, wait } from '../../../core/answer.ts'
import { handling } from '../../../queue/claiming/handling.ts'
import type { AttemptError, DeadReason, ReapReport } from '../../../queue/contract/contract.ts'
import { interruption } from '../../../queue/contract/failure.ts'
import type { QueueTime } from '../../servers/queue-time.ts'
import { type JobChange, type JobRow, stateAfter, unleased, withError } from '../rows/job-row.ts'
import { stateNumber } from '../rows/tables.ts'
import type { SqlDatabase } from '../session.ts'
import { cancelledAt } from '../settling/settling.ts'
import type { Transactions } from '../transactions/transactions.ts'

const rescuesPerCall = 1_000

/** Ends leases that have expired or whose owners are dead. */
export class Rescuing {
  readonly #database: SqlDatabase
  readonly #transactions: Transactions

  constructor(database: SqlDatabase, transactions: Transactions) {
    this.#database = database
    this.#transactions = transactions
  }

  /**
   * Jobs with expired leases go back to the queue and get their attempt back, or become `dead` if that happened too often. If a
   * job was asked to stop, it is cancelled.
   */
  *reap(maxRescues: number, deadOwners: readonly string[], time: QueueTime): Steps<ReapReport> {
    const ids = [...(yield* this.#heldBy(deadOwners)), ...(yield* this.#expired(time.now()))]
    if (ids.length === 0) return { returned: 0, poisoned: 0 }
    return yield* this.#transactions.changeJobs(ids, time, (hand) => {
      const report = { returned: 0, poisoned: 0 }
      const isOver = (row: JobRow) => (row.lease_until as number) <= hand.now || deadOwners.includes(row.owner as string)
      const endOf = (row: JobRow) => (deadOwners.includes(row.owner as string) ? hand.now : (row.lease_until as number))
      const inOrder = (a: JobRow, b: JobRow) => endOf(a) - endOf(b) || (a.id < b.id ? -1 : 1)
      for (const row of [...new Set(ids.flatMap((id) => hand.get(id) ?? []))].sort(inOrder)) {
        if (row.state !== stateNumber.running || !isOver(row)) continue
        const change = changeFor(row, maxRescues, hand.now)
        if (change.state === stateNumber.ready || change.state === stateNumber.scheduled) report.returned++
        if (change.reason === 'poisoned') report.poisoned++
        hand.change(row.id, { ...change, token: null, rescues: rescuesOf(row) + 1 })
      }
      return report
    })
  }

  /** Skips locked rows: a worker that ends its job in its own transaction may take its time. */
  *#expired(now: number): Steps<readonly string[]> {
    const { from, is, at } = this.#database.dialect.inState(stateNumber.running)
    const rows = yield* wait(
      this.#database.all<{ id: string }>(
        `SELECT id FROM ${from} WHERE ${is} AND ${at} <= ? ORDER BY ${at}, id LIMIT ${rescuesPerCall} FOR UPDATE SKIP LOCKED`,
        [now],
      ),
    )
    return rows.map(({ id }) => id)
  }

  *#heldBy(owners: readonly string[]): Steps<readonly string[]> {
    if (owners.length === 0) return []
    const { from, is } = this.#database.dialect.inState(stateNumber.running)
    const rows = yield* wait(this.#database.all<{ id: string }>(`SELECT id FROM ${from} WHERE ${is} AND owner IN (?)`, [owners]))
    return rows.map(({ id }) => id)
  }
}

function changeFor(row: JobRow, maxRescues: number, now: number): JobChange {
  if (row.cancel === 1) return cancelledAt(now)
  if (row.begun === handling.begunForGood) {
    return dead(row, 'interrupted', { attempt: row.attempts, at: now, message: interruption(row.owner as string) }, now)
  }
  if (rescuesOf(row) >= maxRescues && row.begun !== handling.amongOthers) return dead(row, 'poisoned', poisonError(row, now), now)
  // A job that was amended while it ran may not be due yet.
  return { ...unleased, state: stateAfter(row.run_at - now), attempts: row.attempts - 1 }
}

/** A negative number written into a row does not let its job outlive more workers. */
function rescuesOf({ rescues }: JobRow): number {
  return Math.max(rescues, 0)
}

function dead(row: JobRow, reason: DeadReason, error: AttemptError, now: number): JobChange {
  return { ...unleased, state: stateNumber.dead, finished_at: now, reason, errors: withError(row.errors, error) }
}

function poisonError(row: JobRow, now: number): AttemptError {
  const message = `Its worker died or hung ${rescuesOf(row) + 1} times, the last one was ${row.owner}`
  return { attempt: row.attempts, at: now, message }
}
