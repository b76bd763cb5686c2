/** What a broker says about the jobs it holds. It cannot tell their names without handing them out. */
export interface Backlog {
  /** Only queues that hold something. */
  counts(): Promise<readonly BacklogCount[]>
}

/** How many jobs a broker holds of one queue. */
export interface BacklogCount {
  readonly queue: string
  readonly ready: number
  readonly scheduled: number
  /** Handed out, and not settled yet. */
  readonly running: number
  /** Dead letters. */
  readonly dead: number
}

/** Appears in counts in place of a name, for jobs that are still in a broker. */
export const jobInBroker = '(in the broker)'
