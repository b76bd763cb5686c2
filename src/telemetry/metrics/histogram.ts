/** Upper bounds in seconds. Fixed and few: each is a line for each job in what is scraped. */
export const secondsBounds: readonly number[] = [
  0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 1_800, 7_200,
]

/** How often values lay between bounds, and their sum. The last count is of what lies above all bounds. */
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
