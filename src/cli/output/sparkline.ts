const bars = '▁▂▃▄▅▆▇█'

/** Values as bars of one column each; the highest fills the line. Null is a blank, and the smallest value still has a bar. */
export function sparkline(values: readonly (number | null)[]): string {
  const highest = Math.max(0, ...values.filter((value) => value !== null))
  return values
    .map((value) => {
      if (value === null || (value === 0 && highest > 0)) return value === null ? ' ' : '▁'
      return highest === 0 ? '▁' : (bars[Math.min(bars.length - 1, Math.ceil((value / highest) * bars.length) - 1)] ?? '▁')
    })
    .join('')
}

/** At most `columns` values: each is the maximum of a group of neighbours. */
export function condensed(values: readonly number[], columns: number): readonly number[] {
  if (values.length <= columns) return values
  return Array.from({ length: columns }, (_, column) => {
    const from = Math.floor((column * values.length) / columns)
    const to = Math.floor(((column + 1) * values.length) / columns)
    return Math.max(...values.slice(from, to))
  })
}

/** The value below which this share of the values lies. */
export function percentile(values: readonly number[], share: number): number | null {
  if (values.length === 0) return null
  const sorted = values.toSorted((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.ceil(share * sorted.length) - 1)] ?? sorted[0] ?? null
}
