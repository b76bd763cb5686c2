import type { Clock } from '../../core/time/clock.ts'
import {
  type EventChunk,
  type EventListenerRow,
  type EventPosition,
  type EventStore,
  keptEventChunks,
  placeEvents,
  type StoredEventChunk,
} from '../../queue/contract/stores/event-store.ts'
import type { Immediate } from './guarded.ts'

/** Recent events, kept while someone in this process is listening. */
export class MemoryEvents implements Immediate<EventStore> {
  readonly #clock: Clock
  readonly #listeners = new Map<string, { readonly wants: string; readonly expiresAt: number }>()
  #chunks: StoredEventChunk[] = []
  #epoch = 0
  #last = 0

  constructor(clock: Clock) {
    this.#clock = clock
  }

  listen({ id, wants }: EventListenerRow, ttlMs: number): EventPosition {
    const now = this.#forgetExpired()
    if (this.#listeners.size === 0) {
      this.#epoch++
      this.#chunks = []
    }
    this.#listeners.set(id, { wants, expiresAt: now + ttlMs })
    return { epoch: this.#epoch, last: this.#last }
  }

  leave(id: string): void {
    this.#forgetExpired()
    this.#listeners.delete(id)
    if (this.#listeners.size === 0) this.#chunks = []
  }

  wanted(): readonly string[] {
    this.#forgetExpired()
    return [...this.#listeners.values()].map(({ wants }) => wants)
  }

  append(chunks: readonly EventChunk[]): void {
    for (const chunk of chunks) {
      const placed = placeEvents(chunk, this.#last)
      this.#last = placed.last
      this.#chunks.push(placed)
    }
    this.#chunks.splice(0, Math.max(0, this.#chunks.length - keptEventChunks))
  }

  read(after: number, limit: number): readonly StoredEventChunk[] {
    const start = this.#chunks.findIndex(({ last }) => last > after)
    return start < 0 ? [] : this.#chunks.slice(start, start + limit)
  }

  /** Called when the clock was set. */
  move(byMs: number): void {
    for (const [id, { wants, expiresAt }] of this.#listeners) this.#listeners.set(id, { wants, expiresAt: expiresAt + byMs })
  }

  #forgetExpired(): number {
    const now = this.#clock.now()
    for (const [id, { expiresAt }] of this.#listeners) if (expiresAt <= now) this.#listeners.delete(id)
    return now
  }
}
