/**
 * Upper bounds in milliseconds, in 1-2-5 steps from 1 ms to 2 h; the last count is for everything above. Fixed, so that
 * histograms can be added.
 */
const durationBounds: readonly number[] = [
  1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000, 2_000, 5_000, 10_000, 20_000, 50_000, 100_000, 200_000, 500_000, 1_000_000,
  2_000_000, 7_200_000,
]

/** Counts durations by bucket. */
export class DurationHistogram {
  /** Only as long as the longest duration needs: most histograms of many names hold a single one. */
  readonly #counts: number[] = []
  #total = 0

  add(ms: number): void {
    let slot = 0
    while (slot < durationBounds.length && ms > (durationBounds[slot] as number)) slot++
    this.#add(slot, 1)
  }

  merge(counts: readonly number[]): void {
    for (const [slot, count] of counts.entries()) {
      if (slot > durationBounds.length) return
      this.#add(slot, count)
    }
  }

  /** Without trailing zeros. */
  get counts(): readonly number[] {
    return this.#counts.slice(0, this.#counts.findLastIndex((count) => count > 0) + 1)
  }

  /** An estimate within the bucket that holds the value; null if the histogram is empty. */
  percentile(share: number): number | null {
    const wanted = share * this.#total
    let before = 0
    for (const [slot, count] of this.#counts.entries()) {
      if (before + count >= wanted && count > 0) {
        const low = slot === 0 ? 0 : (durationBounds[slot - 1] as number)
        const high = durationBounds[slot] ?? low * 2
        return low + (high - low) * Math.min(1, Math.max(0, (wanted - before) / count))
      }
      before += count
    }
    return null
  }

  #add(slot: number, count: number): void {
    while (this.#counts.length <= slot) this.#counts.push(0)
    this.#counts[slot] = (this.#counts[slot] as number) + count
    this.#total += count
  }
}
