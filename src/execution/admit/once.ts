import type { Logger } from '../../core/logger.ts'
import type { RepeatedErrors } from '../../core/repeated-errors.ts'
import type { JobDefinition } from '../../definition/definition.ts'
import type { Identity } from '../../envelope/envelope.ts'
import type { KeyRing } from '../../envelope/keys/key-ring.ts'
import { type OpenedOnce, openOnce } from '../../envelope/result-seal.ts'
import { coordinationMissing } from '../../queue/backend/missing-coordination.ts'
import type { Coordination, OnceClaim, OnceMark } from '../../queue/contract/contract.ts'
import type { Outcome } from '../end/outcome.ts'

export interface OnceDeps {
  readonly keys: KeyRing | null
  readonly coordination: Coordination | undefined
  readonly services: { readonly logger: Logger; readonly errors: RepeatedErrors }
}

/** What to store when a run has done the work of its idempotency key; null if it has none. */
export function onceMarkOf({ idempotencyKey }: Pick<Identity, 'idempotencyKey'>, { fields }: JobDefinition): OnceMark | null {
  return idempotencyKey === null ? null : { key: idempotencyKey, keepMs: fields.idempotencyTtlMs }
}

/** A job with an idempotency key. */
type KeyedJob = Pick<Identity, 'id' | 'job' | 'queue'>

/** How long to wait before trying again while another job holds the same key, or the database does not answer. */
const lookAgainMs = 1_000

/** What happens to a job because of its idempotency key; null if it has claimed the key and may run. */
export async function heldByKey(key: string, { id, job, queue }: KeyedJob, deps: OnceDeps): Promise<Outcome | null> {
  const claim = await claimOnce(key, id, deps)
  switch (claim.kind) {
    case 'claimed':
      return null
    case 'done': {
      let done: OpenedOnce
      try {
        done = openOnce({ key, result: claim.result, seal: claim.seal }, { job, queue }, deps.keys)
      } catch (error) {
        return { kind: 'dead', reason: 'rejected', error }
      }
      // A run without a result still counts as a success: jobs that depend on this one need not wait any longer.
      const why = `a job with the idempotency key "${key}" has succeeded`
      const { result, wasEncrypted, wasSigned } = done
      return {
        kind: 'skipped',
        why,
        result: result ?? 'null',
        ...(wasEncrypted && { encrypted: true }),
        ...(!wasSigned && { unsigned: true }),
      }
    }
    case 'busy':
    case 'unknown':
      return { kind: 'snooze', delayMs: lookAgainMs }
  }
}

/** A database that does not answer is not a failure of the job. */
async function claimOnce(
  key: string,
  jobId: string,
  { coordination, services }: OnceDeps,
): Promise<OnceClaim | { readonly kind: 'unknown' }> {
  if (coordination === undefined) {
    throw coordinationMissing('Idempotency keys need a backend that workers can share state in')
  }
  try {
    return await coordination.claimOnce(key, jobId)
  } catch (thrown) {
    services.errors.tryingAgain(services.logger, thrown, `the idempotency key "${key}" could not be looked up`)
    return { kind: 'unknown' }
  }
}
