import type { Lease as LeaseJson } from '../../client/api/lease-shapes.ts'
import type { JobDefinition } from '../../definition/definition.ts'
import { maxAttemptsOf, timeoutMsOf } from '../../execution/attempt-limits.ts'
import type { Grant } from '../access/grant.ts'
import type { AdmittedLease } from '../jobs/claiming/admission.ts'
import { withoutParent } from './seen-jobs.ts'
import { iso } from './wire/job-json.ts'
import { verbatim } from './wire/verbatim.ts'

/** A lease as a remote worker gets it. */
export function leaseJson({ lease, opened: { identity } }: AdmittedLease, definition: JobDefinition, grant: Grant): LeaseJson {
  const { token, attempt, expiresAt, envelope } = lease
  const { id, job, name, queue, meta } = identity
  return {
    token,
    id,
    job,
    name,
    queue,
    payload: verbatim(envelope.payload),
    meta: grant.isLimited ? withoutParent(meta) : meta,
    attempt,
    maxRetries: maxAttemptsOf(identity, definition) - 1,
    timeoutMs: timeoutMsOf(identity, definition),
    createdAt: iso(envelope.createdAt),
    expiresAt: iso(expiresAt),
  }
}
