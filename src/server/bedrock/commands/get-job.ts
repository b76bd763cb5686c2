import type { AdmittedLease } from '../../jobs/claiming/admission.ts'
import { takeAdmitted } from '../../jobs/claiming/taking.ts'
import { priorityOf } from '../jobs/format/priorities.ts'
import { type Handed, handOut, takeBack } from '../jobs/handing-out.ts'
import { wantedJobs } from '../jobs/wanted-jobs.ts'
import { connectionOf, has, requiredText, textOf } from '../wire/parameters.ts'
import { Refusal } from '../wire/refusal.ts'
import type { BedrockReply } from '../wire/reply.ts'
import type { BedrockRequest } from '../wire/request.ts'
import { type WireFields, wireObject } from '../wire/wire-values.ts'
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
  const { jobs, isBrief, peer } = context
  const admitted = await claim(request, context, limit)
  try {
    const handed = await handOut(admitted, peer.grant, jobs)
    const fields = await Promise.all(handed.map((one) => handedFields(one, jobs, isBrief, peer.grant)))
    return { ...okWith(body(fields)), undelivered: () => void returned(handed, context) }
  } catch (thrown) {
    // A request that fails half way must not keep the jobs that it has claimed.
    for (const { lease } of admitted) await jobs.settle({ token: lease.token, kind: 'again', envelope: lease.envelope })
    throw thrown
  }
}

async function claim(request: BedrockRequest, { jobs, peer }: CommandContext, limit: number): Promise<readonly AdmittedLease[]> {
  const { claims, queue, execution, owner, leaseMs } = jobs.deps
  const name = requiredText(request, 'name', longestPattern)
  const withMocks = has(request, 'mockRequest') || has(request, 'getMockedJobs')
  const priority = textOf(request, 'jobPriority')
  const waits = connectionOf(request) === 'wait'
  const demand = {
    ...peer.grant.narrowed({ ...wantedJobs(name, withMocks), queues: null }),
    priority: priority === undefined ? null : priorityOf(priority),
    leaseMs,
    owner,
    limit,
    signals: waits ? [peer.signal, peer.closing] : [peer.signal],
  }
  const until = jobs.now + (waits ? (peer.timeoutMs ?? defaultWaitMs) : 0)
  const admitted = await takeAdmitted(demand, until, { claims, queue, execution })
  if (admitted.length === 0) throw new Refusal(404, 'No job found')
  return admitted
}

/** The same limit as for any other request. */
const defaultWaitMs = 110_000

async function returned(handed: readonly Handed[], { jobs }: CommandContext): Promise<void> {
  try {
    await takeBack(handed, jobs)
  } catch (thrown) {
    const { logger } = jobs.deps.queue.settings
    logger.error(`Jobs that no client received wait until their leases end: ${String(thrown)}`)
  }
}
