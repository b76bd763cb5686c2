import { messageOf, TreadleError } from '../../../core/errors.ts'
import { objectOf, retryCountOf, withMembers } from '../../../envelope/bedrock-data.ts'
import { type WireMeta, wireMetaOf } from '../../../envelope/bedrock-meta.ts'
import type { Identity } from '../../../envelope/envelope.ts'
import type { KeyRing } from '../../../envelope/keys/key-ring.ts'
import { jobOf, openHandedOn } from '../../../execution/admit/handed-on.ts'
import { scheduledRun } from '../../../execution/admit/occurrence.ts'
import { end } from '../../../execution/end/end.ts'
import type { Outcome } from '../../../execution/end/outcome.ts'
import { nextAfter } from '../../../execution/end/repeating.ts'
import type { Lease } from '../../../queue/contract/contract.ts'
import type { JobRecord } from '../../../queue/contract/store.ts'
import type { Grant } from '../../access/grant.ts'
import { type AdmittedLease, endUndelivered, isBegunOnce } from '../../jobs/claiming/admission.ts'
import { Refusal } from '../wire/refusal.ts'
import { isBasedOn, retryTime } from './format/repeats.ts'
import { type ChildJob, isChildOf } from './format/wire-job.ts'
import { wireTime } from './format/wire-times.ts'
import { isMockKey, wireNameOf } from './mock-jobs.ts'
import type { WireQueue } from './wire-queue.ts'

/** A job that is being handed out to a client, as it was before that. */
export interface Handed {
  readonly number: number
  readonly lease: Lease
  readonly identity: Identity
  readonly meta: WireMeta
  /** The children that it has waited for, as reported to the client. */
  readonly children: readonly ChildJob[]
}

/** A job that was handed out this many times and never finished is not handed out again. */
const mostRetries = 10

/** Registers leases by number. A job that must not be handed out is ended instead, and left out. */
export async function handOut(leases: readonly AdmittedLease[], grant: Grant, jobs: WireQueue): Promise<readonly Handed[]> {
  const handed: Handed[] = []
  for (const each of leases) {
    try {
      const one = await handOutOne(each, grant, jobs)
      if (one !== null) handed.push(one)
    } catch (thrown) {
      if (!(thrown instanceof Refusal || thrown instanceof RangeError)) throw thrown
      await giveUp(each, `It cannot be handed out: ${messageOf(thrown)}`, jobs)
    }
  }
  return handed
}

async function handOutOne(admitted: AdmittedLease, grant: Grant, jobs: WireQueue): Promise<Handed | null> {
  const { lease, opened } = admitted
  const { identity } = opened
  const { envelope } = lease
  const number = envelope.number ?? (await jobs.deps.numbers.of(envelope.id))
  if (number === null) return null
  if (!opened.isNumberSigned || envelope.number === null) await signNumber(envelope, jobs)
  const meta = wireMetaOf(identity.meta)
  if (jobs.crashing.has(wireNameOf(identity.job))) {
    await giveUp(admitted, 'Jobs of this name were reported to crash their workers (CrashBedrockJob)', jobs)
    return null
  }
  if (retryCountOf(envelope.payload) >= mostRetries) {
    await giveUp(admitted, `It was handed out ${mostRetries} times and never finished`, jobs)
    return null
  }
  const children = meta.hasWaited ? await jobs.children(envelope.id) : []
  if (!(await areGenuine(children, admitted, jobs))) return null
  const handed = { number, lease, identity, meta, children }
  jobs.deps.numbers.note(number, envelope.id)
  if (meta.retryAfter !== '' && !(await jobs.turns.alone(`${number}`, () => tryAgainLater(handed, jobs)))) return null
  jobs.handedOut.add(number, { lease, identity, grant, isPlain: isPlain(handed) })
  return handed
}

/** The client will refer to the job by its number, so the number must be signed from here on. */
async function signNumber({ id, signature }: Lease['envelope'], jobs: WireQueue): Promise<void> {
  if (jobs.deps.queue.keys === null || signature === null) return
  const job = await jobs.byId(id)
  if (job !== null) await jobs.change(job, () => ({ signsNumber: true }))
}

/**
 * The results of children are passed on to their parent. If a result is not signed, or belongs to another job, the parent ends as
 * dead.
 */
async function areGenuine(children: readonly ChildJob[], admitted: AdmittedLease, jobs: WireQueue): Promise<boolean> {
  const { keys } = jobs.deps.execution
  try {
    if (keys !== null) for (const child of children) refuseForged(child, admitted.lease.envelope.id, keys, jobs)
    return true
  } catch (error) {
    await endUnhanded(admitted, { kind: 'dead', reason: 'rejected', error }, jobs)
    return false
  }
}

/**
 * A child that does not match its signature is not refused, because none of its data is passed on (see `toldData`), unless it has
 * finished.
 */
function refuseForged(child: ChildJob, parent: string, keys: KeyRing, jobs: WireQueue): void {
  const { record, state } = child
  if (state === 'FINISHED') openHandedOn(record, jobOf(record), keys)
  if (isChildOf(parent, child) || !jobs.isGenuine(record)) return
  throw new TreadleError('RESULT_FORGED', `Job ${record.id} is no child of job ${parent}: its link was changed in the database`)
}

function giveUp(admitted: AdmittedLease, error: string, jobs: WireQueue): Promise<unknown> {
  return endUnhanded(admitted, { kind: 'dead', reason: 'exhausted', error }, jobs)
}

function endUnhanded({ lease, opened }: AdmittedLease, outcome: Outcome, { deps: { execution } }: WireQueue): Promise<unknown> {
  const scheduled = scheduledRun(opened.identity, lease.envelope.createdAt, execution)
  return end(lease, outcome, execution, scheduled, { keep: true })
}

function isPlain({ identity, meta, lease }: Handed): boolean {
  if (identity.repeat !== null || identity.idempotencyKey !== null || identity.occurrence !== null) return false
  if (meta.parent !== null || meta.hasWaited || meta.retryAfter !== '') return false
  return lease.attempt === 1 && !isMockKey(identity.job)
}

/**
 * Sets the lease to end when the job's `retryAfter` says that it is to be retried. The number of retries is counted in its data.
 * Returns false if the job has been ended by someone else since it was claimed.
 */
async function tryAgainLater({ lease, meta }: Handed, jobs: WireQueue): Promise<boolean> {
  const { queue, execution, leaseMs } = jobs.deps
  const job = await jobs.byId(lease.envelope.id)
  if (job === null) return false
  const now = jobs.now
  const run = { scheduledAt: job.record.runAt, startedAt: now, finishedAt: now }
  const next = nextAfter(job.record, run, execution)
  const runAt = heldUntil(retryTime(meta.retryAfter, now), next, now, leaseMs)
  const [receipt] = await queue.backend.extend([lease.token], runAt - now)
  if (receipt === 'lost') return false
  await jobs.change(job, ({ record }) => ({
    data: isCounted(record) ? countedData(record) : record.payload,
    runAt,
    meta: { lastRun: now },
  }))
  return true
}

/**
 * The earlier of the two that is in the future. A repeat that catches up has its next time in the past, and so may a `retryAfter`
 * such as `START OF DAY`. Neither may give the job to a second worker when the first has only just begun.
 */
function heldUntil(retryAt: number, next: number | null, now: number, leaseMs: number): number {
  const ahead = [retryAt, next].filter((time): time is number => time !== null && time > now)
  return ahead.length === 0 ? now + leaseMs : Math.min(...ahead)
}

/** Jobs named `manual…` are looked after by people and may be retried without limit. */
function isCounted({ job }: JobRecord): boolean {
  return !job.startsWith('manual')
}

function countedData({ payload, repeat, runAt }: JobRecord): string {
  const isFirst = objectOf(payload)?.originalNextRun === undefined
  const original = repeat !== null && isBasedOn(repeat, 'SCHEDULED') && isFirst ? { originalNextRun: wireTime(runAt) } : {}
  return withMembers(payload, { retryAfterCount: retryCountOf(payload) + 1, ...original })
}

/**
 * The client is gone: its jobs go back to where they were in the queue, as if they had not been claimed. An at-most-once job has
 * ended, because there is no way to know what the client has read.
 */
export async function takeBack(handed: readonly Handed[], jobs: WireQueue): Promise<void> {
  const { execution } = jobs.deps
  await endUndelivered(
    handed.map(({ lease }) => lease),
    execution,
  )
  await Promise.all(
    handed.map(async ({ number, lease }) => {
      jobs.handedOut.remove(number)
      if (isBegunOnce(lease, execution)) return
      await jobs.settle({ token: lease.token, kind: 'again', envelope: lease.envelope })
    }),
  )
}
