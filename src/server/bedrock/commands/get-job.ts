import { connectionOf, has, requiredText, textOf } from '../parameters.ts'
import { Refusal } from '../refusal.ts'
import type { BedrockReply } from '../reply.ts'
import type { BedrockRequest } from '../request.ts'
import { type Handed, handOut, takeBack } from '../rules/handing-out.ts'
import { priorityOf } from '../rules/priorities.ts'
import { wantedJobs } from '../rules/wanted-jobs.ts'
import { type WireFields, wireObject } from '../wire-values.ts'
import { type Command, type CommandContext, okWith } from './command.ts'
import { handedFields } from './job-fields.ts'

const longestPattern = 12_750
const mostResults = 1_000

export const getJob: Command = async (request, context) => {
  if (has(request, 'numResults')) throw new Refusal(402, 'Cannot use numResults with GetJob; try GetJobs')
  return get(request, context, 1, ([job]) => wireObject(job ?? {}))
}

export const getJobs: Command = async (request, context) => {
  if (!has(request, 'numResults')) throw new Refusal(402, 'Missing numResults')
  const wanted = Number.parseInt(textOf(request, 'numResults') ?? '', 10)
  const limit = wanted >= 1 ? Math.min(wanted, mostResults) : 1
  return get(request, context, limit, (found) => wireObject({ jobs: found }))
}

async function get(
  request: BedrockRequest,
  context: CommandContext,
  limit: number,
  body: (jobs: readonly WireFields[]) => string,
): Promise<BedrockReply> {
  const { jobs, isBrief } = context
  const leases = await claim(request, context, limit)
  if (leases.length === 0) throw new Refusal(404, 'No job found')
  const handed = await handOut(leases, jobs)
  const fields = await Promise.all(handed.map((one) => handedFields(one, jobs, isBrief)))
  return { ...okWith(body(fields)), undelivered: () => void returned(handed, context) }
}

function claim(request: BedrockRequest, { jobs, peer }: CommandContext, limit: number) {
  const { claims, owner, leaseMs } = jobs.deps
  const name = requiredText(request, 'name', longestPattern)
  const withMocks = has(request, 'mockRequest') || has(request, 'getMockedJobs')
  const priority = textOf(request, 'jobPriority')
  const waits = connectionOf(request) === 'wait'
  return claims.take({
    ...wantedJobs(name, withMocks),
    queues: null,
    priority: priority === undefined ? null : priorityOf(priority),
    leaseMs,
    owner,
    limit,
    waitMs: waits ? (peer.timeoutMs ?? defaultWaitMs) : 0,
    signal: waits ? AbortSignal.any([peer.signal, peer.closing]) : peer.signal,
  })
}

/** As long as any other request may take. */
const defaultWaitMs = 110_000

async function returned(handed: readonly Handed[], { jobs }: CommandContext): Promise<void> {
  try {
    await takeBack(handed, jobs)
  } catch (thrown) {
    const { logger } = jobs.deps.queue.settings
    logger.error(`Jobs that no client received wait until their leases end: ${String(thrown)}`)
  }
}
