import type { Identity } from '../envelope/envelope.ts'
import type { JobRecord } from './store.ts'

/** What was signed of a job, as its record shows it. */
export function identityOf(record: JobRecord): Identity {
  const { id, job, name, queue, priority, maxRetries, timeoutMs, singleInstance, idempotencyKey, meta, occurrence, repeat } =
    record
  return { id, job, name, queue, priority, maxRetries, timeoutMs, singleInstance, idempotencyKey, meta, occurrence, repeat }
}
