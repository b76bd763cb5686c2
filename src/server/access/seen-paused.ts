import type { Grant, Placed } from './grant.ts'

/**
 * The paused queues that a token may know of. Without a limit to queues, a token that is limited to jobs sees a queue by the jobs
 * in it, as everywhere. `known` are all jobs that the queue has counts for.
 */
export function seenPausedQueues(paused: readonly string[], grant: Grant, known: readonly Placed[]): readonly string[] {
  if (!grant.isLimited) return paused
  if (grant.queues !== null) return paused.filter((queue) => grant.seesQueue(queue))
  const seen = new Set(known.filter((each) => grant.sees(each)).map(({ queue }) => queue))
  return paused.filter((queue) => seen.has(queue))
}

/** The same for paused jobs, whose names a token that is limited to queues sees in them. */
export function seenPausedJobs(paused: readonly string[], grant: Grant, known: readonly Placed[]): readonly string[] {
  if (grant.queues === null) return paused.filter((job) => grant.seesName(job))
  const seen = new Set(known.filter((each) => grant.sees(each)).map(({ job }) => job))
  return paused.filter((job) => seen.has(job))
}
