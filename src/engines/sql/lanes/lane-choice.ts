import { type Steps, wait } from '../../../core/answer.ts'
import type { SqlSession, SqlValue } from '../session.ts'
import { isLaneNumber, mayBeStored } from './lane-numbers.ts'

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
/** Even where each lane is read separately, no more than this many are. */
export const mostLanesRead = 1_000

/** The chosen lanes: a condition on `{jobs}`, and the lane numbers if there are few. */
export interface ChosenLanes {
  readonly numbers: readonly number[] | null
  readonly condition: string
  readonly values: readonly SqlValue[]
}

/** Null if the jobs of all lanes are meant. Reads no more lanes than can be listed by number. */
export function* chosenLanes(session: SqlSession, choice: LaneChoice): Steps<ChosenLanes | null> {
  const { queue, job } = choice
  const { conditions, values } = conditionsOf(choice)
  if (conditions.length === 0) return null
  if (![queue ?? '', job ?? ''].every(mayBeStored)) return { numbers: [], condition: '1 = 0', values: [] }
  const meant = conditions.join(' AND ')
  const isNamed = queue !== undefined || job !== undefined || choice.group !== undefined
  const numbers = isNamed ? yield* numbersOf(session, meant, values, mostNumbers) : null
  if (numbers !== null) return { numbers, condition: '{jobs}.lane IN (?)', values: [numbers] }
  // A scalar subquery, so that no planner reads all lanes first.
  return { numbers: null, condition: `(SELECT 1 FROM {lanes} WHERE {lanes}.lane = {jobs}.lane AND ${meant}) = 1`, values }
}

/** The numbers of all chosen lanes; null if there are too many to read each of them. */
export function allLanesOf(session: SqlSession, choice: LaneChoice): Steps<readonly number[] | null> {
  const { conditions, values } = conditionsOf(choice)
  return numbersOf(session, conditions.join(' AND '), values, mostLanesRead)
}

function conditionsOf({ queue, job, group, exceptJobs = [] }: LaneChoice): {
  readonly conditions: readonly string[]
  readonly values: readonly SqlValue[]
} {
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
  return { conditions, values }
}

function* numbersOf(
  session: SqlSession,
  meant: string,
  values: readonly SqlValue[],
  most: number,
): Steps<readonly number[] | null> {
  const few = `SELECT lane FROM {lanes} WHERE ${meant} LIMIT ${most + 1}`
  const found = yield* wait(session.all<{ lane: number }>(few, values))
  // No job can be in a lane whose number somebody has spoilt.
  return found.length > most ? null : found.map(({ lane }) => lane).filter(isLaneNumber)
}
