import { messageOf } from '../../core/errors.ts'
import type { Logger } from '../../core/logger.ts'
import { type Opened, openEnvelope } from '../../envelope/envelope.ts'
import type { KeyRing } from '../../envelope/keys/key-ring.ts'
import { isFinal } from '../../queue/contract/job-state.ts'
import type { HeldLease, JobRecord, JobStore } from '../../queue/contract/store.ts'
import { type EndedLease, type EndingDeps, end } from '../end/end.ts'
import { rejectionOf } from './refusing.ts'

export interface VerifyingDeps extends EndingDeps {
  readonly store: JobStore
  readonly services: { readonly logger: Logger }
}

/** Whether a job is what was signed. If not, none of its content may be shown to a worker. */
export function isGenuine(record: JobRecord, { keys }: { readonly keys: KeyRing | null }): boolean {
  try {
    openEnvelope(record, keys)
    return true
  } catch {
    return false
  }
}

/**
 * Verifies a job before it is used. If it is not what was signed, it ends as dead (`rejected`), whether it waits or runs, and the
 * error that `refusal` makes of the reason is thrown.
 */
export async function openRecord(record: JobRecord, deps: VerifyingDeps, refusal: (why: string) => Error): Promise<Opened> {
  // A missing key says nothing against the job.
  deps.keys?.ready()
  let error: unknown
  try {
    return openEnvelope(record, deps.keys)
  } catch (thrown) {
    error = thrown
  }
  await refuse(record, error, deps)
  deps.services.logger.warn(`Job ${record.id} ("${record.job}") is rejected: ${messageOf(error)}`)
  throw refusal(messageOf(error))
}

async function refuse(record: JobRecord, error: unknown, deps: VerifyingDeps): Promise<void> {
  const { store, clock } = deps
  if (isFinal(record.state)) return
  if (record.state !== 'running') {
    await store.amend([rejectionOf(record, error, clock.now())])
    return
  }
  const [held] = await store.leases({ ids: [record.id] })
  if (held !== undefined) await end(endedLease(held, record), { kind: 'dead', reason: 'rejected', error }, deps)
}

/** The lease of a job that is ended from outside its run, from stored data only. */
export function endedLease({ token, attempt, claimedAt }: HeldLease, record: JobRecord): EndedLease {
  return { token, attempt, claimedAt, linked: record.root !== null, envelope: record }
}
