/** What the statements of the queue must know of the engine. */
export interface Dialect {
  readonly kind: 'postgres' | 'mysql'
  /** A query for the lanes that have ready jobs, at the cost of those lanes and not of the jobs. */
  readonly readyLanes: string
  /** The type that a sum is cast to, to come back as a whole number. */
  readonly wholeNumber: string
}
