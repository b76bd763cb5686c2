import type { Lease } from '../../queue/contract/contract.ts'

/** A job that this worker has claimed and whose handler it may still call. */
export interface ClaimedJob {
  readonly lease: Lease
  /**
   * Milliseconds since its lease was requested or renewed. Counted from the request rather than the response, because the queue
   * may have granted it at any time in between.
   */
  sinceAsked: () => number
  /** Time since its rate limits began to hold it back; absent if they have not. */
  sinceHeld?: () => number
}

export function claimedJob(lease: Lease, sinceAsked: () => number): ClaimedJob {
  return { lease, sinceAsked }
}
