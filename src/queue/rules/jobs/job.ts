import type { Slotted } from '../../../core/heap.ts'
import { digest } from '../../../core/text/digest.ts'
import { type Envelope, parseIdentity, uniqueUntilOf } from '../../../envelope/envelope.ts'
import type { AttemptError } from '../../contract/contract.ts'
import type { JobState } from '../../contract/job-state.ts'
import type { HeldLease, JobRecord } from '../../contract/store.ts'
import { scopedKey } from '../../model/unique-key.ts'
import type { StoredOccurrence } from '../schedules/timeline.ts'
import type { StoredLinks } from '../workflows/links.ts'

/** A job as the rules see it. It is in at most one heap (ready, scheduled, blocked or leased), and `slot` is its place there. */
export interface StoredJob extends Slotted {
  envelope: Envelope
  /** The index of its unique key, scoped to the name it was sent with even if it has been renamed since. */
  readonly keyIndex: string | null
  /** The name it was sent with. */
  readonly sentAs: string
  /** Its occurrence of a schedule; null for a job that was dispatched. */
  readonly occurrence: StoredOccurrence | null
  /** Its place in a workflow; null while it has none. */
  links: StoredLinks | null
  state: JobState
  runAt: number
  attempts: number
  rescues: number
  token: string | null
  owner: string | null
  leaseExpiresAt: number
  cancelRequested: boolean
  /** Whether it must not be begun again. */
  begun: boolean
  /** Whether its owner also holds other jobs. */
  amongOthers: boolean
  result: string | null
  seal: string | null
  progress: string | null
  reason: string | null
  errors: readonly AttemptError[]
  startedAt: number | null
  finishedAt: number | null
  /** Counts up with each job that becomes ready: of those that became ready together, which did so first. */
  arrival: number
  /** Deleted, but still in the lists of jobs until those are compacted. */
  removed: boolean
}

/** The result of a job that did not succeed, or is to run again. */
export const unresulted = { result: null, seal: null } as const

export function newJob(
  envelope: Envelope,
  occurrence: StoredOccurrence | null,
  keyIndex: string | null = keyIndexOf(envelope),
): StoredJob {
  const uniqueUntil = uniqueUntilOf(envelope)
  return {
    envelope: envelope.uniqueUntil === uniqueUntil ? envelope : { ...envelope, uniqueUntil },
    keyIndex,
    sentAs: envelope.job,
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
    progress: null,
    reason: null,
    errors: [],
    startedAt: null,
    finishedAt: null,
    arrival: 0,
    removed: false,
    slot: -1,
    result: null,
    seal: null,
  }
}

export function keyIndexOf({ job, uniqueKey }: Envelope): string | null {
  return uniqueKey === null ? null : digest(scopedKey(job, uniqueKey))
}

/** The new envelope of a job: the parts that were fixed at its creation are kept. */
export function amended({ number, createdAt, uniqueKey, uniqueUntil, links }: Envelope, envelope: Envelope): Envelope {
  return { ...envelope, number, createdAt, uniqueKey, uniqueUntil, links }
}

/** Earliest due first, then earliest created: ids sort by creation time. */
export function runsFirst(a: StoredJob, b: StoredJob): boolean {
  return a.runAt === b.runAt ? a.envelope.id < b.envelope.id : a.runAt < b.runAt
}

const maxErrors = 20

export function withError(job: Pick<StoredJob, 'errors'>, error: AttemptError): readonly AttemptError[] {
  return [...job.errors, error].slice(-maxErrors)
}

/** The record shown to people. If the identity cannot be read, only the routing fields are shown. */
export function recordOf(job: StoredJob): JobRecord {
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
    tags: identity?.tags ?? [],
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

/** The lease of a running job. */
export function heldLeaseOf({ envelope, token, owner, attempts, startedAt, leaseExpiresAt }: StoredJob): HeldLease {
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
