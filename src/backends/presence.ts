/** Which workers live, by their own word: a row that each renews, and that ends by itself where it is not renewed. */
export interface WorkerStore {
  /** Writes or renews the worker's row for `ttlMs` from now; the rows of others whose time is over are forgotten on the way. */
  announce(worker: WorkerPresence, ttlMs: number): Promise<void>
  /** The worker has ended: nobody has to wait until its time is over. */
  leave(owner: string): Promise<void>
  /** Those whose time is not over, in the order in which they started. */
  list(): Promise<readonly WorkerRecord[]>
}

/** What a worker says of itself. */
export interface WorkerPresence {
  /** The same as of its leases. */
  readonly owner: string
  readonly host: string
  readonly pid: number
  /** Of Treadle. */
  readonly version: string
  readonly startedAt: number
  /** Null is all of them. */
  readonly queues: readonly string[] | null
  /** The keys of the jobs that it has handlers for. */
  readonly jobs: readonly string[]
  /** As many jobs as it may run at once, and as it allows itself now. */
  readonly concurrency: number
  readonly allowed: number
  readonly running: number
  readonly breaker: BreakerState
  /** Null where it follows no schedules. */
  readonly scheduler: SchedulerPresence | null
}

export interface SchedulerPresence {
  /** When it last looked at its schedules; null where it never did: it waits for another one's lock, or the store fails. */
  readonly lastTickAt: number | null
}

/** `open` claims nothing for a while, because the queue kept failing; `half-open` tries once whether it still does. */
export type BreakerState = 'closed' | 'open' | 'half-open'

export interface WorkerRecord extends WorkerPresence {
  /** When it last gave a sign of life. */
  readonly seenAt: number
  readonly expiresAt: number
}

export function byStart(a: WorkerRecord, b: WorkerRecord): number {
  return a.startedAt - b.startedAt || (a.owner < b.owner ? -1 : 1)
}
