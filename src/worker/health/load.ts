import type { LoadMeasure } from '../../execution/events.ts'

/** What is too much; null does not matter. */
export interface LoadLimits {
  readonly cpu: number | null
  readonly lagMs: number | null
  readonly memoryBytes: number | null
}

/** Only well above a limit less is done, and only below it more: between the two it is as it should be. */
const backoffThreshold = 1.1
const decrease = 0.8
const leastJobs = 1

/** 1 is at the limit. What is nearest to its own, or furthest above it, counts. */
export function pressureOf(load: LoadMeasure, limits: LoadLimits): number {
  const shares = [share(load.cpu, limits.cpu), share(load.lagMs, limits.lagMs), share(load.memoryBytes, limits.memoryBytes)]
  return Math.max(...shares)
}

/** Down by a share and up by one: an overload ends soon, and is found again slowly. */
export function nextAllowed(allowed: number, pressure: number, concurrency: number): number {
  if (pressure > backoffThreshold) return Math.max(leastJobs, Math.floor(allowed * decrease))
  return pressure < 1 ? Math.min(concurrency, allowed + 1) : allowed
}

function share(value: number, limit: number | null): number {
  return limit === null ? 0 : value / limit
}
