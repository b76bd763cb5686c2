/** What the statements of the queue must know of the engine. */
export interface Dialect {
  readonly kind: 'postgres' | 'mysql'
  /** A query for the lanes that have ready jobs, at the cost of those lanes and not of the jobs. */
  readonly readyLanes: string
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
  firstReady(reader: Reader, places: readonly ReadyPlace[], limit: number): Promise<readonly (readonly ReadyJob[])[]>
}

export interface StateIndex {
  /** The table, with a hint where the engine needs one. */
  readonly from: string
  /** A condition. */
  readonly is: string
  /** The column that the index has them in order by: when they are due, until when they are leased, or when they ended. */
  readonly at: string
}

/** Whatever reads rows. */
export interface Reader {
  all<Row>(sql: string, values?: readonly (string | number)[]): Promise<Row[]>
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
