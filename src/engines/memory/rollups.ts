import { type Answer, answerOf } from '../../core/answer.ts'
import type { Clock } from '../../core/time/clock.ts'
import type { RollupBucket, RollupCell, RollupStore } from '../../queue/contract/stores/rollup-store.ts'
import { type BucketKey, type RollupRows, Rollups, type StoredBucket } from '../../queue/statistics/rollups.ts'
import type { Immediate } from './guarded.ts'

/** Statistics, kept for as long as the process lives. */
export class MemoryRollups implements Immediate<RollupStore> {
  readonly #clock: Clock
  readonly #rules = new Rollups(new MemoryRows())

  constructor(clock: Clock) {
    this.#clock = clock
  }

  add(cells: readonly RollupCell[]): Answer<void> {
    return answerOf(this.#rules.add(cells, this.#clock.now()))
  }

  read(from: number): Answer<readonly RollupBucket[]> {
    return answerOf(this.#rules.read(from))
  }

  sweep(): Answer<number> {
    return answerOf(this.#rules.sweep(this.#clock.now()))
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
