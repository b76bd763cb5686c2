import { keepOf } from '../../app/retention.ts'
import type { ServedQueue } from '../../app/served-queue.ts'
import type { Lease } from '../../backends/contract.ts'
import { TreadleError } from '../../core/errors.ts'
import type { Identity, Opened } from '../../envelope/envelope.ts'
import { openLease } from '../../execution/admission.ts'
import { heldByLinks, openedLinks, waits } from '../../execution/handed-on.ts'
import { heldBack } from '../../execution/occurrence.ts'
import { heldByKey } from '../../execution/once.ts'
import { type Outcome, settlementOf } from '../../execution/outcome.ts'
import { sealed, sealingKeys } from '../../execution/sealing.ts'
import { occurrenceDeps, scheduledRun } from './scheduled-run.ts'

/** A job that may be handed out to another program. */
export interface AdmittedLease {
  readonly lease: Lease
  readonly opened: Opened
}

/**
 * What of these leases may be handed out. A job that was changed after it was signed, or that its queue does not admit, is dead; one
 * that was done under its idempotency key is not done again; and runs of a schedule are held back as they are by every worker.
 */
export async function admitLeases(leases: readonly Lease[], queue: ServedQueue): Promise<readonly AdmittedLease[]> {
  try {
    const found = await Promise.all(leases.map((lease) => admit(lease, queue)))
    const admitted = found.filter((each) => each !== null)
    const begun = admitted.filter(({ lease }) => queue.registry.find(lease.envelope.job)?.fields.delivery === 'at-most-once')
    if (begun.length > 0) await queue.backend.begin(begun.map(({ lease }) => lease.token))
    return admitted
  } catch (thrown) {
    await giveBack(
      leases.map(({ token }) => token),
      queue,
    )
    throw thrown
  }
}

/** As if they had never been claimed. */
export async function giveBack(tokens: readonly string[], { backend }: Pick<ServedQueue, 'backend'>): Promise<void> {
  if (tokens.length > 0) await backend.settle(tokens.map((token) => ({ token, kind: 'snooze', delayMs: 0 })))
}

async function admit(lease: Lease, queue: ServedQueue): Promise<AdmittedLease | null> {
  let opened: Opened
  try {
    opened = openLease(lease, queue.keys)
    refuseUnlisted(opened.identity, queue)
    refuseEncrypted(opened.identity)
  } catch (error) {
    await end(lease, { kind: 'dead', reason: 'rejected', error }, queue)
    return null
  }
  const { occurrence, idempotencyKey } = opened.identity
  // Nothing holds back most jobs, and then nobody is asked.
  if (occurrence === null && idempotencyKey === null && !waits(lease, opened.identity)) return { lease, opened }
  const held =
    (waits(lease, opened.identity) ? await heldByItsLinks(lease, queue) : null) ??
    (await heldBySchedule(lease, opened.identity, queue)) ??
    (await heldByItsKey(opened.identity, queue))
  if (held === null) return { lease, opened }
  await end(lease, held, queue)
  return null
}

/** What is encrypted is read by workers on the queue alone, and a client that is given something else would work on that. */
function refuseEncrypted({ job, encrypted }: Identity): void {
  if (!encrypted) return
  throw new TreadleError(
    'HANDLER_DENIED',
    `"${job}" is encrypted: it is run by workers on the queue, not by clients of a job server`,
  )
}

function refuseUnlisted({ job, queue }: Identity, { settings: { allow } }: ServedQueue): void {
  const allowed = Object.hasOwn(allow, queue) ? allow[queue] : undefined
  if (allowed === undefined || allowed.includes(job)) return
  throw new TreadleError('HANDLER_DENIED', `Queue "${queue}" does not admit "${job}". List it in the option allow["${queue}"].`)
}

/** A scheduled run that is late, or overlaps the one before it. What has begun goes on. */
async function heldBySchedule({ attempt, envelope }: Lease, identity: Identity, queue: ServedQueue): Promise<Outcome | null> {
  const run = attempt === 1 ? scheduledRun(identity, envelope.createdAt, queue) : null
  return run === null ? null : heldBack(run, occurrenceDeps(queue))
}

/** It is not handed out with what somebody else has written than its dependencies and children. */
async function heldByItsLinks(lease: Lease, { backend, settings: { logger }, keys }: ServedQueue): Promise<Outcome | null> {
  if (keys === null) return null
  return heldByLinks(lease, { services: { logger, links: (waiter) => openedLinks(waiter, backend.store, keys) } })
}

async function heldByItsKey(identity: Identity, { backend, settings, keys }: ServedQueue): Promise<Outcome | null> {
  const { coordination } = backend
  const { idempotencyKey } = identity
  return idempotencyKey === null ? null : heldByKey(idempotencyKey, identity, { coordination, keys, services: settings })
}

async function end(
  { token, attempt, envelope }: Lease,
  outcome: Outcome,
  { backend, settings, registry, keys }: ServedQueue,
): Promise<void> {
  const keep = keepOf(registry, settings.keep)(envelope.job)
  const settlement = settlementOf(outcome, token, attempt, settings.clock.now(), keep)
  if (settlement !== null) await backend.settle([sealed(settlement, envelope, sealingKeys({ envelope }, keys))])
}
