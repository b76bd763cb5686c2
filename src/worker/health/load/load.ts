import type { LoadMeasure } from '../../../execution/events.ts'

/** The limits of each measure; null means no limit. */
export interface LoadLimits {
  readonly cpu: number | null
  readonly lagMs: number | null
  readonly memoryBytes: number | null
}

/** The number of jobs decreases only well above a limit and increases only below it. In between, it stays the same. */
const backoffThreshold = 1.1
const decrease = 0.8
const leastJobs = 1

/** Load relative to the limits, where 1 is at the limit. The highest of the measures counts. */
export function pressureOf(load: LoadMeasure, limits: LoadLimits): number {
  const shares = [share(load.cpu, limits.cpu), share(load.lagMs, limits.lagMs), share(load.memoryBytes, limits.memoryBytes)]
  return Math.max(...shares)
}

/** Decreases multiplicatively and increases by one, so an overload ends quickly and recurs slowly. */
export function nextAllowed(allowed: number, pressure: number, concurrency: number): number {
  if (pressure > backoffThreshold) return Math.max(leastJobs, Math.floor(allowed * decrease))
  return pressure < 1 ? Math.min(concurrency, allowed + 1) : allowed
}

function share(value: number, limit: number | null): number {
  return limit === null ? 0 : value / limit
}
