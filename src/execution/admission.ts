import type { Lease } from '../backends/contract.ts'
import { TreadleError } from '../core/errors.ts'
import type { JobDefinition } from '../definition/definition.ts'
import { type Opened, openEnvelope } from '../envelope/envelope.ts'
import type { KeyRing } from '../envelope/key-ring.ts'
import type { ActiveRun } from './active-run.ts'

export interface AdmissionDeps {
  readonly find: (job: string) => JobDefinition | undefined
  readonly keys: KeyRing | null
  /** The job keys that each queue admits; a queue that is not named admits all but restricted handlers. */
  readonly allow: Readonly<Record<string, readonly string[]>>
}

export interface Admitted {
  readonly definition: JobDefinition
  readonly opened: Opened
}

/** What fails here would fail for ever: a forged envelope, a handler that this queue does not admit. */
export function admit(run: ActiveRun, deps: AdmissionDeps): Admitted {
  const opened = openLease(run.lease, deps.keys)
  const { job, queue } = opened.identity
  run.name = opened.identity.name
  const definition = deps.find(job)
  if (definition === undefined || definition.fields.handler === null)
    throw new TreadleError('JOB_UNKNOWN', `This worker has no handler for "${job}"`)
  const allowed = Object.hasOwn(deps.allow, queue) ? deps.allow[queue] : undefined
  if (allowed === undefined ? definition.fields.restricted : !allowed.includes(job)) {
    throw new TreadleError('HANDLER_DENIED', `Queue "${queue}" does not admit "${job}". List it in the option allow["${queue}"].`)
  }
  // An encrypted payload that cannot be read is refused here as well.
  void opened.payload
  return { definition, opened }
}

/**
 * Verifies what was claimed. Beside the envelope a lease has numbers that nobody signs: one that no backend writes was written by
 * somebody else, and would let a job run for as often as he likes, or break whoever reads it.
 */
export function openLease({ envelope, attempt }: Lease, keys: KeyRing | null): Opened {
  const { createdAt, runAt, id } = envelope
  if (!(Number.isSafeInteger(attempt) && attempt >= 1)) throw spoilt(id, 'attempts', attempt - 1)
  if (!isTime(createdAt)) throw spoilt(id, 'createdAt', createdAt)
  if (!isTime(runAt)) throw spoilt(id, 'runAt', runAt)
  return openEnvelope(envelope, keys)
}

const latestTimeMs = 8.64e15

function isTime(ms: unknown): boolean {
  return typeof ms === 'number' && Math.abs(ms) <= latestTimeMs
}

function spoilt(id: string, field: string, value: unknown): TreadleError {
  return new TreadleError('ENVELOPE_MALFORMED', `The envelope of job ${id} is refused: its ${field} can not be ${value}`)
}
