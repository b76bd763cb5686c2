import type { SettledMany, Settlements } from '../../client/api/lease-shapes.ts'
import { toJson } from '../../core/text/json.ts'
import { parseDuration } from '../../core/time/duration.ts'
import { type Identity, type Opened, openEnvelope, parseIdentity } from '../../envelope/envelope.ts'
import { scheduledRun } from '../../execution/admit/occurrence.ts'
import { endedLease } from '../../execution/admit/verifying.ts'
import { asDelivered, type EndedLease, end, outcomeOfDone, outcomeOfFailed } from '../../execution/end/end.ts'
import type { Outcome } from '../../execution/end/outcome.ts'
import type { HeldLease, JobRecord } from '../../queue/contract/store.ts'
import type { Grant } from '../access/grant.ts'
import type { JobService } from '../jobs/job-service.ts'
import { seenLeases } from './permission.ts'

/** How a remote worker's attempt at one job ended. */
export type EndedAttempt = Settlements['settlements'][number]
export type EndReceipt = SettledMany['receipts'][number]

/** The same, validated: if a part of a request is invalid, none of it is done. */
interface Reported {
  readonly ended: EndedAttempt
  readonly result: string | null
  readonly delayMs: number | undefined
}

/** Ends leases by the same rules as the queue's own workers. A lost lease changes nothing and does not affect the others. */
export async function endAttempts(
  ended: readonly EndedAttempt[],
  grant: Grant,
  service: JobService,
): Promise<readonly EndReceipt[]> {
  const held = new Map((await seenLeases(ended, grant, service)).map((lease) => [lease.token, lease]))
  const reported = ended.map((each) => ({ report: reportedOf(each, held.get(each.token)), lease: held.get(each.token) }))
  return Promise.all(reported.map(({ report, lease }) => (lease === undefined ? 'lost' : endAttempt(report, lease, service))))
}

const maxResultBytes = 1024 * 1024

function reportedOf(ended: EndedAttempt, lease: HeldLease | undefined): Reported {
  const given = ended.outcome === 'done' ? ended.result : undefined
  const what = `result of "${lease?.job ?? ended.id}"`
  const delay = 'delay' in ended ? ended.delay : undefined
  return {
    ended,
    result: given === undefined ? null : toJson(given, { what, maxBytes: maxResultBytes }),
    delayMs: delay === undefined ? undefined : parseDuration(delay, 'delay'),
  }
}

async function endAttempt(reported: Reported, held: HeldLease, service: JobService): Promise<EndReceipt> {
  const { execution } = service
  const run = await openRun(reported, held, service)
  if (run === null) return 'lost'
  const outcome = 'rejected' in run ? run.rejected : outcomeOf(reported, held, run, service)
  const scheduled = 'rejected' in run ? null : scheduledRun(run.identity, held.claimedAt, execution)
  const receipt = await end(run.lease, outcome, execution, scheduled)
  return receipt === 'applied' ? receiptOf(outcome) : receipt
}

/** The job that a lease was given for. */
interface RemoteRun {
  readonly lease: EndedLease
  readonly identity: Identity
  /** Null if the job only goes back to the queue. */
  readonly written: { readonly opened: Opened; readonly record: JobRecord } | null
}

/** A job that does not match its signature, and the outcome that follows from it. */
interface RejectedRun {
  readonly lease: EndedLease
  readonly rejected: Outcome
}

/**
 * The job may have been changed since it was handed out, so it is verified again. A job that only goes back to the queue is
 * verified when it is claimed next. Null if the job no longer exists.
 */
async function openRun(
  { ended: { outcome } }: Reported,
  held: HeldLease,
  { execution: { store, keys } }: JobService,
): Promise<RemoteRun | RejectedRun | null> {
  const { id, job, identity: text, token, attempt } = held
  const claimed = outcome === 'release' ? parseIdentity(text) : undefined
  if (claimed !== undefined)
    return { lease: { token, attempt, envelope: { id, job, identity: text } }, identity: claimed, written: null }
  const record = await store.get(id)
  if (record === null) return null
  const lease = endedLease(held, record)
  try {
    const opened = openEnvelope(record, keys)
    return { lease, identity: opened.identity, written: { opened, record } }
  } catch (error) {
    return { lease, rejected: { kind: 'dead', reason: 'rejected', error } }
  }
}

function outcomeOf({ ended, result, delayMs }: Reported, held: HeldLease, run: RemoteRun, service: JobService): Outcome {
  const { creating, execution } = service
  const { identity, written } = run
  switch (ended.outcome) {
    case 'done': {
      const repeated = written && { opened: written.opened, kept: written.record, startedAt: held.claimedAt }
      return outcomeOfDone(result, creating.onceMarkOf(identity), repeated, execution)
    }
    case 'fail': {
      const definition = creating.definitionOf(held.job)
      const outcome = outcomeOfFailed(errorOf(ended.error), identity, definition, held.attempt, execution, delayMs)
      return asDelivered(outcome, definition, identity)
    }
    case 'dead':
      return { kind: 'dead', reason: 'permanent', error: errorOf(ended.error) }
    case 'release':
      return { kind: 'snooze', delayMs: delayMs ?? 0 }
    case 'cancelled':
      return { kind: 'cancelled' }
  }
}

function errorOf({ message, code, stack }: { readonly message: string; readonly code?: string; readonly stack?: string }): Error {
  return Object.assign(new Error(message), { code, stack })
}

function receiptOf(outcome: Outcome): EndReceipt {
  switch (outcome.kind) {
    case 'done':
      return 'done'
    case 'retry':
      return 'retried'
    case 'dead':
      return 'dead'
    case 'cancelled':
      return 'cancelled'
    default:
      return 'released'
  }
}
