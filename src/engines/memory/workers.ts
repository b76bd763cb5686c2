import type { Clock } from '../../core/time/clock.ts'
import { byStart, type WorkerPresence, type WorkerRecord, type WorkerStore } from '../../queue/contract/worker-store.ts'

export interface MemoryWorkersParts {
  readonly clock: Clock
  /** Throws when the backend is closed. */
  readonly checkOpen: () => void
}

export class MemoryWorkers implements WorkerStore {
  readonly #parts: MemoryWorkersParts
  readonly #rows = new Map<string, WorkerRecord>()

  constructor(parts: MemoryWorkersParts) {
    this.#parts = parts
  }

  async announce(worker: WorkerPresence, ttlMs: number): Promise<void> {
    const now = this.#now()
    for (const { owner, expiresAt } of this.#rows.values()) if (expiresAt <= now) this.#rows.delete(owner)
    this.#rows.set(worker.owner, { ...worker, seenAt: now, expiresAt: now + ttlMs })
  }

  async leave(owner: string): Promise<void> {
    this.#parts.checkOpen()
    this.#rows.delete(owner)
  }

  async list(): Promise<readonly WorkerRecord[]> {
    const now = this.#now()
    return [...this.#rows.values()].filter(({ expiresAt }) => expiresAt > now).toSorted(byStart)
  }

  /** Called when the clock was set. */
  move(byMs: number): void {
    for (const [owner, row] of this.#rows) {
      this.#rows.set(owner, { ...row, seenAt: row.seenAt + byMs, expiresAt: row.expiresAt + byMs })
    }
  }

  #now(): number {
    this.#parts.checkOpen()
    return this.#parts.clock.now()
  }
}
