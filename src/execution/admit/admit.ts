import { TreadleError } from '../../core/errors.ts'
import type { JobDefinition } from '../../definition/definition.ts'
import { type Identity, type Opened, openEnvelope } from '../../envelope/envelope.ts'
import type { KeyRing } from '../../envelope/keys/key-ring.ts'
import type { Lease } from '../../queue/contract/contract.ts'
import type { ActiveRun } from '../attempt/active-run.ts'
import type { Outcome } from '../end/outcome.ts'
import { heldByLinks, type LinkDeps, waits } from './handed-on.ts'
import { heldBySchedule, type OccurrenceDeps, type ScheduledRun } from './occurrence.ts'
import { heldByKey, type OnceDeps } from './once.ts'

/**
 * Admission decides whether a claimed job may run, by the same rules for workers, HTTP and the Bedrock protocol. A refusal
 * throws, and the job ends as dead (`rejected`); a job that is held back gets an outcome instead of an attempt.
 */
export interface AdmissionDeps {
  readonly keys: KeyRing | null
  /** The job keys that each queue admits. A queue that is not listed admits all but restricted handlers. */
  readonly allow: Readonly<Record<string, readonly string[]>>
}

export interface Admitted {
  readonly definition: JobDefinition
  readonly opened: Opened
}

/**
 * Admits a job to a handler of this program. Failures here are permanent: a forged envelope, or a handler that this queue does
 * not admit.
 */
export function admit(
  run: ActiveRun,
  { find, keys, allow }: AdmissionDeps & { readonly find: (job: string) => JobDefinition | undefined },
): Admitted {
  const opened = openLease(run.lease, keys)
  const { job, name } = opened.identity
  run.name = name
  const definition = find(job)
  if (definition === undefined || definition.fields.handler === null)
    throw new TreadleError('JOB_UNKNOWN', `This worker has no handler for "${job}"`)
  refuseDenied(opened.identity, definition.fields.restricted, allow)
  // Also refuses an encrypted payload that cannot be decrypted.
  void opened.payload
  return { definition, opened }
}

/**
 * Admits a job to a client of a server, which runs it in its own program. No handler of this program is called, restricted or
 * not.
 */
export function admitForClient(lease: Lease, { keys, allow }: AdmissionDeps): Opened {
  const opened = openLease(lease, keys)
  const { job, encrypted } = opened.identity
  refuseDenied(opened.identity, false, allow)
  // A client would take the encrypted payload for the real one.
  if (encrypted) {
    throw new TreadleError(
      'HANDLER_DENIED',
      `"${job}" is encrypted: it is run by workers on the queue, not by clients of a job server`,
    )
  }
  return opened
}

function refuseDenied({ job, queue }: Identity, isRestricted: boolean, allow: AdmissionDeps['allow']): void {
  const allowed = Object.hasOwn(allow, queue) ? allow[queue] : undefined
  if (allowed === undefined ? !isRestricted : allowed.includes(job)) return
  throw new TreadleError('HANDLER_DENIED', `Queue "${queue}" does not admit "${job}". List it in the option allow["${queue}"].`)
}

/** A job that was admitted, but may still have to wait. */
export interface Candidate {
  readonly lease: Lease
  readonly identity: Identity
  /** Null for a job that was dispatched. */
  readonly scheduled: ScheduledRun | null
}

export type HoldingDeps = OccurrenceDeps & LinkDeps & OnceDeps

/** Whether anything could hold the job back. For most jobs nothing can, which avoids the checks. */
export function mayBeHeld(lease: Lease, identity: Identity, scheduled: ScheduledRun | null): boolean {
  return scheduled !== null || identity.idempotencyKey !== null || waits(lease, identity)
}

/**
 * What happens to a job instead of its attempt; null if it may run. Checks its schedule first, then the jobs it has waited for,
 * then its idempotency key, which this claims. Stops early if the run was called off in the meantime.
 */
export async function heldBack(
  { lease, identity, scheduled }: Candidate,
  deps: HoldingDeps,
  isCalledOff: () => boolean = () => false,
): Promise<Outcome | null> {
  // Once begun, a run continues: a retry is never late, and does not yield to other runs.
  const late = scheduled !== null && lease.attempt === 1 ? await heldBySchedule(scheduled, deps) : null
  if (late !== null || isCalledOff()) return late
  const forged = deps.keys !== null && waits(lease, identity) ? await heldByLinks(lease, deps) : null
  if (forged !== null || isCalledOff()) return forged
  return identity.idempotencyKey === null ? null : heldByKey(identity.idempotencyKey, identity, deps)
}

/**
 * Verifies a claimed job. Besides the envelope a lease has unsigned numbers. A value that no backend writes was tampered with,
 * and could let a job run any number of times or break whatever reads it.
 */
function openLease({ envelope, attempt, rescues = 0 }: Lease, keys: KeyRing | null): Opened {
  const { createdAt, runAt, id } = envelope
  if (!(Number.isSafeInteger(attempt) && attempt >= 1)) throw spoilt(id, 'attempts', attempt)
  if (!Number.isSafeInteger(rescues)) throw spoilt(id, 'rescues', rescues)
  if (!isTime(createdAt)) throw spoilt(id, 'createdAt', createdAt)
  if (!isTime(runAt)) throw spoilt(id, 'runAt', runAt)
  return openEnvelope(envelope, keys)
}

const latestTimeMs = 8.64e15

function isTime(ms: unknown): boolean {
  return typeof ms === 'number' && Math.abs(ms) <= latestTimeMs
}

function spoilt(id: string, field: string, value: unknown): TreadleError {
  return new TreadleError('ENVELOPE_MALFORMED', `The envelope of job ${id} is refused: its ${field} cannot be ${String(value)}`)
}
