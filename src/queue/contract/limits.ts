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
  /**
   * Maximum number of jobs with this key that run at once, across all workers; null means unlimited. The rest wait without using
   * up an attempt.
   */
  readonly concurrency: number | null
  /** Maximum rate of claims of this key, across all workers. Only a claim takes a token, not a check. */
  readonly rate?: Rate | null
  /**
   * Limits for each group. Among the groups that may start a job, the one with the fewest running jobs comes first; ties go to
   * the one served longest ago.
   */
  readonly group?: GroupLimits | null
}

/** At most `limit` in any period of `perMs`. */
export interface Rate {
  readonly limit: number
  readonly perMs: number
}

/** Limits shared by the jobs of one key and one group; null means unlimited. */
export interface GroupLimits {
  readonly concurrency: number | null
  readonly rate: Rate | null
}

/** Limits shared by all jobs of a queue, whatever their keys; null means unlimited. */
export interface QueueLimits {
  readonly queue: string
  readonly concurrency: number | null
  readonly rate: Rate | null
}

/** A limit that keeps a ready job from being claimed now. */
export interface Hold {
  readonly rule: HoldRule
  readonly limit: number
  /** How many jobs run under the limit; null for a rate. */
  readonly running: number | null
  /** When the rate allows the next claim; null for a limit that is freed when a run ends. */
  readonly until: number | null
}

/** The limit that holds a job back. */
export type HoldRule = 'concurrency' | 'single' | 'rate' | 'group-concurrency' | 'group-rate' | 'queue-concurrency' | 'queue-rate'

export function isSameRate(a: Rate | null | undefined, b: Rate | null | undefined): boolean {
  return (a ?? null) === (b ?? null) || (a?.limit === b?.limit && a?.perMs === b?.perMs)
}
