import type { Percentiles } from '../shared/view.ts'

/** Upper bounds in milliseconds, 1-2-5 from 1 ms to 2 h; the last one holds the rest. Fixed, so that histograms can be added. */
export const bounds: readonly number[] = [
  1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000, 2_000, 5_000, 10_000, 20_000, 50_000, 100_000, 200_000, 500_000, 1_000_000,
  2_000_000, 7_200_000,
]

export class Histogram {
  readonly counts = new Uint32Array(bounds.length + 1)
  total = 0

  add(ms: number): void {
    const at = bounds.findIndex((bound) => ms <= bound)
    const slot = at < 0 ? bounds.length : at
    this.counts[slot] = (this.counts[slot] as number) + 1
    this.total++
  }

  merge(other: Histogram): void {
    for (const [slot, count] of other.counts.entries()) this.counts[slot] = (this.counts[slot] as number) + count
    this.total += other.total
  }

  /** An estimate within the bounds that the value lies in. */
  percentile(share: number): number {
    const wanted = share * this.total
    let before = 0
    for (const [slot, count] of this.counts.entries()) {
      if (before + count >= wanted && count > 0) {
        const low = slot === 0 ? 0 : (bounds[slot - 1] as number)
        const high = bounds[slot] ?? low * 2
        return low + (high - low) * Math.min(1, Math.max(0, (wanted - before) / count))
      }
      before += count
    }
    return 0
  }

  /** Null where there is nothing to tell. */
  percentiles(): Percentiles | null {
    return this.total === 0 ? null : [this.percentile(0.5), this.percentile(0.95), this.percentile(0.99)]
  }
}
