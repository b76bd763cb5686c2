import type { Clock } from '../../../core/time/clock.ts'
import type { ScheduleRecord } from '../../../queue/contract/schedule-store.ts'
import type { JobCount, JobStore } from '../../../queue/contract/store.ts'
import type { WorkerRecord } from '../../../queue/contract/worker-store.ts'

/** How long a result is shared between viewers, so that any number of them reads the queue like one. */
const freshMs = 900

interface Kept {
  readonly at: number
  readonly value: Promise<unknown>
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
    return this.#once('workers', () => this.#store.workers.list())
  }

  schedules(): Promise<readonly ScheduleRecord[]> {
    return this.#once('schedules', () => this.#store.schedules.list())
  }

  /** Called after a change, so that the next read is a fresh one. */
  forget(): void {
    this.#kept.clear()
  }

  #once<Value>(name: string, read: () => Promise<Value>): Promise<Value> {
    const now = this.#clock.now()
    const kept = this.#kept.get(name)
    if (kept !== undefined && now >= kept.at && now - kept.at < freshMs) return kept.value as Promise<Value>
    const value = read()
    this.#kept.set(name, { at: now, value })
    // Do not cache a failure: the next reader tries again.
    value.catch(() => {
      if (this.#kept.get(name)?.value === value) this.#kept.delete(name)
    })
    return value
  }
}
