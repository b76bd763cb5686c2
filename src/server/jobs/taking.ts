import { type AdmittedLease, admitLeases, giveBack } from './admission.ts'
import type { ClaimRequest } from './claims.ts'
import type { JobService } from './job-service.ts'

/** More are claimed one after the other: what they carry must not fill the memory before it is counted. */
const mostAtOnce = 100
/** An answer that carries so much is large enough. */
const enoughBytes = 8 * 1024 * 1024

/** Jobs that may be handed out, and no more than one answer should carry; it waits for the first of them until that time. */
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
      // Jobs that could not be handed out leave time to wait for others.
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
