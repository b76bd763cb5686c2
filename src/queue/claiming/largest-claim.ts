import type { QueueBackend } from '../contract/contract.ts'

const usual = 1_000

/** How many jobs to ask a backend for at most. */
export function largestClaimOf({ largestClaim = usual }: Pick<QueueBackend, 'largestClaim'>): number {
  return largestClaim
}
