import type { Usage } from './messages.ts'

/** How much use a process may get before it is replaced; null means no limit. */
export interface WearLimits {
  readonly maxJobs: number | null
  readonly maxMemoryBytes: number | null
}

/** Why a working process is replaced. */
export type Wear = 'jobs' | 'memory' | 'abandoned'

export function wornBy({ jobs, rssBytes }: Usage, { maxJobs, maxMemoryBytes }: WearLimits): Wear | null {
  if (maxJobs !== null && jobs >= maxJobs) return 'jobs'
  if (maxMemoryBytes !== null && rssBytes >= maxMemoryBytes) return 'memory'
  return null
}
