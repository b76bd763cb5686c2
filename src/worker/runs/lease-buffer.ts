import type { Timer } from '../../core/time/clock.ts'
import { Prefetch } from '../loop/prefetch.ts'
import type { ClaimedJob } from './claimed-job.ts'

/** Claimed jobs that wait for a free slot in this worker, in the order in which they came. */
export class LeaseBuffer {
  readonly #prefetch: Prefetch
  /** Those that wait for something else: a slot that is free is not for them. */
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

  /** How many to ask for while `free` slots have nothing to do: none while enough wait here, so that they come in batches. */
  wanted(free: number): number {
    const { ahead } = this.#prefetch
    return this.size > ahead / 2 ? 0 : free + ahead - this.size
  }

  /** They wait for longer than they should. */
  get isOverdue(): boolean {
    return this.#prefetch.overdue
  }

  /** `all` tells that as many came as were asked for. */
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

  /** Takes the first one aside until the timer is over, which tells by `unhold`. */
  hold(timer: Timer): void {
    const job = this.shift()
    if (job !== undefined) this.#held.set(job, timer)
  }

  /** It has waited longer than those that came meanwhile. */
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

  /** Gives those away that are held. */
  clearHeld(): readonly ClaimedJob[] {
    const jobs = [...this.#held.keys()]
    for (const timer of this.#held.values()) timer.cancel()
    this.#held.clear()
    return jobs
  }

  /** Gives all away that wait for a free slot, and no more is asked for ahead until jobs prove short again. */
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
