import { answerOf } from '../../core/answer.ts'
import type { Clock } from '../../core/time/clock.ts'
import type { RollupBucket, RollupCell, RollupStore } from '../../queue/contract/rollup-store.ts'
import { type BucketKey, type RollupRows, Rollups, type StoredBucket } from '../../queue/statistics/rollups.ts'

export interface MemoryRollupsParts {
  readonly clock: Clock
  /** Throws when the backend is closed. */
  readonly checkOpen: () => void
}

/** Statistics, kept for as long as the process lives. */
export class MemoryRollups implements RollupStore {
  readonly #parts: MemoryRollupsParts
  readonly #rules = new Rollups(new MemoryRows())

  constructor(parts: MemoryRollupsParts) {
    this.#parts = parts
  }

  async add(cells: readonly RollupCell[]): Promise<void> {
    await answerOf(this.#rules.add(cells, this.#now()))
  }

  async read(from: number): Promise<readonly RollupBucket[]> {
    this.#parts.checkOpen()
    return answerOf(this.#rules.read(from))
  }

  async sweep(): Promise<number> {
    return answerOf(this.#rules.sweep(this.#now()))
  }

  #now(): number {
    this.#parts.checkOpen()
    return this.#parts.clock.now()
  }
}

class MemoryRows implements RollupRows {
  readonly #buckets = new Map<string, StoredBucket>()

  keys(): readonly BucketKey[] {
    return [...this.#buckets.values()]
  }

  since(at: number): readonly StoredBucket[] {
    return [...this.#buckets.values()].filter((bucket) => bucket.at > at)
  }

  change(keys: readonly BucketKey[], decide: (bodies: readonly (string | null)[]) => readonly (string | null)[]): void {
    const decided = decide(keys.map((key) => this.#buckets.get(nameOf(key))?.body ?? null))
    for (const [index, { step, at }] of keys.entries()) {
      const body = decided[index] ?? null
      if (body === null) this.#buckets.delete(nameOf({ step, at }))
      else this.#buckets.set(nameOf({ step, at }), { step, at, body })
    }
  }
}

function nameOf({ step, at }: BucketKey): string {
  return `${step} ${at}`
}
