import { exactText } from '../../../core/text/exact-json.ts'
import { jsonOf, objectOf } from '../../../envelope/bedrock-data.ts'
import { end, outcomeOfDone } from '../../../execution/end/end.ts'
import { nextRunAt } from '../../../execution/end/repeating.ts'
import { childrenLeft, doneRun, finish, openEnding, putBack, refuseData } from '../jobs/ending-jobs.ts'
import { refuseUnfitData, renamed } from '../jobs/format/given-texts.ts'
import { priorityOf } from '../jobs/format/priorities.ts'
import { isRunning } from '../jobs/format/wire-job.ts'
import { parseWireTime } from '../jobs/format/wire-times.ts'
import { refuseLost } from '../jobs/lost-leases.ts'
import type { WireQueue } from '../jobs/wire-queue.ts'
import { leadingInteger } from '../wire/general-headers.ts'
import { isSwitchedOn, jobNumberOf, rawTextOf, textOf } from '../wire/parameters.ts'
import { Refusal } from '../wire/refusal.ts'
import type { BedrockRequest } from '../wire/request.ts'
import { type Command, ok } from './command.ts'

export const finishJob: Command = async (request, { jobs, peer }) => {
  const number = jobNumberOf(request)
  const held = jobs.handedOut.get(number)
  const data = textOf(request, 'data')
  if (!(await finishPlainly(number, data, jobs))) {
    await jobs.turns.alone(`${number}`, async () => {
      if (held !== undefined && !peer.grant.may('operate')) await refuseLost(held, jobs)
      const ending = await openEnding(number, data, jobs)
      await finish(ending, isSwitchedOn(request, 'ignoreRepeat'), jobs)
    })
  }
  jobs.handedOut.remove(number)
  return ok
}

/** Ends a job with a single call if it is plain and was handed out here. Returns false if it needs the full procedure. */
async function finishPlainly(number: number, data: string | undefined, jobs: WireQueue): Promise<boolean> {
  const held = jobs.handedOut.get(number)
  if (held === undefined || !held.isPlain) return false
  refuseData(data, false, jobs)
  const { execution } = jobs.deps
  // A client of another server may have created children for it.
  const receipt = await end(held.lease, outcomeOfDone(data ?? null, null, null, execution), execution, null, { alone: true })
  return receipt !== 'lost' && receipt !== 'blocked'
}

export const retryJob: Command = async (request, { jobs }) => {
  const number = jobNumberOf(request)
  const ending = await openEnding(number, textOf(request, 'data'), jobs)
  refuseSecondBegin(ending.job.record, jobs)
  const repeated = isSwitchedOn(request, 'ignoreRepeat') ? null : nextRunAt(doneRun(ending, jobs), jobs.deps.execution)
  const renamedTo = renamed(ending.job.record.job, textOf(request, 'name'), jobs)
  const priority = rawTextOf(request, 'jobPriority')
  const runAt = repeated ?? retriedAt(request, jobs)
  const changedPriority = priority === undefined ? {} : { priority: priorityOf(priority) }
  // If a child has failed, the failure is reported again with the next attempt.
  const hasWaited = (await childrenLeft(ending.job, jobs)).some(({ state }) => state === 'FAILED')
  await putBack(
    ending,
    {
      runAt,
      meta: { hasWaited },
      ...(renamedTo !== null && { job: renamedTo }),
      ...changedPriority,
    },
    jobs,
  )
  if (renamedTo !== null) jobs.deps.names.touch(renamedTo)
  jobs.handedOut.remove(number)
  return ok
}

/** An at-most-once job was already begun when it was handed out. */
function refuseSecondBegin({ job }: { readonly job: string }, { deps }: WireQueue): void {
  if (deps.execution.find(job)?.fields.delivery === 'at-most-once')
    throw new Refusal(405, 'The job is delivered at most once: it cannot be tried again')
}

/** In seconds. */
const longestDelay = 99_999_999

function retriedAt(request: BedrockRequest, jobs: WireQueue): number {
  const nextRun = textOf(request, 'nextRun')
  if (nextRun !== undefined) return parseWireTime(nextRun, 'nextRun')
  const delay = leadingInteger(textOf(request, 'delay') ?? '')
  if (delay < 0) throw new Refusal(402, 'Must specify a non-negative delay when retrying')
  if (delay > longestDelay) throw new Refusal(402, 'Malformed delay')
  return jobs.now + delay * 1_000
}

export const failJob: Command = async (request, { jobs }) => {
  const number = jobNumberOf(request)
  const job = await jobs.findToChange(number)
  const lease = isRunning(job) ? await jobs.leaseOf(job) : null
  if (lease === null) throw new Refusal(405, onlyRunning)
  const data = textOf(request, 'data')
  refuseUnfitData(data, jobs)
  if (data !== undefined && jsonOf(data) === undefined) throw new Refusal(402, 'Malformed data')
  await jobs.verified(job.record)
  if (data !== undefined) await jobs.amend(job, { data })
  const outcome = { kind: 'dead', reason: 'permanent', error: messageIn(data) } as const
  if ((await jobs.end(job, lease, outcome, { keep: true })) === 'lost') throw new Refusal(405, onlyRunning)
  jobs.handedOut.remove(number)
  return ok
}

const onlyRunning = 'Can only fail RUNNING or RUNQUEUED jobs'

/** Clients that give a reason put it into the data. */
function messageIn(data: string | undefined): string {
  const { error, message, exceptionMessage } = objectOf(data ?? '{}') ?? {}
  const said = [error, message, exceptionMessage].find((value) => typeof value === 'string' && value !== '')
  return typeof said === 'string' ? exactText(said) : 'Its worker has failed it'
}
