import type { Lease } from '../../queue/contract/contract.ts'

/** A job that this worker has claimed, and whose handler it may still call. */
export interface ClaimedJob {
  readonly lease: Lease
  /**
   * The milliseconds since its lease was asked for, or renewed. Counted from the question and not from the answer: the queue may
   * have granted it at any time in between.
   */
  sinceAsked: () => number
  /** Since when its rates have held it back; absent where they have not. */
  sinceHeld?: () => number
}

export function claimedJob(lease: Lease, sinceAsked: () => number): ClaimedJob {
  return { lease, sinceAsked }
}
