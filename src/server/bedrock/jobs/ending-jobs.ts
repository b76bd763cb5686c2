import { jsonOf, objectOf, withoutRetryCounts } from '../../../envelope/bedrock-data.ts'
import { shownText } from '../../../envelope/encryption.ts'
import type { Opened } from '../../../envelope/envelope.ts'
import { outcomeOfDone } from '../../../execution/end/end.ts'
import type { DoneRun } from '../../../execution/end/repeating.ts'
import type { HeldLease } from '../../../queue/contract/store.ts'
import { Refusal } from '../wire/refusal.ts'
import { refuseLargeData } from './given-texts.ts'
import { isMock } from './job-data.ts'
import { isPending, isRunning, type WireJob } from './wire-job.ts'
import type { JobChanges, WireQueue } from './wire-queue.ts'

/** A job that somebody has worked on, and that may be ended. */
export interface Ending {
  readonly job: WireJob
  readonly opened: Opened
  /** Null where nobody has it: a job for tests may be ended at any time. */
  readonly lease: HeldLease | null
  /** What it is left with. */
  readonly data: string
  /** What is stored of how it went: nothing where its client said nothing, and nobody is told of it. */
  readonly result: string | null
}

/** Refuses what cannot be finished or tried again now. */
export async function openEnding(number: number, given: string | undefined, jobs: WireQueue): Promise<Ending> {
  const job = await jobs.findToChange(number)
  const mock = isMock(job.ownData)
  if (!isRunning(job) && !mock) throw new Refusal(405, onlyRunning)
  // What it is finished with, and when it is done again, is taken from it.
  const opened = await jobs.verified(job.record)
  if (job.record.parent !== null) {
    const parent = await jobs.byId(job.record.parent)
    // One that has waited, or is about to, has let its children go.
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
  refuseLargeData(given, jobs)
  if (jsonOf(given) === undefined) throw new Refusal(502, 'Failed to update job retryAfterCount')
  if (Object.hasOwn(objectOf(given) ?? {}, 'mockRequest') !== mock) throw new Refusal(500, 'Mock Mismatch')
}

/** The run that ends now, for what comes after it. */
export function doneRun({ job: { record }, opened, data }: Ending, jobs: WireQueue): DoneRun {
  // What a client was shown of an encrypted job is not what it says.
  const left = data === shownText(opened.text) ? opened.text : data
  return { opened, kept: record, startedAt: record.startedAt ?? jobs.now, data: left }
}

/** It waits again, as a job that nobody has had yet. */
export async function putBack({ job, lease, data }: Ending, changes: JobChanges, jobs: WireQueue): Promise<void> {
  const { record } = job
  const meta = { lastRun: record.startedAt, hasWaited: false, heldUntil: null, ...changes.meta }
  const all = { data, ...changes, meta }
  if (lease === null) return jobs.amend(job, all)
  const receipt = await jobs.settle({ token: lease.token, kind: 'again', envelope: await jobs.sealed(record, all) })
  if (receipt === 'lost') throw new Refusal(405, onlyRunning)
}

/** Everything that it was to do is done. */
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
  // Somebody has made children of it since they were looked for.
  if (receipt === 'blocked') await finish(ending, ignoresRepeat, jobs)
}

/** The children that have not ended well: its client knows the others by now, and they go. */
export async function childrenLeft({ record }: WireJob, jobs: WireQueue): Promise<readonly WireJob[]> {
  const children = await jobs.children(record.id)
  const isOver = ({ state }: WireJob) => state === 'FINISHED' || state === 'CANCELLED'
  await jobs.erase(children.filter(isOver))
  return children.filter((child) => !isOver(child))
}

/** Its children may begin now, and it is handed out again when they have ended. */
async function waitFor(
  children: readonly WireJob[],
  { job, lease, data }: Ending & { readonly lease: HeldLease },
  jobs: WireQueue,
): Promise<void> {
  await jobs.amend(job, {
    data,
    runAt: job.record.startedAt ?? jobs.now,
    meta: { hasWaited: true, lastRun: job.record.startedAt },
  })
  await jobs.deps.heldChildren.release(children.map(({ record }) => record))
  if ((await jobs.end(job, lease, { kind: 'wait' })) === 'lost') throw new Refusal(405, onlyRunning)
}

/** Whoever was slower than the lease's time has lost the job to somebody else. */
const onlyRunning = 'Can only retry/finish RUNNING and RUNQUEUED jobs'
