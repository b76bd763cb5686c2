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
 * Admission: whether a job that was claimed may run, by the same rules for a worker, for HTTP and for the Bedrock protocol. What is
 * refused outright throws, and ends as dead (`rejected`); what is held back has an outcome in place of its attempt.
 */
export interface AdmissionDeps {
  readonly keys: KeyRing | null
  /** The job keys that each queue admits; a queue that is not named admits all but restricted handlers. */
  readonly allow: Readonly<Record<string, readonly string[]>>
}

export interface Admitted {
  readonly definition: JobDefinition
  readonly opened: Opened
}

/** For a handler of this program. What fails here would fail forever: a forged envelope, a handler that this queue does not admit. */
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
  // An encrypted payload that cannot be read is refused here as well.
  void opened.payload
  return { definition, opened }
}

/** For a client of a server, which runs the job by a program of its own: no handler of this one, restricted or not, is called. */
export function admitForClient(lease: Lease, { keys, allow }: AdmissionDeps): Opened {
  const opened = openLease(lease, keys)
  const { job, encrypted } = opened.identity
  refuseDenied(opened.identity, false, allow)
  // A client that is given something else than what it says would work on that.
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

/** A job that was admitted, and may have to wait for something all the same. */
export interface Candidate {
  readonly lease: Lease
  readonly identity: Identity
  /** Null for a job that was dispatched. */
  readonly scheduled: ScheduledRun | null
}

export type HoldingDeps = OccurrenceDeps & LinkDeps & OnceDeps

/** Whether anything could hold the job back: nothing holds back most jobs, and then nobody is asked. */
export function mayBeHeld(lease: Lease, identity: Identity, scheduled: ScheduledRun | null): boolean {
  return scheduled !== null || identity.idempotencyKey !== null || waits(lease, identity)
}

/**
 * What becomes of a job in place of its attempt, or null when it may run: its schedule is asked first, then what it has waited for,
 * then its idempotency key, which is claimed by that. A run that was called off meanwhile asks no further.
 */
export async function heldBack(
  { lease, identity, scheduled }: Candidate,
  deps: HoldingDeps,
  isCalledOff: () => boolean = () => false,
): Promise<Outcome | null> {
  // What has begun goes on: a retry is not late, and yields to nobody.
  const late = scheduled !== null && lease.attempt === 1 ? await heldBySchedule(scheduled, deps) : null
  if (late !== null || isCalledOff()) return late
  const forged = deps.keys !== null && waits(lease, identity) ? await heldByLinks(lease, deps) : null
  if (forged !== null || isCalledOff()) return forged
  return identity.idempotencyKey === null ? null : heldByKey(identity.idempotencyKey, identity, deps)
}

/**
 * Verifies what was claimed. Beside the envelope a lease has numbers that nobody signs: one that no backend writes was written by
 * somebody else, and would let a job run for as often as he likes, or break whoever reads it.
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
