import { jsonOf, objectOf, withoutRetryCounts } from '../../../envelope/bedrock-data.ts'
import { shownText } from '../../../envelope/encryption.ts'
import type { Opened } from '../../../envelope/envelope.ts'
import { outcomeOfDone } from '../../../execution/end/end.ts'
import type { DoneRun } from '../../../execution/end/repeating.ts'
import type { SettleReceipt } from '../../../queue/contract/contract.ts'
import type { HeldLease } from '../../../queue/contract/store.ts'
import { Refusal } from '../wire/refusal.ts'
import { refuseUnfitData } from './format/given-texts.ts'
import { isMock } from './format/job-data.ts'
import { isPending, isRunning, type WireJob } from './format/wire-job.ts'
import { wholeSecond } from './format/wire-times.ts'
import type { JobChanges, WireQueue } from './wire-queue.ts'

/** A job that a client has worked on and may end. */
export interface Ending {
  readonly job: WireJob
  readonly opened: Opened
  /** Null if no client holds it: a mock job may be ended at any time. */
  readonly lease: HeldLease | null
  /** The data that the job ends with. */
  readonly data: string
  /** The result to store; null if the client sent none and the job has no parent. */
  readonly result: string | null
}

/** Refuses if the job cannot be finished or retried now. */
export async function openEnding(number: number, given: string | undefined, jobs: WireQueue): Promise<Ending> {
  const job = await jobs.findToChange(number)
  const mock = isMock(job.ownData)
  if (!isRunning(job) && !mock) throw new Refusal(405, onlyRunning)
  // Its result and its next run are derived from its contents, so verify them.
  const opened = await jobs.verified(job.record)
  if (job.record.parent !== null) {
    const parent = await jobs.byId(job.record.parent)
    // A parent that has waited, or is about to, has released its children.
    if (parent !== null && isRunning(parent) && !parent.meta.hasWaited)
      throw new Refusal(405, 'Can only retry/finish child job when parent is PAUSED')
  }
  refuseData(given, mock, jobs)
  const lease = isRunning(job) ? await jobs.leaseOf(job) : null
  if (lease === null && !mock) throw new Refusal(405, onlyRunning)
  const data = withoutRetryCounts(given ?? job.ownData)
  return { job, opened, lease, data, result: given === undefined && job.record.parent === null ? null : data }
}

export function refuseData(given: string | undefined, mock: boolean, jobs: WireQueue): void {
  if (given === undefined) return
  refuseUnfitData(given, jobs)
  if (jsonOf(given) === undefined) throw new Refusal(502, 'Failed to update job retryAfterCount')
  if (Object.hasOwn(objectOf(given) ?? {}, 'mockRequest') !== mock) throw new Refusal(500, 'Mock Mismatch')
}

/** The run that is ending, used to determine the next one. */
export function doneRun({ job: { record }, opened, data }: Ending, jobs: WireQueue): DoneRun {
  // A client only sees a placeholder for encrypted data. If it sends that back, keep the real data.
  const left = data === shownText(opened.text) ? opened.text : data
  return { opened, kept: record, startedAt: record.startedAt ?? jobs.now, data: left }
}

/** Puts the job back into the queue as if it had never been handed out. */
export async function putBack({ job, lease, data }: Ending, changes: Enqueueing, jobs: WireQueue): Promise<void> {
  const meta = { lastRun: job.record.startedAt, hasWaited: false, heldUntil: null, ...changes.meta }
  if ((await enqueue(job, lease, { data, ...changes, meta }, jobs)) === 'lost') throw new Refusal(405, onlyRunning)
}

/** How a job is to wait. */
type Enqueueing = JobChanges & { readonly runAt: number }

/** Makes a job wait from a new time on, whatever its state is. `lost` if it does not run under this lease any more. */
export async function enqueue(
  job: WireJob,
  lease: HeldLease | null,
  changes: Enqueueing,
  jobs: WireQueue,
): Promise<SettleReceipt> {
  const { record } = job
  const { store } = jobs.deps.queue.backend
  if (lease !== null) {
    return jobs.settle({ token: lease.token, kind: 'again', envelope: await jobs.sealed(record, changes) })
  }
  await jobs.amend(job, { ...changes, ...((await waitsOnlyForChildren(job, jobs)) && { unblocks: true }) })
  if (isPending(job)) return 'applied'
  await store.retry([record.id])
  await store.amend([{ id: record.id, runAt: changes.runAt }])
  return 'applied'
}

/** A job that comes after others in a workflow must not run before them. */
async function waitsOnlyForChildren({ record }: WireJob, jobs: WireQueue): Promise<boolean> {
  if (record.state !== 'blocked') return false
  const links = await jobs.deps.queue.backend.store.links(record.id)
  return links.every(({ kind, waiting }) => kind === 'child' || !waiting)
}

/** Finishes the job, or lets it wait for its children if some are still pending. */
export async function finish(ending: Ending, ignoresRepeat: boolean, jobs: WireQueue): Promise<void> {
  const { job, lease, opened, data, result } = ending
  const { creating, execution } = jobs.deps
  const pending = (await childrenLeft(job, jobs)).filter(isPending)
  if (pending.length > 0 && lease !== null) return waitFor(pending, { ...ending, lease }, jobs)
  const isToGo = ignoresRepeat || objectOf(data)?.delete === true
  const outcome = outcomeOfDone(result, creating.onceMarkOf(opened.identity), isToGo ? null : doneRun(ending, jobs), execution)
  if (lease === null) return outcome.again === null ? jobs.erase([job]) : putBack(ending, { runAt: outcome.again.runAt }, jobs)
  const isKept = job.record.parent !== null
  const receipt = await jobs.end(job, lease, outcome, { alone: true, ...(isKept && { keep: true }) })
  if (receipt === 'lost') throw new Refusal(405, onlyRunning)
  // Children were created after the check above.
  if (receipt === 'blocked') await finish(ending, ignoresRepeat, jobs)
}

/** The children that have not finished or been cancelled. The others are known to the client by now and are erased. */
export async function childrenLeft({ record }: WireJob, jobs: WireQueue): Promise<readonly WireJob[]> {
  const children = await jobs.children(record.id)
  const isOver = ({ state }: WireJob) => state === 'FINISHED' || state === 'CANCELLED'
  await jobs.erase(children.filter(isOver))
  return children.filter((child) => !isOver(child))
}

/** Releases its children. The job is handed out again when they have ended. */
async function waitFor(
  children: readonly WireJob[],
  { job, lease, data }: Ending & { readonly lease: HeldLease },
  jobs: WireQueue,
): Promise<void> {
  await jobs.amend(job, {
    data,
    runAt: wholeSecond(job.record.startedAt ?? jobs.now),
    meta: { hasWaited: true, lastRun: job.record.startedAt },
  })
  const { heldChildren } = jobs.deps
  await heldChildren.release(children.map(({ record }) => record))
  if ((await jobs.end(job, lease, { kind: 'wait' })) === 'lost') throw new Refusal(405, onlyRunning)
  // A child that is stored from now on finds its parent waiting; one that was stored since the first look is released here.
  await heldChildren.releaseOf(job.record.id, new Set(children.map(({ record }) => record.id)))
}

/** Also the reply to a client whose lease has expired, so that the job now belongs to another one. */
const onlyRunning = 'Can only retry/finish RUNNING and RUNQUEUED jobs'
