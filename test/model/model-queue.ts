import type { FailurePolicy, UniqueUntil } from '../../src/envelope/envelope.ts'
import type { ModelOccurrence } from './model-schedules.ts'

export type ModelState = 'ready' | 'scheduled' | 'blocked' | 'running' | 'succeeded' | 'dead' | 'cancelled' | 'skipped'

/** What a job waits for, and what has come of it. */
export interface ModelEdge {
  readonly on: string
  readonly policy: FailurePolicy
  readonly isChild: boolean
  /** `overtaken`: it is not waited for any more, because another one failed. */
  outcome: 'success' | 'failure' | 'overtaken' | null
}

export interface ModelJob {
  readonly id: string
  readonly job: string
  queue: string
  priority: number
  group: string | null
  readonly uniqueKey: string | null
  readonly uniqueUntil: UniqueUntil
  readonly maxAttempts: number
  readonly edges: ModelEdge[]
  state: ModelState
  runAt: number
  attempts: number
  rescues: number
  token: string | null
  /** Of the last lease, which it may still hold. */
  lastToken: string | null
  /** The instant that it stands for; null where no schedule made it. */
  readonly occurrence: number | null
  leaseUntil: number
  cancelRequested: boolean
  /** Its handler has ended; it waits for its children and then ends. */
  isDone: boolean
  /** Whether its row stays once it has succeeded. */
  isKept: boolean
  /** The idempotency key under which it is done, and for how long that is kept. */
  onceMark: { readonly key: string; readonly keepMs: number } | null
  wasStarted: boolean
  isBegun: boolean
}

export type Ending = 'succeeded' | 'dead' | 'cancelled' | 'skipped'

export function isEnded({ state }: ModelJob): boolean {
  return state === 'succeeded' || state === 'dead' || state === 'cancelled' || state === 'skipped'
}

/**
 * The queue in its plainest form: a list of jobs, looked through from the front for every question. What it says of a job's state
 * is what a backend must say; which of several jobs that may start is started is left to the backend.
 */
export class ModelQueue {
  readonly jobs = new Map<string, ModelJob>()
  readonly paused = new Set<string>()
  /** Of all schedules, in the order in which they were stored. */
  readonly occurrences: ModelOccurrence[] = []
  /** Called with a job that has succeeded under an idempotency key. */
  onMarked: (mark: { readonly key: string; readonly keepMs: number }, now: number) => void = () => {}
  /** Keys that are held whatever becomes of the job. */
  readonly #lasting = new Map<string, { readonly id: string; readonly until: number }>()

  get(id: string): ModelJob {
    const job = this.jobs.get(id)
    if (job === undefined) throw new Error(`the model has no job ${id}`)
    return job
  }

  all(): readonly ModelJob[] {
    return [...this.jobs.values()]
  }

  /** The job that keeps another one with the same key out. */
  holderOf({ job, uniqueKey }: Pick<ModelJob, 'job' | 'uniqueKey'>, now: number): string | undefined {
    if (uniqueKey === null) return undefined
    const lasting = this.#lasting.get(`${job} ${uniqueKey}`)
    if (lasting !== undefined && lasting.until > now) return lasting.id
    return this.all().find((each) => each.job === job && each.uniqueKey === uniqueKey && holdsKey(each))?.id
  }

  /** Jobs that come together may wait for each other: first all of them are there, then it is seen what they wait for. */
  insert(job: ModelJob, now: number): void {
    this.jobs.set(job.id, job)
    const until = job.uniqueUntil === 'ever' ? Number.POSITIVE_INFINITY : job.uniqueUntil
    if (job.uniqueKey !== null && typeof until === 'number' && until > now)
      this.#lasting.set(`${job.job} ${job.uniqueKey}`, { id: job.id, until })
    job.state = job.edges.length > 0 ? 'blocked' : job.runAt > now ? 'scheduled' : 'ready'
  }

  settleInserted(job: ModelJob, now: number): void {
    for (const edge of job.edges) this.#resolveIfEnded(job, edge)
    if (job.state === 'blocked') this.settleWaits(job, now)
  }

  /** What time alone does, and is done at the next claim: leases run out, and what was scheduled falls due. */
  catchUp(now: number, maxRescues: number): void {
    for (const job of this.all()) {
      if (job.state === 'running' && job.leaseUntil <= now) this.#expire(job, now, maxRescues)
    }
    for (const job of this.all()) if (job.state === 'scheduled' && job.runAt <= now) job.state = 'ready'
  }

  start(job: ModelJob, token: string, leaseUntil: number): void {
    job.state = 'running'
    job.attempts++
    job.token = token
    job.lastToken = token
    job.leaseUntil = leaseUntil
    job.wasStarted = true
  }

  /** Back to the queue; a job that was asked to stop has stopped now. */
  putBack(job: ModelJob, runAt: number, now: number): void {
    job.token = null
    if (job.cancelRequested) {
      this.end(job, 'cancelled', now)
      return
    }
    job.runAt = runAt
    job.state = runAt > now ? 'scheduled' : 'ready'
  }

  end(job: ModelJob, state: Ending, now: number): void {
    job.state = state
    job.token = null
    for (const each of this.occurrences) if (each.jobId === job.id) each.outcome = state
    if (state === 'succeeded' && job.onceMark !== null) this.onMarked(job.onceMark, now)
    this.#freeUnstarted(job)
    this.#tell(job, now)
    if (state === 'succeeded' && !job.isKept) this.jobs.delete(job.id)
  }

  /** Taken back, as if it had never been sent. */
  withdraw(job: ModelJob, now: number): void {
    this.#freeUnstarted(job)
    this.jobs.delete(job.id)
    this.#tell(job, now)
  }

  /** A key that lasts is free all the same where its job was never begun. */
  #freeUnstarted(job: ModelJob): void {
    const key = `${job.job} ${job.uniqueKey}`
    if (!job.wasStarted && this.#lasting.get(key)?.id === job.id) this.#lasting.delete(key)
  }

  /** Those that wait for it go on, or end as well. */
  #tell(job: ModelJob, now: number): void {
    for (const waiter of this.all()) {
      for (const edge of waiter.edges) if (edge.on === job.id) this.#resolveIfEnded(waiter, edge)
      if (waiter.state === 'blocked' && waiter.edges.some(({ on }) => on === job.id)) this.settleWaits(waiter, now)
    }
  }

  /** What becomes of a job that waits, by what has come of those that it waits for. */
  settleWaits(job: ModelJob, now: number): void {
    // Before its first run a job waits for its dependencies, afterwards for its children.
    const edges = job.edges.filter(({ isChild }) => isChild === job.wasStarted)
    const failed = edges.filter(({ outcome }) => outcome === 'failure')
    const isComplete = edges.every(({ outcome }) => outcome !== null)
    if (failed.some(({ policy }) => policy === 'fail')) this.end(job, 'dead', now)
    else if (failed.some(({ policy }) => policy === 'skip')) this.end(job, 'skipped', now)
    else if (!isComplete) return
    else if (edges.some(({ policy }) => policy === 'rescue') && !failed.some(({ policy }) => policy === 'rescue'))
      this.end(job, 'skipped', now)
    else this.#release(job, now)
  }

  #release(job: ModelJob, now: number): void {
    if (job.isDone) this.end(job, 'succeeded', now)
    else job.state = job.runAt > now ? 'scheduled' : 'ready'
  }

  #resolveIfEnded(waiter: ModelJob, edge: ModelEdge): void {
    const on = this.jobs.get(edge.on)
    if (edge.outcome !== null || (on !== undefined && !isEnded(on))) return
    edge.outcome = on?.state === 'succeeded' ? 'success' : 'failure'
    if (edge.outcome === 'success' || edge.policy !== 'continue') return
    for (const each of waiter.edges) if (each.isChild === edge.isChild) each.outcome ??= 'overtaken'
  }

  #expire(job: ModelJob, now: number, maxRescues: number): void {
    job.token = null
    job.rescues++
    if (job.cancelRequested) this.end(job, 'cancelled', now)
    else if (job.isBegun || job.rescues > maxRescues) this.end(job, 'dead', now)
    else {
      job.attempts--
      job.state = job.runAt > now ? 'scheduled' : 'ready'
    }
  }
}

function holdsKey(job: ModelJob): boolean {
  if (job.uniqueUntil === 'started') return !job.wasStarted && !isEnded(job)
  return job.uniqueUntil === 'ended' && !isEnded(job)
}
