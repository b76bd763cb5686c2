import type { JobService } from '../job-service.ts'
import { type AdmittedLease, admitLeases, giveBack } from './admission.ts'
import type { ClaimRequest } from './claims.ts'

/**
 * Maximum number of jobs per claim. More are claimed in several steps, so that their payloads are counted before they fill the
 * memory.
 */
const mostAtOnce = 100
/** A reply with this much payload is large enough. */
const enoughBytes = 8 * 1024 * 1024

/**
 * Returns jobs that may be handed out, but no more than one reply should carry. Waits for the first of them until the given time.
 */
export async function takeAdmitted(
  wanted: Omit<ClaimRequest, 'waitMs'>,
  until: number,
  { claims, queue, execution }: Pick<JobService, 'claims' | 'queue' | 'execution'>,
): Promise<readonly AdmittedLease[]> {
  const admitted: AdmittedLease[] = []
  let bytes = 0
  try {
    while (admitted.length < wanted.limit && bytes < enoughBytes) {
      const limit = Math.min(mostAtOnce, wanted.limit - admitted.length)
      // If no claimed job could be handed out, keep waiting for others.
      const waitMs = admitted.length > 0 ? 0 : Math.max(0, until - queue.settings.clock.now())
      const taken = await claims.take({ ...wanted, limit, waitMs })
      const found = await admitLeases(taken, { queue, execution })
      for (const { lease } of found) bytes += lease.envelope.payload.length
      admitted.push(...found)
      if (taken.length === 0 || (taken.length < limit && admitted.length > 0)) break
    }
    return admitted
  } catch (thrown) {
    const leases = admitted.map(({ lease }) => lease)
    await giveBack(leases, queue)
    throw thrown
  }
}
