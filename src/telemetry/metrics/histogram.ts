/** Upper bounds in seconds. Fixed and few: each adds a line per job to every scrape. */
export const secondsBounds: readonly number[] = [
  0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 1_800, 7_200,
]

/** Counts values by bucket, and sums them. The last count is for values above all bounds. */
export class Histogram {
  readonly bounds: readonly number[]
  readonly counts: Float64Array
  sum = 0

  constructor(bounds: readonly number[] = secondsBounds) {
    this.bounds = bounds
    this.counts = new Float64Array(bounds.length + 1)
  }

  add(value: number): void {
    const { bounds, counts } = this
    let slot = 0
    while (slot < bounds.length && value > (bounds[slot] as number)) slot++
    counts[slot] = (counts[slot] as number) + 1
    this.sum += value
  }
}
