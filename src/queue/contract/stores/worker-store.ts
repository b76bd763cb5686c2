import { parsed } from '../../model/parsed-json.ts'

/** The live workers, by their own account. Each renews its row; a row that is not renewed expires. */
export interface WorkerStore {
  /** Writes or renews the worker's row for `ttlMs` from now. Also deletes expired rows of other workers. */
  announce(worker: WorkerPresence, ttlMs: number): Promise<void>
  /** Removes a worker that has stopped, so that nobody has to wait for its row to expire. */
  leave(owner: string): Promise<void>
  /** Workers whose rows have not expired, ordered by start time. */
  list(): Promise<readonly WorkerRecord[]>
}

/** What a worker reports about itself. */
export interface WorkerPresence {
  /** The same owner as in its leases. */
  readonly owner: string
  readonly host: string
  readonly pid: number
  /** The version of Treadle. */
  readonly version: string
  readonly startedAt: number
  /** Null means all queues. */
  readonly queues: readonly string[] | null
  /** The keys of the jobs it has handlers for. */
  readonly jobs: readonly string[]
  /** How many jobs it may run at once at most, and how many it currently allows itself. */
  readonly concurrency: number
  readonly allowed: number
  readonly running: number
  readonly breaker: BreakerState
  /** Null if it runs no scheduler. */
  readonly scheduler: SchedulerPresence | null
}

export interface SchedulerPresence {
  /** When it last checked its schedules; null if it never has, because another scheduler holds the lock or the store fails. */
  readonly lastTickAt: number | null
}

/**
 * `open`: claims nothing for a while because the queue kept failing. `half-open`: makes one call to test whether it still fails.
 */
export type BreakerState = (typeof breakerStates)[number]
const breakerStates = ['closed', 'open', 'half-open'] as const

/** Everything the queue knows about a worker: its queues, its jobs, its load and its last heartbeat. */
export interface WorkerRecord extends WorkerPresence {
  /** When it last sent a heartbeat. */
  readonly seenAt: number
  readonly expiresAt: number
}

/** Parses a worker's row. Empty if the row is spoilt, as nothing in it could be trusted. */
export function workerRecord(said: unknown, jobs: unknown, seenAt: number, expiresAt: number): readonly WorkerRecord[] {
  const presence = withDefaults(parsed(said))
  const names = parsed(jobs)
  const isSound = isPresence(presence) && isTexts(names) && isTime(seenAt) && isTime(expiresAt)
  return isSound ? [{ ...presence, jobs: names, seenAt, expiresAt }] : []
}

/** Programs of earlier versions do not say everything. */
function withDefaults(said: unknown): unknown {
  const { concurrency } = Object(said) as Partial<WorkerPresence>
  return { version: '', allowed: concurrency, breaker: 'closed', scheduler: null, ...Object(said) }
}

function isPresence(value: unknown): value is Omit<WorkerPresence, 'jobs'> {
  if (typeof value !== 'object' || value === null) return false
  const { owner, host, version, pid, startedAt, queues, concurrency, allowed, running, breaker, scheduler } = value as Readonly<
    Record<string, unknown>
  >
  return (
    isTexts([owner, host, version]) &&
    [pid, concurrency, allowed, running].every((each) => Number.isSafeInteger(each)) &&
    isTime(startedAt) &&
    (queues === null || isTexts(queues)) &&
    breakerStates.includes(breaker as BreakerState) &&
    isScheduler(scheduler)
  )
}

function isScheduler(value: unknown): value is SchedulerPresence | null {
  if (typeof value !== 'object' || value === null) return value === null
  const { lastTickAt } = value as Readonly<Record<string, unknown>>
  return lastTickAt === null || isTime(lastTickAt)
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
