import { type Steps, wait } from '../../../core/answer.ts'
import type { SqlSession, SqlValue } from '../session.ts'
import { mayBeStored } from './lane-numbers.ts'

/** What jobs are chosen by that their lanes tell of. */
export interface LaneChoice {
  readonly queue?: string
  readonly job?: string
  /** Only jobs of a group, of whichever. */
  readonly group?: string
  readonly exceptJobs?: readonly string[]
}

/** Where so many lanes are meant, each job is asked for its own instead. */
const mostNumbers = 64

/** Which lanes are meant: a condition on `{jobs}`, and their numbers where they are few. */
export interface ChosenLanes {
  readonly numbers: readonly number[] | null
  readonly condition: string
  readonly values: readonly SqlValue[]
}

/** Null where the jobs of all lanes are meant. No more lanes are read than are named one by one. */
export function* chosenLanes(session: SqlSession, choice: LaneChoice): Steps<ChosenLanes | null> {
  const { queue, job, group, exceptJobs = [] } = choice
  const conditions: string[] = []
  const values: SqlValue[] = []
  const where = (condition: string, value: SqlValue | undefined) => {
    conditions.push(condition)
    if (value !== undefined) values.push(value)
  }
  if (queue !== undefined) where('queue = ?', queue)
  if (job !== undefined) where('job = ?', job)
  if (group !== undefined) where('grouped = 1', undefined)
  const except = exceptJobs.filter(mayBeStored)
  if (except.length > 0) where('NOT (job IN (?))', except)
  if (conditions.length === 0) return null
  if (![queue ?? '', job ?? ''].every(mayBeStored)) return { numbers: [], condition: '1 = 0', values: [] }
  const meant = conditions.join(' AND ')
  const few = `SELECT lane FROM {lanes} WHERE ${meant} LIMIT ${mostNumbers + 1}`
  const found = queue === undefined && job === undefined ? null : yield* wait(session.all<{ lane: number }>(few, values))
  if (found !== null && found.length <= mostNumbers) {
    const numbers = found.map(({ lane }) => lane)
    return { numbers, condition: '{jobs}.lane IN (?)', values: [numbers] }
  }
  // One value at a time, so that no planner reads all lanes first.
  return { numbers: null, condition: `(SELECT 1 FROM {lanes} WHERE {lanes}.lane = {jobs}.lane AND ${meant}) = 1`, values }
}
