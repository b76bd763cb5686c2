/** What may be claimed, and how much of it. */
export interface ClaimRules {
  /** Only jobs with these keys are claimed. */
  readonly jobs: readonly ClaimableJob[]
  /** Queues whose jobs share a limit. */
  readonly queueLimits?: readonly QueueLimits[]
}

/** A job that a worker has a handler for, with the limits that its claims obey. */
export interface ClaimableJob {
  readonly job: string
  /** At most this many jobs with this key run at once, over all workers; null is unlimited. The rest wait and burn no attempt. */
  readonly concurrency: number | null
  /** At most this many of them are claimed, over all workers. A claim takes the token; looking takes none. */
  readonly rate?: Rate | null
  /** For the jobs of each group. Of those that may start, the group with the fewest running jobs comes first, among equals the one that was served longest ago. */
  readonly group?: GroupLimits | null
}

/** The limits of one key. */
export type JobLimits = Omit<ClaimableJob, 'job'>

/** At most this many in any span of time of this length. */
export interface Rate {
  readonly limit: number
  readonly perMs: number
}

/** What the jobs of one key and one group share; null is unlimited. */
export interface GroupLimits {
  readonly concurrency: number | null
  readonly rate: Rate | null
}

/** What all jobs of a queue share, whatever their keys are; null is unlimited. */
export interface QueueLimits {
  readonly queue: string
  readonly concurrency: number | null
  readonly rate: Rate | null
}

/** A limit that keeps a ready job from being claimed now. */
export interface Hold {
  readonly rule: HoldRule
  readonly limit: number
  /** How many run under the limit; null for a rate. */
  readonly running: number | null
  /** When a rate gives way; null for a limit that a run frees by its end. */
  readonly until: number | null
}

/** The limit that holds a job back. */
export type HoldRule = 'concurrency' | 'single' | 'rate' | 'group-concurrency' | 'group-rate' | 'queue-concurrency' | 'queue-rate'

export function isSameRate(a: Rate | null | undefined, b: Rate | null | undefined): boolean {
  return (a ?? null) === (b ?? null) || (a?.limit === b?.limit && a?.perMs === b?.perMs)
}
