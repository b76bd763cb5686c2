import type { Settlement, SettleReceipt } from '../../../backends/contract.ts'
import type { JobRecord } from '../../../backends/store.ts'
import { skipOvertaken } from '../../../execution/occurrence.ts'
import { nextAfter } from '../../../execution/repeating.ts'
import { sealed, sealingKeys } from '../../../execution/sealing.ts'
import { occurrenceDeps, scheduledRun } from '../../service/scheduled-run.ts'
import { Refusal } from '../refusal.ts'
import { refuseLargeData } from './given-texts.ts'
import { isMock, jsonOf, objectOf, originalNextRunOf, withMembers } from './job-data.ts'
import { isBasedOn } from './repeats.ts'
import { isPending, isRunning, type WireJob } from './wire-job.ts'
import type { JobChanges, WireQueue } from './wire-queue.ts'
import { parseWireTime } from './wire-times.ts'

/** A job that somebody has worked on, and that may be ended. */
export interface Ending {
  readonly job: WireJob
  /** Null where nobody has it: a job for tests may be ended at any time. */
  readonly token: string | null
  /** What it is left with. */
  readonly data: string
}

/** Refuses what can not be finished or tried again now. */
export async function openEnding(number: number, given: string | undefined, jobs: WireQueue): Promise<Ending> {
  const job = await jobs.find(number)
  const mock = isMock(job.ownData)
  if (!isRunning(job) && !mock) throw new Refusal(405, onlyRunning)
  // What it is finished with, and when it is done again, is taken from it.
  await jobs.verified(job.record)
  if (job.record.parent !== null) {
    const parent = await jobs.byId(job.record.parent)
    // One that has waited, or is about to, has let its children go.
    if (parent !== null && isRunning(parent) && !parent.meta.hasWaited)
      throw new Refusal(405, 'Can only retry/finish child job when parent is PAUSED')
  }
  refuseData(given, mock, jobs)
  const token = isRunning(job) ? await jobs.tokenOf(job) : null
  if (token === null && !mock) throw new Refusal(405, onlyRunning)
  return { job, token, data: tidied(given ?? job.ownData) }
}

/** Written anew only where there is something to take away. */
function tidied(text: string): string {
  const object = objectOf(text)
  const counts = object !== null && ('retryAfterCount' in object || 'originalNextRun' in object)
  return counts ? withMembers(text, { retryAfterCount: undefined, originalNextRun: undefined }) : text
}

export function refuseData(given: string | undefined, mock: boolean, jobs: WireQueue): void {
  if (given === undefined) return
  refuseLargeData(given, jobs)
  if (jsonOf(given) === undefined) throw new Refusal(502, 'Failed to update job retryAfterCount')
  if (Object.hasOwn(objectOf(given) ?? {}, 'mockRequest') !== mock) throw new Refusal(500, 'Mock Mismatch')
}

/** When a job that repeats runs next, if it ends now. */
export function repeatedAt({ record, ownData, meta }: WireJob, jobs: WireQueue): number | null {
  const { repeat, startedAt, runAt } = record
  if (repeat === null) return null
  const original = meta.retryAfter !== '' && isBasedOn(repeat, 'SCHEDULED') ? originalNextRunOf(ownData) : null
  const scheduledAt = original === null ? runAt : parseWireTime(original, 'repeat')
  const run = { scheduledAt, startedAt: startedAt ?? jobs.now, finishedAt: jobs.now }
  return nextAfter(record, run, jobs.deps.queue.settings.logger, jobs.deps.catchUp)
}

/** It waits again, as a job that nobody has had yet. */
export async function putBack({ job, token, data }: Ending, changes: JobChanges, jobs: WireQueue): Promise<void> {
  const { record } = job
  const meta = { lastRun: record.startedAt, hasWaited: false, heldUntil: null, ...changes.meta }
  const all = { data, ...changes, meta }
  if (token === null) return jobs.amend(job, all)
  await settled({ token, kind: 'again', envelope: await jobs.sealed(record, all) }, jobs)
}

/** Everything that it was to do is done. */
export async function finish(ending: Ending, ignoresRepeat: boolean, jobs: WireQueue): Promise<void> {
  const { job, token, data } = ending
  const pending = (await childrenLeft(job, jobs)).filter(isPending)
  if (pending.length > 0 && token !== null) return waitFor(pending, { job, token, data }, jobs)
  const isToGo = ignoresRepeat || objectOf(data)?.delete === true
  const next = isToGo ? null : repeatedAt(job, jobs)
  if (next !== null) return putBack(ending, { runAt: next }, jobs)
  if (token === null) return jobs.erase([job])
  const { record } = job
  const keep = jobs.keepsSucceeded(record.job) || record.parent !== null
  await skipOvertakenBy(record, jobs)
  const once = jobs.deps.creating.onceMarkOf(record.job, record.idempotencyKey)
  const done: Settlement = { token, kind: 'done', result: data, keep, alone: true, ...(once !== null && { once }) }
  // Somebody has made children of it since they were looked for.
  if ((await settled(sealed(done, record, sealingKeys({ envelope: record }, jobs.deps.queue.keys)), jobs)) === 'blocked')
    await finish(ending, ignoresRepeat, jobs)
}

/** The children that have not ended well: its client knows the others by now, and they go. */
export async function childrenLeft({ record }: WireJob, jobs: WireQueue): Promise<readonly WireJob[]> {
  const children = await jobs.children(record.id)
  const isOver = ({ state }: WireJob) => state === 'FINISHED' || state === 'CANCELLED'
  await jobs.erase(children.filter(isOver))
  return children.filter((child) => !isOver(child))
}

/** Of a schedule: what fell due meanwhile and must not run. */
export async function skipOvertakenBy(record: JobRecord, { deps }: WireQueue): Promise<void> {
  const run = scheduledRun(record, record.createdAt, deps.queue)
  if (run !== null) await skipOvertaken(run, occurrenceDeps(deps.queue))
}

/** Its children may begin now, and it is handed out again when they have ended. */
async function waitFor(
  children: readonly WireJob[],
  { job, token, data }: Ending & { token: string },
  jobs: WireQueue,
): Promise<void> {
  await jobs.amend(job, {
    data,
    runAt: job.record.startedAt ?? jobs.now,
    meta: { hasWaited: true, lastRun: job.record.startedAt },
  })
  await jobs.heldChildren.release(children)
  await settled({ token, kind: 'wait' }, jobs)
}

/** Whoever was slower than the lease's time has lost the job to somebody else. */
export async function settled(settlement: Settlement, jobs: WireQueue, refusal = onlyRunning): Promise<SettleReceipt> {
  const receipt = await jobs.settle(settlement)
  if (receipt === 'lost') throw new Refusal(405, refusal)
  return receipt
}

const onlyRunning = 'Can only retry/finish RUNNING and RUNQUEUED jobs'
