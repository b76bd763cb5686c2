import { keepOf } from '../../app/retention.ts'
import type { ServedQueue } from '../../app/served-queue.ts'
import { isFinal } from '../../backends/job-state.ts'
import type { JobRecord } from '../../backends/store.ts'
import { messageOf } from '../../core/errors.ts'
import { type Opened, openEnvelope } from '../../envelope/envelope.ts'
import { settlementOf } from '../../execution/outcome.ts'
import { rejectionOf } from '../../execution/refusing.ts'

/** Whether a job is what was signed. Where it is not, nothing that it says is told to a worker. */
export function isGenuine(record: JobRecord, { keys }: ServedQueue): boolean {
  try {
    openEnvelope(record, keys)
    return true
  } catch {
    return false
  }
}

/**
 * Verifies a job before anything is made of it. One that is not what was signed ends as dead (`rejected`), whether it waits or runs,
 * and what `refusal` makes of the reason is thrown.
 */
export async function openRecord(record: JobRecord, queue: ServedQueue, refusal: (why: string) => Error): Promise<Opened> {
  let error: unknown
  try {
    return openEnvelope(record, queue.keys)
  } catch (thrown) {
    error = thrown
  }
  await refuse(record, error, queue)
  queue.settings.logger.warn(`Job ${record.id} ("${record.job}") is rejected: ${messageOf(error)}`)
  throw refusal(messageOf(error))
}

async function refuse(record: JobRecord, error: unknown, { backend, settings, registry }: ServedQueue): Promise<void> {
  const { store } = backend
  if (isFinal(record.state)) return
  if (record.state !== 'running') {
    await store.reject([rejectionOf(record, error, settings.clock.now())])
    return
  }
  const [held] = await store.leasesOf([record.id])
  if (held === undefined) return
  const keep = keepOf(registry, settings.keep)(record.job)
  const outcome = { kind: 'dead', reason: 'rejected', error } as const
  const settlement = settlementOf(outcome, held.token, held.attempt, settings.clock.now(), keep)
  if (settlement !== null) await backend.settle([settlement])
}
