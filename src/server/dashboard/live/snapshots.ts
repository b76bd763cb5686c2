import { type Clock, stopwatchOf } from '../../../core/time/clock.ts'
import type { ScheduleRecord } from '../../../queue/contract/schedule-store.ts'
import type { JobCount, JobRecord, JobStore } from '../../../queue/contract/store.ts'
import type { WorkerRecord } from '../../../queue/contract/stores/worker-store.ts'

/** How long a result is shared between viewers, so that any number of them reads the queue like one. */
const freshMs = 900
/** For what seldom changes, or takes more work. */
const slowMs = 2_000
/** A result that took long is shared longer: reading it takes at most one part in this many of the time. */
const restFactor = 20
const longestMs = 15_000
const mostRunning = 12

interface Kept {
  readonly at: number
  readonly value: Promise<unknown>
  freshMs: number
}

/** The data that all pages need, read once for all of them. */
export class Snapshots {
  readonly #store: JobStore
  readonly #clock: Clock
  readonly #kept = new Map<string, Kept>()

  constructor(store: JobStore, clock: Clock) {
    this.#store = store
    this.#clock = clock
  }

  counts(): Promise<readonly JobCount[]> {
    return this.#once('counts', () => this.#store.counts({ oldest: true }))
  }

  paused(): Promise<readonly string[]> {
    return this.#once('paused', () => this.#store.paused().then(({ queues }) => queues))
  }

  pausedJobs(): Promise<readonly string[]> {
    return this.#once('paused jobs', () => this.#store.paused().then(({ jobs }) => jobs))
  }

  workers(): Promise<readonly WorkerRecord[]> {
    return this.#once('workers', () => this.#store.workers.list(), slowMs)
  }

  schedules(): Promise<readonly ScheduleRecord[]> {
    return this.#once('schedules', () => this.#store.schedules.list(), slowMs)
  }

  running(): Promise<readonly JobRecord[]> {
    return this.#once('running', () => this.#store.list({ state: 'running', limit: mostRunning }))
  }

  /** Called after a change, so that the next read is a fresh one. */
  forget(): void {
    this.#kept.clear()
  }

  #once<Value>(name: string, read: () => Promise<Value>, leastMs = freshMs): Promise<Value> {
    const now = this.#clock.now()
    const kept = this.#kept.get(name)
    if (kept !== undefined && now >= kept.at && now - kept.at < kept.freshMs) return kept.value as Promise<Value>
    const elapsed = stopwatchOf(this.#clock)
    const value = read()
    const reading: Kept = { at: now, value, freshMs: leastMs }
    this.#kept.set(name, reading)
    value.then(
      () => {
        reading.freshMs = Math.max(leastMs, Math.min(longestMs, restFactor * elapsed()))
      },
      // Do not cache a failure: the next reader tries again.
      () => {
        if (this.#kept.get(name) === reading) this.#kept.delete(name)
      },
    )
    return value
  }
}
