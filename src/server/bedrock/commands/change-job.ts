import { writeExact } from '../../../core/text/exact-json.ts'
import { retryCountOf, verbatimJsonOf, withMembers } from '../../../envelope/bedrock-data.ts'
import { enqueue } from '../jobs/ending-jobs.ts'
import { refuseUnfitData, renamed } from '../jobs/format/given-texts.ts'
import { asMock, isMock, notMock } from '../jobs/format/job-data.ts'
import { priorityOf } from '../jobs/format/priorities.ts'
import { isBasedOn, nextRunOf, repeatOf } from '../jobs/format/repeats.ts'
import { isRunning, type WireJob } from '../jobs/format/wire-job.ts'
import { parseWireTime, wholeSecond } from '../jobs/format/wire-times.ts'
import { type JobChanges, serverOwner, type WireQueue } from '../jobs/wire-queue.ts'
import { leadingInteger } from '../wire/general-headers.ts'
import { isNumberedOn, jobNumberOf, rawTextOf, requiredText, textOf } from '../wire/parameters.ts'
import { Refusal } from '../wire/refusal.ts'
import type { BedrockRequest } from '../wire/request.ts'
import { wireObject } from '../wire/wire-values.ts'
import { type Command, ok, okWith } from './command.ts'
import { lookedAtFields } from './job-fields.ts'

export const queryJob: Command = async (request, { jobs, isBrief }) => {
  const number = jobNumberOf(request)
  return okWith(wireObject(lookedAtFields(number, await jobs.find(number), isBrief)))
}

const largestData = 1024 * 1024

export const updateJob: Command = async (request, { jobs }) => {
  const number = jobNumberOf(request)
  const data = requiredText(request, 'data', largestData)
  refuseUnfitData(data, jobs)
  const repeat = repeatOf(textOf(request, 'repeat'), jobs.now)
  const priority = rawTextOf(request, 'jobPriority')
  const job = await jobs.findToChange(number)
  await jobs.change(job, (current): JobChanges => {
    const runAt = updatedTime(request, repeat, current, jobs)
    return {
      data: updatedData(data, current),
      ...(current.state === 'FINISHED' && { meta: { isDataNewer: true } }),
      ...(priority !== undefined && { priority: priorityOf(priority) }),
      ...(repeat !== null && { repeat }),
      ...(isNumberedOn(request, 'shouldClearRepeat') && { repeat: null }),
      ...(runAt !== null && (current.meta.heldUntil === null ? { runAt } : { meta: { heldUntil: runAt } })),
    }
  })
  await renew(number, job, jobs)
  return ok
}

/** Text that is not JSON becomes an empty object. Whether the job is a mock does not change. */
function updatedData(text: string, { ownData }: WireJob): string {
  const value = verbatimJsonOf(text)
  const written = value === undefined ? '{}' : writeExact(value)
  return isMock(ownData) ? asMock(written) : notMock(written)
}

function updatedTime(request: BedrockRequest, repeat: string | null, job: WireJob, jobs: WireQueue): number | null {
  const nextRun = textOf(request, 'nextRun')
  if (nextRun !== undefined) return parseWireTime(nextRun, 'nextRun')
  if (repeat === null) return null
  if (job.lastRun === null && isBasedOn(repeat, 'STARTED')) throw new Refusal(400, 'Unique Constraints Violation')
  const run = { scheduledAt: job.record.runAt, startedAt: job.lastRun ?? jobs.now, finishedAt: jobs.now }
  return nextRunOf(repeat, run, jobs.deps.execution.catchUp)
}

/** A client that reports on its job is alive, so its lease is renewed. */
async function renew(number: number, job: WireJob, jobs: WireQueue): Promise<void> {
  const { record, meta } = job
  const { backend } = jobs.deps.queue
  const held = jobs.handedOut.get(number)
  const token = held?.lease.token ?? (record.owner?.startsWith(serverOwner) ? ((await jobs.leaseOf(job))?.token ?? null) : null)
  if (record.state === 'running' && token !== null && meta.retryAfter === '') await backend.extend([token], jobs.deps.leaseMs)
}

/** Only for children: their parent continues without them. */
export const cancelJob: Command = async (request, { jobs }) => {
  const number = jobNumberOf(request)
  const job = await jobs.find(number)
  if ((await jobs.children(job.record.id)).length > 0) throw new Refusal(404, 'Invalid jobID - Cannot cancel a job with children')
  if (job.record.parent === null) throw new Refusal(404, 'Invalid jobID - Cannot cancel a job without a parent')
  if (job.state === 'QUEUED' || (await jobs.deps.heldChildren.isInVain(job.record))) await jobs.cancel(job)
  if (job.state === 'RUNQUEUED') {
    const lease = await jobs.leaseOf(job)
    if (lease !== null) await jobs.end(job, lease, { kind: 'cancelled' }, { keep: true })
  }
  jobs.handedOut.remove(number)
  return ok
}

export const deleteJob: Command = async (request, { jobs }) => {
  const number = jobNumberOf(request)
  const job = await jobs.find(number)
  if (job.state === 'RUNNING') throw new Refusal(405, "Can't delete a RUNNING job")
  if (job.state === 'PAUSED' && !(await jobs.deps.heldChildren.isInVain(job.record)))
    throw new Refusal(405, "Can't delete a parent jobs with children running")
  const lease = job.state === 'RUNQUEUED' ? await jobs.leaseOf(job) : null
  if (lease !== null) await jobs.end(job, lease, { kind: 'cancelled' }, { keep: true })
  // Its links go with it. Once it has ended, no child can be added.
  const children = await jobs.children(job.record.id)
  await jobs.erase([job])
  await jobs.deps.heldChildren.release(children.map(({ record }) => record))
  jobs.handedOut.remove(number)
  return ok
}

const mostRequeued = 10_000

/** One after the other, for as long as the client waits for the reply. */
export const requeueJobs: Command = async (request, { jobs, peer }) => {
  const numbers = new Set((textOf(request, 'jobIDs') ?? '').split(',').map(leadingInteger))
  if (numbers.size > mostRequeued) throw new Refusal(402, `More than ${mostRequeued} jobs at once`)
  const name = textOf(request, 'name')
  renamed('', name, jobs)
  const decrements = isRequeueDecremented(request)
  for (const number of numbers) {
    if (peer.signal.aborted) break
    if (number > 0) await jobs.turns.alone(`${number}`, () => requeueOne(number, name, decrements, jobs))
  }
  return ok
}

function isRequeueDecremented(request: BedrockRequest): boolean {
  return textOf(request, 'decrementFailures') === 'true' || isNumberedOn(request, 'decrementFailures')
}

async function requeueOne(number: number, name: string | undefined, decrements: boolean, jobs: WireQueue): Promise<void> {
  const job = await jobs.look(number)
  if (job === null) return
  const renamedTo = renamed(job.record.job, name, jobs)
  // A job with an invalid signature must not keep the others from being requeued.
  if (!(await jobs.isStanding(job.record))) return
  if (renamedTo !== null && jobs.isNumberOfAnother(job.record)) return
  await requeue(job, renamedTo, decrements, jobs)
  if (renamedTo !== null) jobs.deps.names.touch(renamedTo)
  jobs.handedOut.remove(number)
}

/** The job waits as if it had just been created, whatever its state was. */
async function requeue(job: WireJob, renamedTo: string | null, decrements: boolean, jobs: WireQueue): Promise<void> {
  const { record, ownData } = job
  const count = retryCountOf(ownData)
  const changes = {
    runAt: wholeSecond(record.createdAt),
    meta: { heldUntil: null, lastRun: job.lastRun, isDataNewer: false },
    ...(decrements && count > 0 && { data: withMembers(ownData, { retryAfterCount: count - 1 }) }),
    ...(renamedTo !== null && { job: renamedTo }),
  }
  await enqueue(job, isRunning(job) ? await jobs.leaseOf(job) : null, changes, jobs)
}
