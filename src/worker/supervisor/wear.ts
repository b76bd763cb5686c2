import type { Usage } from './messages.ts'

/** After how much use a process is replaced; null is never. */
export interface WearLimits {
  readonly maxJobs: number | null
  readonly maxMemoryBytes: number | null
}

/** Why a process is replaced that does its work. */
export type Wear = 'jobs' | 'memory' | 'abandoned'

export function wornBy({ jobs, rssBytes }: Usage, { maxJobs, maxMemoryBytes }: WearLimits): Wear | null {
  if (maxJobs !== null && jobs >= maxJobs) return 'jobs'
  if (maxMemoryBytes !== null && rssBytes >= maxMemoryBytes) return 'memory'
  return null
}
