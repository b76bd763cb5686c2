import { type Steps, wait } from '../../../core/answer.ts'
import type { FinalState } from '../../../queue/contract/job-state.ts'
import type { RemoveFilter } from '../../../queue/contract/store.ts'
import { refuseWrongLimit } from '../../../queue/model/list-limit.ts'
import type { QueueTime } from '../../servers/queue-time.ts'
import type { Counts } from '../lanes/counts.ts'
import { type ChosenLanes, chosenLanes } from '../lanes/lane-choice.ts'
import { isJobId } from '../rows/lease-token.ts'
import { stateNumber } from '../rows/tables.ts'
import type { SqlDatabase, SqlValue } from '../session.ts'
import type { Units } from '../units/units.ts'
import { listedParts, sumOf } from './list-parts.ts'

/** Maximum number of jobs to lock together, so that others do not wait long. */
const jobsPerTransaction = 1_000
/** Reading and sorting a job costs about as much as passing over this many that ended before it. */
const sortingCost = 10

export interface RemovingParts {
  readonly database: SqlDatabase
  readonly counts: Counts
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
    refuseWrongLimit(filter, 'remove()')
    const lanes = yield* chosenLanes(this.#parts.database, filter)
    const ids = filter.ids?.filter(isJobId)
    if (lanes?.numbers?.length === 0 || ids?.length === 0) return 0
    const few = ids === undefined && lanes?.numbers != null ? yield* this.#few(lanes.numbers, filter.state) : null
    if (few?.length === 0) return 0
    let removed = 0
    while (removed < filter.limit) {
      const limit = Math.min(filter.limit - removed, jobsPerTransaction)
      const part = { ...filter, limit }
      const doomed = yield* few === null ? this.#doomed(part, ids, lanes) : this.#sorted(part, few)
      if (doomed.length > 0) removed += yield* this.#removeEnded(doomed, filter.state, time)
      if (doomed.length < limit) break
    }
    return removed
  }

  /** The lanes with ended jobs, if those are few of all that ended like them; otherwise null. */
  *#few(lanes: readonly number[], state: FinalState): Steps<readonly number[] | null> {
    const { counts } = this.#parts
    const number = stateNumber[state]
    const counted = (yield* wait(counts.of(lanes))).filter((each) => each.state === number && each.jobs > 0)
    if (counted.length === 0) return []
    const isFew = sumOf(counted, number) * sortingCost < sumOf(yield* wait(counts.together()), number)
    return isFew ? counted.map(({ lane }) => lane) : null
  }

  /** Reads all jobs of these lanes in this state, and none of the others that ended before them. */
  *#sorted({ state, finishedBefore, limit }: RemoveFilter, lanes: readonly number[]): Steps<readonly string[]> {
    const { database } = this.#parts
    const range = finishedBefore === undefined ? '' : ' AND {jobs}.finished_at < ?'
    const bounds = finishedBefore === undefined ? [] : [finishedBefore]
    const parts = lanes.flatMap((lane) => listedParts(database.dialect, {}, lane, state))
    const selects = parts.map(({ table, is }) => `SELECT {jobs}.id, {jobs}.finished_at FROM ${table} WHERE ${is}${range}`)
    const question = `SELECT id FROM (${selects.join(' UNION ALL ')}) AS ended ORDER BY finished_at, id LIMIT ?`
    const values = parts.flatMap((part) => [...part.values, ...bounds])
    return (yield* wait(database.all<{ id: string }>(question, [...values, limit]))).map(({ id }) => id)
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
