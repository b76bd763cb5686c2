import type { Answer } from '../../core/answer.ts'
import { crowdIsReady, isGrouped, isListed, isRunning, stateNumber } from './rows/tables.ts'

/** What the queue's statements need to know about the engine. */
export interface Dialect {
  readonly kind: 'postgres' | 'mysql' | 'sqlite'
  /** Whether a transaction is alone in the database from its start: then no row and no mutex needs a lock. */
  readonly isAlone?: boolean
  /**
   * A query for the lanes that have ready jobs and are not crowded. Its cost depends on the number of those lanes, not on the
   * number of jobs.
   */
  readonly readyLanes: string
  /** How to find the ready jobs of one lane; `lane` is an expression for its number. */
  readyIn(lane: string): Omit<StateIndex, 'at'>
  /** How to find the ready jobs of crowded lanes in order of `at`, `run_at` and `id`. */
  readonly crowd: StateIndex
  /** How to find jobs in order of their ids by lane, state and whether they are linked, given in this order: see `isListed`. */
  readonly listed: Omit<StateIndex, 'at'>
  /** How to find jobs in order of their ids by group and lane, given in this order. */
  readonly grouped: Omit<StateIndex, 'at'>
  /** How to find the jobs in a state by an index. */
  inState(state: number): StateIndex
  /** How to find running jobs that were asked to stop. */
  readonly cancelling: Omit<StateIndex, 'at'>
  /** The sum of a column. It cannot overflow, whatever somebody has written there. */
  sumOf(column: string): string
  /** An expression of sums as a whole number that JavaScript can hold; a larger one is cut to the largest. 0 if there are no rows. */
  wholeNumber(sum: string): string
  /** An expression for the server's time in milliseconds, as a whole number. */
  readonly nowMs: string
  /** A job's id as text, for results whose other rows have text of another kind in that column. */
  readonly idAsText: string
  /** Whether setting a savepoint failed because the client prepares every statement and the engine cannot prepare this one. */
  isUnprepared(thrown: unknown): boolean
  /** The first ready jobs of each of these places, in order, at most `limit` per place; without a lock. */
  firstReady(reader: Reader, places: readonly ReadyPlace[], limit: number): Answer<readonly (readonly ReadyJob[])[]>
}

export interface StateIndex {
  /** The table, with an index hint if the engine needs one. */
  readonly from: string
  /** A condition. */
  readonly is: string
  /** The column that orders the index: when jobs are due, until when they are leased, or when they ended. */
  readonly at: string
}

/** What orders the jobs in a state: when they are due, until when they are leased, or when they ended. */
export function timeOfState(state: number): StateIndex['at'] {
  if (state === stateNumber.running) return 'lease_until'
  return state < stateNumber.running ? 'run_at' : 'finished_at'
}

/** A subquery that returns 1 if a lane has ready jobs, with one index lookup. */
export function isReadyIn({ readyIn }: Dialect, lane: string): string {
  const { from, is } = readyIn(lane)
  return `(SELECT 1 FROM ${from} WHERE ${is} LIMIT 1)`
}

/** Anything that can read rows. */
export interface Reader {
  all<Row>(sql: string, values?: readonly (string | number)[]): Answer<Row[]>
}

/** A place where ready jobs are ordered: a lane, and one of its groups if it has groups. */
export interface ReadyPlace {
  readonly lane: number
  readonly grp: string
}

export interface ReadyJob {
  readonly id: string
  readonly run_at: number
}

/** Where the condition of a query chooses among partial indexes. */
export const partialIndexes = {
  readyIn: (lane) => ({ from: '{jobs}', is: `state = 0 AND {jobs}.lane = ${lane}` }),
  crowd: { from: '{jobs}', is: crowdIsReady, at: 'crowd' },
  listed: { from: '{jobs}', is: `${isListed} AND {jobs}.lane = ? AND {jobs}.state = ? AND {jobs}.linked = ?` },
  grouped: { from: '{jobs}', is: `${isGrouped} AND {jobs}.grp = ? AND {jobs}.lane = ?` },
  cancelling: { from: '{jobs}', is: `cancel = 1 AND ${isRunning}` },
} as const satisfies Partial<Dialect>

/** For the dialects of servers. */
export function bounded(number: string): string {
  return `LEAST(GREATEST(${number}, ${-Number.MAX_SAFE_INTEGER}), ${Number.MAX_SAFE_INTEGER})`
}
