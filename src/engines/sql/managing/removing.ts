import { type Steps, wait } from '../../../core/answer.ts'
import type { FinalState } from '../../../queue/contract/job-state.ts'
import type { RemoveFilter } from '../../../queue/contract/store.ts'
import type { QueueTime } from '../../servers/queue-time.ts'
import { type ChosenLanes, chosenLanes } from '../lanes/lane-choice.ts'
import { isJobId } from '../rows/lease-token.ts'
import { stateNumber } from '../rows/tables.ts'
import type { SqlDatabase, SqlValue } from '../session.ts'
import type { Units } from '../units/units.ts'

/** Maximum number of jobs to lock together, so that others do not wait long. */
const jobsPerTransaction = 1_000

export interface RemovingParts {
  readonly database: SqlDatabase
  readonly units: Units
}

/** Deletes ended jobs. */
export class Removing {
  readonly #parts: RemovingParts

  constructor(parts: RemovingParts) {
    this.#parts = parts
  }

  /** Deletes the jobs that ended first, first. */
  *remove(filter: RemoveFilter, time: QueueTime): Steps<number> {
    const lanes = yield* chosenLanes(this.#parts.database, filter)
    const ids = filter.ids?.filter(isJobId)
    if (lanes?.numbers?.length === 0 || ids?.length === 0) return 0
    let removed = 0
    while (removed < filter.limit) {
      const limit = Math.min(filter.limit - removed, jobsPerTransaction)
      const doomed = yield* this.#doomed({ ...filter, limit }, ids, lanes)
      if (doomed.length > 0) removed += yield* this.#removeEnded(doomed, filter.state, time)
      if (doomed.length < limit) break
    }
    return removed
  }

  *#doomed(
    { state, finishedBefore, limit }: RemoveFilter,
    ids: readonly string[] | undefined,
    lanes: ChosenLanes | null,
  ): Steps<readonly string[]> {
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
    if (lanes !== null) {
      conditions.push(lanes.condition)
      values.push(...lanes.values)
    }
    const rows = yield* wait(
      this.#parts.database.all<{ id: string }>(
        `SELECT id FROM ${table} WHERE ${conditions.join(' AND ')} ORDER BY ${at}, id LIMIT ?`,
        [...values, limit],
      ),
    )
    return rows.map(({ id }) => id)
  }

  /** A job may have been put back or deleted since it was found. */
  *#removeEnded(ids: readonly string[], state: FinalState, time: QueueTime): Steps<number> {
    const { answer } = yield* this.#parts.units.run(ids, time, (queue) => {
      const ended = ids.flatMap((id) => queue.job(id) ?? []).filter((job) => job.state === state)
      for (const job of ended) queue.rules.jobs.delete(job)
      return ended.length
    })
    return answer
  }
}
