import type { Lease as LeaseJson } from '../../client/api/lease-shapes.ts'
import type { AdmittedLease } from '../service/admission.ts'
import { iso } from './job-json.ts'
import { verbatim } from './verbatim.ts'

/** A lease as a remote worker gets it. */
export function leaseJson({ lease, opened: { identity } }: AdmittedLease): LeaseJson {
  const { token, attempt, expiresAt, envelope } = lease
  const { id, job, name, queue, meta, maxRetries, timeoutMs } = identity
  return {
    token,
    id,
    job,
    name,
    queue,
    payload: verbatim(envelope.payload),
    meta,
    attempt,
    maxRetries,
    timeoutMs,
    createdAt: iso(envelope.createdAt),
    expiresAt: iso(expiresAt),
  }
}
