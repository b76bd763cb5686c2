import { parsed } from '../model/parsed-json.ts'

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

/** What the queue knows of a worker: its queues, its jobs, its load and its last heartbeat. */
export interface WorkerRecord extends WorkerPresence {
  /** When it last gave a sign of life. */
  readonly seenAt: number
  readonly expiresAt: number
}

/** A worker's row. One that is spoilt says nothing that could be trusted, and is left out. */
export function workerRecord(said: unknown, jobs: unknown, seenAt: number, expiresAt: number): readonly WorkerRecord[] {
  const presence = parsed(said)
  const names = parsed(jobs)
  const isSound = isPresence(presence) && isTexts(names) && isTime(seenAt) && isTime(expiresAt)
  return isSound ? [{ ...presence, jobs: names, seenAt, expiresAt }] : []
}

function isPresence(value: unknown): value is Omit<WorkerPresence, 'jobs'> {
  if (typeof value !== 'object' || value === null) return false
  const { owner, host, pid, startedAt, queues, concurrency, running } = value as Readonly<Record<string, unknown>>
  const hasNumbers = [pid, concurrency, running].every((each) => typeof each === 'number')
  return (
    typeof owner === 'string' &&
    typeof host === 'string' &&
    hasNumbers &&
    isTime(startedAt) &&
    (queues === null || isTexts(queues))
  )
}

function isTexts(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((each) => typeof each === 'string')
}

function isTime(value: unknown): boolean {
  return typeof value === 'number' && Math.abs(value) <= 8.64e15
}

export function byStart(a: WorkerRecord, b: WorkerRecord): number {
  return a.startedAt - b.startedAt || (a.owner < b.owner ? -1 : 1)
}
