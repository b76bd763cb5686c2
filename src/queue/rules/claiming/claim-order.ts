interface ClaimedJob {
  readonly id: string
  readonly claimedAt: number
  readonly priority: number
  readonly runAt: number
}

/** Claims are ordered by time, and jobs within a claim by the order in which it chose them. */
export function inClaimOrder(a: ClaimedJob, b: ClaimedJob): number {
  return a.claimedAt - b.claimedAt || b.priority - a.priority || a.runAt - b.runAt || (a.id < b.id ? -1 : 1)
}
