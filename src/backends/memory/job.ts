import { type Envelope, parseIdentity } from '../../envelope/envelope.ts'
import type { AttemptError } from '../contract.ts'
import type { Slotted } from '../heap.ts'
import type { JobState } from '../job-state.ts'
import type { HeldLease, JobRecord } from '../store.ts'
import type { MemoryLinks } from './links.ts'
import type { MemoryOccurrence } from './timeline.ts'

/** A job as the memory backend holds it. A job is in one heap at most (ready, scheduled, blocked or leased), and `slot` is its place there. */
export interface MemoryJob extends Slotted {
  envelope: Envelope
  /** Where its unique key stands among all keys: under the name that it was sent with, whatever it is called by now. */
  readonly keyIndex: string | null
  /** Rises with every stored job: the order of arrival. */
  readonly arrival: number
  /** Of a schedule; null for a job that was dispatched. */
  readonly occurrence: MemoryOccurrence | null
  /** Its place in a workflow; null while it has none. */
  links: MemoryLinks | null
  state: JobState
  runAt: number
  attempts: number
  rescues: number
  token: string | null
  owner: string | null
  leaseExpiresAt: number
  cancelRequested: boolean
  /** It must not be begun again. */
  begun: boolean
  /** Its owner holds others beside it. */
  amongOthers: boolean
  result: string | null
  seal: string | null
  progress: string | null
  reason: string | null
  errors: readonly AttemptError[]
  startedAt: number | null
  finishedAt: number | null
  /** Deleted, but still in the list of arrivals until that is tidied. */
  removed: boolean
}

/** Of a job that has not ended well, or is to be done again. */
export const unresulted = { result: null, seal: null } as const

export function newJob(envelope: Envelope, arrival: number, occurrence: MemoryOccurrence | null): MemoryJob {
  return {
    envelope,
    keyIndex: keyIndexOf(envelope),
    arrival,
    occurrence,
    links: null,
    state: 'ready',
    runAt: envelope.runAt,
    attempts: 0,
    rescues: 0,
    token: null,
    owner: null,
    leaseExpiresAt: 0,
    cancelRequested: false,
    begun: false,
    amongOthers: false,
    ...unresulted,
    progress: null,
    reason: null,
    errors: [],
    startedAt: null,
    finishedAt: null,
    removed: false,
    slot: -1,
  }
}

/** The length keeps pairs apart whatever characters they have. */
export function keyIndexOf({ job, uniqueKey }: Envelope): string | null {
  return uniqueKey === null ? null : `${job.length}:${job}:${uniqueKey}`
}

/** The envelope that a job gets in the place of its own: what it was born with stays. */
export function amended(job: MemoryJob, envelope: Envelope): Envelope {
  const { number, createdAt, uniqueKey, uniqueUntil, links } = job.envelope
  return { ...envelope, number, createdAt, uniqueKey, uniqueUntil, links }
}

/** Those that are due first, and among them those that came first. */
export function runsFirst(a: MemoryJob, b: MemoryJob): boolean {
  return a.runAt === b.runAt ? a.arrival < b.arrival : a.runAt < b.runAt
}

const maxErrors = 20

export function withError(job: MemoryJob, error: AttemptError): readonly AttemptError[] {
  return [...job.errors, error].slice(-maxErrors)
}

/** What people see of it. An envelope whose identity can not be read is shown by its routing fields alone. */
export function recordOf(job: MemoryJob): JobRecord {
  const { envelope } = job
  const identity = parseIdentity(envelope.identity)
  return {
    id: envelope.id,
    number: envelope.number,
    job: envelope.job,
    name: identity?.name ?? envelope.job,
    queue: envelope.queue,
    priority: envelope.priority,
    state: job.state,
    identity: envelope.identity,
    signature: envelope.signature,
    payload: envelope.payload,
    result: job.result,
    seal: job.seal,
    progress: job.progress,
    meta: identity?.meta ?? {},
    attempts: job.attempts,
    maxRetries: identity?.maxRetries ?? 0,
    timeoutMs: identity?.timeoutMs ?? null,
    singleInstance: identity?.singleInstance ?? false,
    repeat: identity?.repeat ?? null,
    occurrence: identity?.occurrence ?? null,
    rescues: job.rescues,
    uniqueKey: envelope.uniqueKey,
    idempotencyKey: identity?.idempotencyKey ?? null,
    schedule: job.occurrence?.schedule ?? null,
    group: envelope.group,
    parent: job.links?.parent ?? null,
    root: job.links?.root ?? null,
    reason: job.reason,
    errors: job.errors,
    createdAt: envelope.createdAt,
    runAt: job.runAt,
    startedAt: job.startedAt,
    finishedAt: job.finishedAt,
    owner: job.owner,
    leaseExpiresAt: job.token === null ? null : job.leaseExpiresAt,
    cancelRequested: job.cancelRequested,
  }
}

/** Of one that is running. */
export function heldLeaseOf({ envelope, token, owner, attempts, startedAt, leaseExpiresAt }: MemoryJob): HeldLease {
  return {
    token: token as string,
    owner: owner as string,
    id: envelope.id,
    job: envelope.job,
    identity: envelope.identity,
    attempt: attempts,
    claimedAt: startedAt as number,
    expiresAt: leaseExpiresAt,
  }
}
