import type { TimeWindow } from './calendar-fields.ts'

/** The same times of day, sorted and without overlaps. */
export function disjointWindows(windows: readonly TimeWindow[]): readonly TimeWindow[] {
  const disjoint: TimeWindow[] = []
  for (const window of windows.toSorted((one, other) => one.from - other.from)) {
    const last = disjoint.at(-1)
    if (last === undefined || window.from > last.to + 1) disjoint.push(window)
    else disjoint[disjoint.length - 1] = { from: last.from, to: Math.max(last.to, window.to) }
  }
  return disjoint
}

export function windowsText(windows: readonly TimeWindow[]): string {
  return disjointWindows(windows)
    .map(({ from, to }) => `${timeText(from)}-${timeText(to)}`)
    .join(',')
}

function timeText(secondOfDay: number): string {
  const parts = [Math.floor(secondOfDay / 3_600), Math.floor(secondOfDay / 60) % 60]
  if (secondOfDay % 60 !== 0) parts.push(secondOfDay % 60)
  return parts.map((part) => String(part).padStart(2, '0')).join(':')
}
