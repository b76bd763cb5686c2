import type { Timer } from '../../core/time/clock.ts'
import { Prefetch } from '../loop/prefetch.ts'
import type { ClaimedJob } from './claimed-job.ts'

/** Claimed jobs that wait for a free slot in this worker, in the order in which they were claimed. */
export class LeaseBuffer {
  readonly #prefetch: Prefetch
  /** Jobs held back by rate limits. Free slots are not for them. */
  readonly #held = new Map<ClaimedJob, Timer>()
  #jobs: ClaimedJob[] = []
  #next = 0

  constructor(concurrency: number, mostAhead: number) {
    this.#prefetch = new Prefetch(concurrency, mostAhead)
  }

  get size(): number {
    return this.#jobs.length - this.#next
  }

  get heldSize(): number {
    return this.#held.size
  }

  get isPrefetching(): boolean {
    return this.#prefetch.ahead > 0
  }

  /** How many jobs to claim when `free` slots are idle. Zero while enough are waiting here, so that claims come in batches. */
  wanted(free: number): number {
    const { ahead } = this.#prefetch
    return this.size > ahead / 2 ? 0 : free + ahead - this.size
  }

  /** Whether the jobs have been waiting too long. */
  get isOverdue(): boolean {
    return this.#prefetch.overdue
  }

  /** `all` means that the claim returned as many jobs as requested. */
  add(jobs: readonly ClaimedJob[], all: boolean): void {
    this.#jobs = [...this.#queued(), ...jobs]
    this.#next = 0
    if (all) this.#prefetch.filled()
  }

  shift(): ClaimedJob | undefined {
    const job = this.#jobs[this.#next]
    if (job === undefined) return undefined
    this.#next++
    if (this.size === 0) this.#prefetch.emptied()
    return job
  }

  get first(): ClaimedJob | undefined {
    return this.#jobs[this.#next]
  }

  /** Sets the first job aside until the timer fires, which must call `unhold`. */
  hold(timer: Timer): void {
    const job = this.shift()
    if (job !== undefined) this.#held.set(job, timer)
  }

  /** Puts the job first, because it has waited longer than the others. */
  unhold(job: ClaimedJob): void {
    if (!this.#held.delete(job)) return
    this.#jobs = [job, ...this.#queued()]
    this.#next = 0
  }

  waiting(): readonly ClaimedJob[] {
    return [...this.#held.keys(), ...this.#queued()]
  }

  remove(job: ClaimedJob): void {
    this.#held.get(job)?.cancel()
    if (this.#held.delete(job)) return
    this.#jobs = this.#queued().filter((each) => each !== job)
    this.#next = 0
  }

  /** Removes and returns the jobs that are held. */
  clearHeld(): readonly ClaimedJob[] {
    const jobs = [...this.#held.keys()]
    for (const timer of this.#held.values()) timer.cancel()
    this.#held.clear()
    return jobs
  }

  /** Removes and returns all jobs that wait for a free slot. Prefetching stops until jobs prove to be short again. */
  clear(): readonly ClaimedJob[] {
    const jobs = this.#queued()
    this.#jobs = []
    this.#next = 0
    this.#prefetch.reset()
    return jobs
  }

  #queued(): readonly ClaimedJob[] {
    return this.#jobs.slice(this.#next)
  }
}
