import type { AttemptError, DeadReason, ReapReport } from '../contract.ts'
import { interruption } from '../failure.ts'
import { handling } from '../handling.ts'
import { type JobChange, type JobRow, stateAfter, unleased, withError } from './job-row.ts'
import type { QueueTime } from './queue-time.ts'
import type { SqlDatabase } from './session.ts'
import { cancelledAt } from './settling.ts'
import { stateNumber } from './tables.ts'
import type { Transactions } from './transactions.ts'

const rescuesPerCall = 1_000

/** Ends leases whose time is over, or whose owners are dead. */
export class Rescuing {
  readonly #database: SqlDatabase
  readonly #transactions: Transactions

  constructor(database: SqlDatabase, transactions: Transactions) {
    this.#database = database
    this.#transactions = transactions
  }

  /** Expired leases go back with their attempt, or to `dead` when that happened too often; whoever asked for the job's end gets it. */
  async reap(maxRescues: number, deadOwners: readonly string[], time: QueueTime): Promise<ReapReport> {
    const ids = [...(await this.#heldBy(deadOwners)), ...(await this.#expired(time.now()))]
    const report = { returned: 0, poisoned: 0 }
    if (ids.length === 0) return report
    await this.#transactions.withJobs(ids, time, async (hand) => {
      const isOver = (row: JobRow) => (row.lease_until as number) <= hand.now || deadOwners.includes(row.owner as string)
      Object.assign(report, { returned: 0, poisoned: 0 })
      for (const row of new Set(ids.flatMap((id) => hand.get(id) ?? []))) {
        if (row.state !== stateNumber.running || !isOver(row)) continue
        const change = changeFor(row, maxRescues, hand.now)
        if (change.state === stateNumber.ready || change.state === stateNumber.scheduled) report.returned++
        if (change.reason === 'poisoned') report.poisoned++
        hand.change(row.id, { ...change, token: null, rescues: row.rescues + 1 })
      }
    })
    return report
  }

  /** Without those that somebody is at: whoever ends his job in a transaction of his own may take his time. */
  async #expired(now: number): Promise<readonly string[]> {
    const { from, is, at } = this.#database.dialect.inState(stateNumber.running)
    const rows = await this.#database.all<{ id: string }>(
      `SELECT id FROM ${from} WHERE ${is} AND ${at} <= ? ORDER BY ${at} LIMIT ${rescuesPerCall} FOR UPDATE SKIP LOCKED`,
      [now],
    )
    return rows.map(({ id }) => id)
  }

  async #heldBy(owners: readonly string[]): Promise<readonly string[]> {
    if (owners.length === 0) return []
    const { from, is } = this.#database.dialect.inState(stateNumber.running)
    const rows = await this.#database.all<{ id: string }>(`SELECT id FROM ${from} WHERE ${is} AND owner IN (?)`, [owners])
    return rows.map(({ id }) => id)
  }
}

function changeFor(row: JobRow, maxRescues: number, now: number): JobChange {
  if (row.cancel === 1) return cancelledAt(now)
  if (row.begun === handling.begunForGood) {
    return dead(row, 'interrupted', { attempt: row.attempts, at: now, message: interruption(row.owner as string) }, now)
  }
  if (row.rescues >= maxRescues && row.begun !== handling.amongOthers) return dead(row, 'poisoned', poisonError(row, now), now)
  // One that was amended while it ran may not be due yet.
  return { ...unleased, state: stateAfter(row.run_at - now), attempts: row.attempts - 1 }
}

function dead(row: JobRow, reason: DeadReason, error: AttemptError, now: number): JobChange {
  return { ...unleased, state: stateNumber.dead, finished_at: now, reason, errors: withError(row.errors, error) }
}

function poisonError(row: JobRow, now: number): AttemptError {
  const message = `Its worker died or hung ${row.rescues + 1} times, the last one was ${row.owner}`
  return { attempt: row.attempts, at: now, message }
}
