import type { Answer } from '../../core/answer.ts'

/** What the statements of the queue must know of the engine. */
export interface Dialect {
  readonly kind: 'postgres' | 'mysql' | 'sqlite'
  /** Whether a transaction is alone in the database from its first moment on: then no row and no mutex has to be locked. */
  readonly isAlone?: boolean
  /** A query for the lanes that have ready jobs and are not crowded, at the cost of those lanes and not of the jobs. */
  readonly readyLanes: string
  /** How the ready jobs of one lane are found, whose number this expression gives. */
  readyIn(lane: string): Omit<StateIndex, 'at'>
  /** How the ready jobs of crowded lanes are found in their order, which is that of `at`, of `run_at` and of `id`. */
  readonly crowd: StateIndex
  /** How those are found by `at`, their lane, that are sought by it: see `isSoughtByLane`. */
  readonly byLane: StateIndex
  /** How the jobs in a state are found by an index. */
  inState(state: number): StateIndex
  /** How those are found that run and were asked to stop. */
  readonly cancelling: Omit<StateIndex, 'at'>
  /** The type that a sum is cast to, to come back as a whole number. */
  readonly wholeNumber: string
  /** The server's time in milliseconds, as a whole number. */
  readonly nowMs: string
  /** A job's id where other rows of an answer have texts of another kind. */
  readonly idAsText: string
  /** Whether a client that prepares every statement has failed to set a savepoint, because the engine prepares none. */
  isUnprepared(thrown: unknown): boolean
  /** The first ready jobs of each of these places, at most `limit` of each, in their order; without a lock. */
  firstReady(reader: Reader, places: readonly ReadyPlace[], limit: number): Answer<readonly (readonly ReadyJob[])[]>
}

export interface StateIndex {
  /** The table, with a hint where the engine needs one. */
  readonly from: string
  /** A condition. */
  readonly is: string
  /** The column that the index has them in order by: when they are due, until when they are leased, or when they ended. */
  readonly at: string
}

/** A query in brackets that gives 1 where a lane has ready jobs: one look into the index. */
export function isReadyIn({ readyIn }: Dialect, lane: string): string {
  const { from, is } = readyIn(lane)
  return `(SELECT 1 FROM ${from} WHERE ${is} LIMIT 1)`
}

/** Whatever reads rows. */
export interface Reader {
  all<Row>(sql: string, values?: readonly (string | number)[]): Answer<Row[]>
}

/** Where ready jobs stand in their order: a lane, and a group of it where it has groups. */
export interface ReadyPlace {
  readonly lane: number
  readonly grp: string
}

export interface ReadyJob {
  readonly id: string
  readonly run_at: number
}
