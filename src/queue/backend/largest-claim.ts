import type { QueueBackend } from '../contract/contract.ts'

const usual = 1_000

/** Maximum number of jobs to request from a backend in one claim. */
export function largestClaimOf({ largestClaim = usual }: Pick<QueueBackend, 'largestClaim'>): number {
  return largestClaim
}
