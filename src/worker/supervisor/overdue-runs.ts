import type { Clock } from '../../core/time/clock.ts'
import type { JobDefinition } from '../../definition/definition.ts'
import { parseIdentity } from '../../envelope/envelope.ts'
import { longestRunMs } from '../../execution/attempt/longest-run.ts'
import type { HeldLease, JobStore } from '../../queue/contract/store.ts'

export interface OverdueRunsDeps {
  readonly store: Pick<JobStore, 'leases'>
  readonly clock: Clock
  readonly find: (job: string) => JobDefinition | undefined
  /** Maximum number of jobs that a worker runs at once. */
  readonly concurrency: number
}

/** Extra time for a job to get a free slot after its claim, and for its outcome to be written. */
const marginMs = 5_000

/** The runs of these workers that should have ended by now. Their event loops are probably blocked. */
export async function overdueRuns(owners: readonly string[], deps: OverdueRunsDeps): Promise<readonly HeldLease[]> {
  if (owners.length === 0) return []
  const leases = await deps.store.leases({ owners })
  const now = deps.clock.now()
  return begun(leases, deps.concurrency).filter((lease) => isOverdue(lease, now, deps))
}

/** Jobs begin in the order of their claims, so those beyond the concurrency have not begun. */
function begun(leases: readonly HeldLease[], concurrency: number): readonly HeldLease[] {
  const seen = new Map<string, number>()
  return leases.filter(({ owner }) => {
    const before = seen.get(owner) ?? 0
    seen.set(owner, before + 1)
    return before < concurrency
  })
}

function isOverdue({ identity, job, claimedAt }: HeldLease, now: number, { find }: OverdueRunsDeps): boolean {
  const longestMs = longestRunMs(parseIdentity(identity) ?? { timeoutMs: null }, find(job))
  return longestMs !== null && now > claimedAt + longestMs + marginMs
}
