import { keepOf } from '../../app/retention.ts'
import type { ServedQueue } from '../../app/served-queue.ts'
import type { Lease } from '../../backends/contract.ts'
import type { Lease as LeaseJson } from '../../client/api/lease-shapes.ts'
import type { Json } from '../../core/json.ts'
import { type Opened, openEnvelope } from '../../envelope/envelope.ts'
import { heldByKey } from '../../execution/once.ts'
import { type Outcome, settlementOf } from '../../execution/outcome.ts'
import { iso } from './job-json.ts'

/**
 * What of these leases may be handed out. A job that was changed after it was signed is dead, and one that was done under its
 * idempotency key is not done again.
 */
export async function handOut(leases: readonly Lease[], queue: ServedQueue): Promise<readonly LeaseJson[]> {
  const found = await Promise.all(leases.map((lease) => admit(lease, queue)))
  const handed = found.filter((each) => each !== null)
  const begun = handed.filter(({ job }) => queue.registry.find(job)?.fields.delivery === 'at-most-once')
  if (begun.length > 0) await queue.backend.begin(begun.map(({ token }) => token))
  return handed
}

async function admit(lease: Lease, queue: ServedQueue): Promise<LeaseJson | null> {
  let opened: Opened
  try {
    opened = openEnvelope(lease.envelope, queue.keys)
  } catch (error) {
    await end(lease, { kind: 'dead', reason: 'rejected', error }, queue)
    return null
  }
  const { id, idempotencyKey } = opened.identity
  const { coordination } = queue.backend
  const { logger } = queue.settings
  const held = idempotencyKey === null ? null : await heldByKey(idempotencyKey, id, { coordination, services: { logger } })
  if (held === null) return leaseJson(lease, opened)
  await end(lease, held, queue)
  return null
}

async function end(
  { token, attempt, envelope }: Lease,
  outcome: Outcome,
  { backend, settings, registry }: ServedQueue,
): Promise<void> {
  const keep = keepOf(registry, settings.keep)(envelope.job)
  const settlement = settlementOf(outcome, token, attempt, settings.clock.now(), keep)
  if (settlement !== null) await backend.settle([settlement])
}

function leaseJson({ token, attempt, expiresAt, envelope }: Lease, { identity, payload }: Opened): LeaseJson {
  const { id, job, name, queue, meta, maxRetries, timeoutMs } = identity
  return {
    token,
    id,
    job,
    name,
    queue,
    payload: payload as Json,
    meta,
    attempt,
    maxRetries,
    timeoutMs,
    createdAt: iso(envelope.createdAt),
    expiresAt: iso(expiresAt),
  }
}

/** As if they had never been claimed. */
export async function giveBack(tokens: readonly string[], { backend }: ServedQueue): Promise<void> {
  if (tokens.length > 0) await backend.settle(tokens.map((token) => ({ token, kind: 'snooze', delayMs: 0 })))
}
