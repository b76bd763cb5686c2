import type { RemoveFilter } from '../store.ts'
import { chosenLanes } from './lane-choice.ts'
import type { Lanes } from './lanes.ts'
import type { QueueTime } from './queue-time.ts'
import type { SqlDatabase, SqlValue } from './session.ts'
import { stateNumber } from './tables.ts'
import { isJobId } from './token.ts'
import type { Transactions } from './transactions.ts'

/** So few are locked together that nobody waits for long. */
const jobsPerTransaction = 1_000

export interface RemovingParts {
  readonly database: SqlDatabase
  readonly transactions: Transactions
  readonly lanes: Lanes
}

/** Deletes ended jobs. */
export class Removing {
  readonly #parts: RemovingParts

  constructor(parts: RemovingParts) {
    this.#parts = parts
  }

  /** Those that ended first go first. */
  async remove(filter: RemoveFilter, time: QueueTime): Promise<number> {
    const lanes = await chosenLanes(this.#parts.lanes, filter)
    const ids = filter.ids?.filter(isJobId)
    if (lanes?.length === 0 || ids?.length === 0) return 0
    let removed = 0
    while (removed < filter.limit) {
      const limit = Math.min(filter.limit - removed, jobsPerTransaction)
      const doomed = await this.#doomed({ ...filter, limit }, ids, lanes)
      if (doomed.length > 0) removed += await this.#removeEnded(doomed, stateNumber[filter.state], time)
      if (doomed.length < limit) break
    }
    return removed
  }

  async #doomed(
    { state, finishedBefore, limit }: RemoveFilter,
    ids: readonly string[] | undefined,
    lanes: readonly number[] | null,
  ): Promise<readonly string[]> {
    const { from, is, at } = this.#parts.database.dialect.inState(stateNumber[state])
    const isIn = ids === undefined ? is : `state + 0 = ${stateNumber[state]}`
    const table = ids === undefined ? from : '{jobs by PRIMARY}'
    const conditions = [isIn]
    const values: SqlValue[] = []
    const where = (condition: string, value: SqlValue | null | undefined) => {
      if (value === undefined || value === null) return
      conditions.push(condition)
      values.push(value)
    }
    where(`${at} < ?`, finishedBefore)
    where('id IN (?)', ids)
    where('lane IN (?)', lanes)
    const rows = await this.#parts.database.all<{ id: string }>(
      `SELECT id FROM ${table} WHERE ${conditions.join(' AND ')} ORDER BY ${at} LIMIT ?`,
      [...values, limit],
    )
    return rows.map(({ id }) => id)
  }

  /** Somebody may have put one back, or deleted it, since it was found. */
  async #removeEnded(ids: readonly string[], state: number, time: QueueTime): Promise<number> {
    let removed = 0
    await this.#parts.transactions.withJobs(ids, time, async (hand) => {
      const ended = ids.flatMap((id) => hand.get(id) ?? []).filter((row) => row.state === state)
      for (const { id } of ended) hand.remove(id)
      removed = ended.length
    })
    return removed
  }
}
