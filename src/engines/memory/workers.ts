import type { Clock } from '../../core/time/clock.ts'
import { byStart, type WorkerPresence, type WorkerRecord, type WorkerStore } from '../../queue/contract/stores/worker-store.ts'
import type { Immediate } from './guarded.ts'

export class MemoryWorkers implements Immediate<WorkerStore> {
  readonly #clock: Clock
  readonly #rows = new Map<string, WorkerRecord>()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  announce(worker: WorkerPresence, ttlMs: number): void {
    const now = this.#clock.now()
    for (const { owner, expiresAt } of this.#rows.values()) if (expiresAt <= now) this.#rows.delete(owner)
    this.#rows.set(worker.owner, { ...worker, seenAt: now, expiresAt: now + ttlMs })
  }

  leave(owner: string): void {
    this.#rows.delete(owner)
  }

  list(): readonly WorkerRecord[] {
    const now = this.#clock.now()
    return [...this.#rows.values()].filter(({ expiresAt }) => expiresAt > now).toSorted(byStart)
  }

  /** Called when the clock was set. */
  move(byMs: number): void {
    for (const [owner, row] of this.#rows) {
      this.#rows.set(owner, { ...row, seenAt: row.seenAt + byMs, expiresAt: row.expiresAt + byMs })
    }
  }
}
