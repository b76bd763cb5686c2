import type { Clock } from '../../core/time/clock.ts'
import type { JobDefinition } from '../../definition/definition.ts'
import { parseIdentity } from '../../envelope/envelope.ts'
import { longestRunMs } from '../../execution/attempt/longest-run.ts'
import type { HeldLease, JobStore } from '../../queue/contract/store.ts'

export interface OverdueRunsDeps {
  readonly store: Pick<JobStore, 'leases'>
  readonly clock: Clock
  readonly find: (job: string) => JobDefinition | undefined
  /** How many jobs a worker runs at once. */
  readonly concurrency: number
}

/** From its claim a job may wait a little for a free hand, and its end for the disk. */
const marginMs = 5_000

/** The runs of these workers that must have ended by now, had their event loops been free to end them. */
export async function overdueRuns(owners: readonly string[], deps: OverdueRunsDeps): Promise<readonly HeldLease[]> {
  if (owners.length === 0) return []
  const leases = await deps.store.leases(owners)
  const now = deps.clock.now()
  return begun(leases, deps.concurrency).filter((lease) => isOverdue(lease, now, deps))
}

/** Jobs are begun in the order of their claims: more than a worker can run at once have not been begun. */
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
