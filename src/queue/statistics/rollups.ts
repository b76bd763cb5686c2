import { type Answer, type Steps, wait } from '../../core/answer.ts'
import type { RollupBucket, RollupCell } from '../contract/stores/rollup-store.ts'
import { cellsOfText, RollupSums, textOfCells } from './rollup-cells.ts'

const minuteMs = 60_000
const hourMs = 60 * minuteMs
const dayMs = 24 * hourMs

/** Lengths of buckets, and how long they are kept before they are merged into the next level, and finally deleted. */
const levels = [
  { stepMs: minuteMs, keptMs: 2 * hourMs },
  { stepMs: 10 * minuteMs, keptMs: 26 * hourMs },
  { stepMs: hourMs, keptMs: 8 * dayMs },
] as const

/** The length of a bucket in milliseconds, and its first instant. */
export interface BucketKey {
  readonly step: number
  readonly at: number
}

export interface StoredBucket extends BucketKey {
  readonly body: string
}

/** The engine's storage: one text per bucket, a few hundred at most. */
export interface RollupRows {
  keys(): Answer<readonly BucketKey[]>
  /** Buckets that begin after `at`. */
  since(at: number): Answer<readonly StoredBucket[]>
  /**
   * Writes what `decide` returns for the texts of these buckets; null means there is none. Nothing else changes them in between.
   */
  change(keys: readonly BucketKey[], decide: (bodies: readonly (string | null)[]) => readonly (string | null)[]): Answer<void>
}

/** The rules of rollups, for every engine that stores them. */
export class Rollups {
  readonly #rows: RollupRows

  constructor(rows: RollupRows) {
    this.#rows = rows
  }

  *add(cells: readonly RollupCell[], now: number): Steps<void> {
    if (cells.length === 0) return
    const key = { step: minuteMs, at: startOf(now, minuteMs) }
    yield* wait(this.#rows.change([key], ([body = null]) => [merged([body], cells)]))
  }

  *read(from: number): Steps<readonly RollupBucket[]> {
    const found = yield* wait(this.#rows.since(from - hourMs))
    return found
      .filter(({ at, step }) => at + step > from)
      .map(({ at, step, body }) => ({ at, stepMs: step, cells: cellsOfText(body) }))
      .toSorted((a, b) => a.at - b.at || a.stepMs - b.stepMs)
  }

  *sweep(now: number): Steps<number> {
    let gone = 0
    for (const { from, into } of foldsDue(yield* wait(this.#rows.keys()), now)) {
      gone += from.length
      if (into === null) yield* wait(this.#rows.change(from, (bodies) => bodies.map(() => null)))
      else yield* wait(this.#rows.change([into, ...from], (bodies) => [merged(bodies, []), ...from.map(() => null)]))
    }
    return gone
  }
}

interface Fold {
  readonly from: readonly BucketKey[]
  /** Null if they are deleted. */
  readonly into: BucketKey | null
}

/** The buckets that are old enough to merge or delete. All that go into one bucket go at once. */
function foldsDue(keys: readonly BucketKey[], now: number): readonly Fold[] {
  return levels.flatMap(({ stepMs, keptMs }, index): readonly Fold[] => {
    const next = levels[index + 1]
    const own = keys.filter((key) => key.step === stepMs)
    if (next === undefined) {
      const from = own.filter(({ at }) => at + stepMs <= now - keptMs)
      return from.length === 0 ? [] : [{ from, into: null }]
    }
    const targets = new Set(own.map(({ at }) => startOf(at, next.stepMs)))
    return [...targets]
      .filter((at) => at + next.stepMs <= now - keptMs)
      .map((at) => ({ from: own.filter((key) => startOf(key.at, next.stepMs) === at), into: { step: next.stepMs, at } }))
  })
}

function startOf(at: number, stepMs: number): number {
  return Math.floor(at / stepMs) * stepMs
}

function merged(bodies: readonly (string | null)[], cells: readonly RollupCell[]): string {
  const sums = new RollupSums()
  for (const body of bodies) sums.add(cellsOfText(body))
  return textOfCells(sums.add(cells).bounded)
}
