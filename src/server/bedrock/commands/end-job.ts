import type { DeadReason, Settlement } from '../../../backends/contract.ts'
import { sealingKeys, settleSealed } from '../../../execution/sealing.ts'
import { isSwitchedOn, jobNumberOf, rawTextOf, textOf } from '../parameters.ts'
import { Refusal } from '../refusal.ts'
import type { BedrockRequest } from '../request.ts'
import {
  childrenLeft,
  finish,
  openEnding,
  putBack,
  refuseData,
  repeatedAt,
  settled,
  skipOvertakenBy,
} from '../rules/ending-jobs.ts'
import { refuseLargeData, renamed } from '../rules/given-texts.ts'
import { jsonOf, objectOf } from '../rules/job-data.ts'
import { refuseLost } from '../rules/lost-leases.ts'
import { priorityOf } from '../rules/priorities.ts'
import { isRunning } from '../rules/wire-job.ts'
import type { WireQueue } from '../rules/wire-queue.ts'
import { parseWireTime } from '../rules/wire-times.ts'
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

/** A job that nothing hangs on and that was handed out here is ended by one call; false where more is to be looked at. */
async function finishPlainly(number: number, data: string | undefined, jobs: WireQueue): Promise<boolean> {
  const held = jobs.handedOut.get(number)
  if (held === undefined || !held.isPlain) return false
  refuseData(data, false, jobs)
  const { token, envelope } = held.lease
  const keep = jobs.keepsSucceeded(envelope.job)
  // Somebody may have made children of it at another server.
  const done = { token, kind: 'done', result: data ?? null, keep, alone: true } as const
  const settle = (settlement: Settlement) => jobs.settle(settlement)
  const receipt = await settleSealed(done, held.lease, sealingKeys(held.lease, jobs.deps.queue.keys), settle)
  return receipt !== 'lost' && receipt !== 'blocked'
}

export const retryJob: Command = async (request, { jobs }) => {
  const number = jobNumberOf(request)
  const ending = await openEnding(number, textOf(request, 'data'), jobs)
  const repeated = isSwitchedOn(request, 'ignoreRepeat') ? null : repeatedAt(ending.job, jobs)
  const renamedTo = renamed(ending.job.record.job, textOf(request, 'name'), jobs)
  const priority = rawTextOf(request, 'jobPriority')
  const runAt = repeated ?? retriedAt(request, jobs)
  const changedPriority = priority === undefined ? {} : { priority: priorityOf(priority) }
  // What has failed is told again.
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

function retriedAt(request: BedrockRequest, jobs: WireQueue): number {
  const nextRun = textOf(request, 'nextRun')
  if (nextRun !== undefined) return parseWireTime(nextRun, 'nextRun')
  const delay = textOf(request, 'delay') ?? '0'
  if (delay.startsWith('-')) throw new Refusal(402, 'Must specify a non-negative delay when retrying')
  if (!/^\d{1,8}$/.test(delay)) throw new Refusal(402, 'Malformed delay')
  return jobs.now + Number(delay) * 1_000
}

export const failJob: Command = async (request, { jobs }) => {
  const number = jobNumberOf(request)
  const job = await jobs.find(number)
  const token = isRunning(job) ? await jobs.tokenOf(job) : null
  if (token === null) throw new Refusal(405, onlyRunning)
  const data = textOf(request, 'data')
  refuseLargeData(data, jobs)
  if (data !== undefined && jsonOf(data) === undefined) throw new Refusal(402, 'Malformed data')
  if (data !== undefined) await jobs.amend(job, { data })
  const error = { attempt: job.record.attempts, at: jobs.now, message: messageIn(data) }
  const reason: DeadReason = 'permanent'
  await skipOvertakenBy(job.record, jobs)
  await settled({ token, kind: 'dead', reason, error, keep: true }, jobs, onlyRunning)
  await jobs.heldChildren.release(await jobs.children(job.record.id))
  jobs.handedOut.remove(number)
  return ok
}

const onlyRunning = 'Can only fail RUNNING or RUNQUEUED jobs'

/** Clients that say why put it into the data. */
function messageIn(data: string | undefined): string {
  const { error, message, exceptionMessage } = objectOf(data ?? '{}') ?? {}
  const said = [error, message, exceptionMessage].find((value) => typeof value === 'string' && value !== '')
  return (said as string | undefined) ?? 'Its worker has failed it'
}
