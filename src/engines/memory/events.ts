import type { Clock } from '../../core/time/clock.ts'
import {
  type EventChunk,
  type EventListenerRow,
  type EventPosition,
  type EventStore,
  keptEventChunks,
  placeEvents,
  type StoredEventChunk,
} from '../../queue/contract/event-store.ts'

export interface MemoryEventsParts {
  readonly clock: Clock
  /** Throws when the backend is closed. */
  readonly checkOpen: () => void
}

/** Recent events, kept while someone in this process is listening. */
export class MemoryEvents implements EventStore {
  readonly #parts: MemoryEventsParts
  readonly #listeners = new Map<string, { readonly wants: string; readonly expiresAt: number }>()
  #chunks: StoredEventChunk[] = []
  #epoch = 0
  #last = 0

  constructor(parts: MemoryEventsParts) {
    this.#parts = parts
  }

  async listen({ id, wants }: EventListenerRow, ttlMs: number): Promise<EventPosition> {
    const now = this.#forgetExpired()
    if (this.#listeners.size === 0) {
      this.#epoch++
      this.#chunks = []
    }
    this.#listeners.set(id, { wants, expiresAt: now + ttlMs })
    return { epoch: this.#epoch, last: this.#last }
  }

  async leave(id: string): Promise<void> {
    this.#forgetExpired()
    this.#listeners.delete(id)
    if (this.#listeners.size === 0) this.#chunks = []
  }

  async wanted(): Promise<readonly string[]> {
    this.#forgetExpired()
    return [...this.#listeners.values()].map(({ wants }) => wants)
  }

  async append(chunks: readonly EventChunk[]): Promise<void> {
    this.#parts.checkOpen()
    for (const chunk of chunks) {
      const placed = placeEvents(chunk, this.#last)
      this.#last = placed.last
      this.#chunks.push(placed)
    }
    this.#chunks.splice(0, Math.max(0, this.#chunks.length - keptEventChunks))
  }

  async read(after: number, limit: number): Promise<readonly StoredEventChunk[]> {
    this.#parts.checkOpen()
    const start = this.#chunks.findIndex(({ last }) => last > after)
    return start < 0 ? [] : this.#chunks.slice(start, start + limit)
  }

  /** Called when the clock was set. */
  move(byMs: number): void {
    for (const [id, { wants, expiresAt }] of this.#listeners) this.#listeners.set(id, { wants, expiresAt: expiresAt + byMs })
  }

  #forgetExpired(): number {
    this.#parts.checkOpen()
    const now = this.#parts.clock.now()
    for (const [id, { expiresAt }] of this.#listeners) if (expiresAt <= now) this.#listeners.delete(id)
    return now
  }
}
