import { type Steps, wait } from '../../../core/answer.ts'
import type { SqlSession, SqlValue } from '../session.ts'
import { mayBeStored } from './lane-numbers.ts'

/** Criteria for choosing jobs that can be decided by their lanes. */
export interface LaneChoice {
  readonly queue?: string
  readonly job?: string
  /** Only jobs in a group; any group will do. */
  readonly group?: string
  readonly exceptJobs?: readonly string[]
}

/** If this many lanes match, each job is checked against its lane instead. */
const mostNumbers = 64

/** The chosen lanes: a condition on `{jobs}`, and the lane numbers if there are few. */
export interface ChosenLanes {
  readonly numbers: readonly number[] | null
  readonly condition: string
  readonly values: readonly SqlValue[]
}

/** Null if the jobs of all lanes are meant. Reads no more lanes than can be listed by number. */
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
  // A scalar subquery, so that no planner reads all lanes first.
  return { numbers: null, condition: `(SELECT 1 FROM {lanes} WHERE {lanes}.lane = {jobs}.lane AND ${meant}) = 1`, values }
}
