import type { Role } from '../../../client/api/roles.ts'
import type { Grant } from '../../access/grant.ts'
import { isHandedOutElsewhere, refuseLost } from '../jobs/lost-leases.ts'
import type { WireQueue } from '../jobs/wire-queue.ts'
import { leadingInteger } from '../wire/general-headers.ts'
import { jobNumberOf, textOf } from '../wire/parameters.ts'
import { Refusal } from '../wire/refusal.ts'
import type { BedrockRequest } from '../wire/request.ts'

/** The role that a token needs for each command. */
export const rolesNeeded: ReadonlyMap<string, Role> = new Map([
  ['createjob', 'work'],
  ['createjobs', 'work'],
  ['getjob', 'work'],
  ['getjobs', 'work'],
  ['queryjob', 'read'],
  ['updatejob', 'work'],
  ['finishjob', 'work'],
  ['retryjob', 'work'],
  ['failjob', 'work'],
  ['canceljob', 'operate'],
  ['deletejob', 'operate'],
  ['requeuejobs', 'operate'],
  ['crashbedrockjob', 'admin'],
  ['clearcrashedbedrockjobs', 'admin'],
  ['query', 'operate'],
  ['query:', 'operate'],
  ['ping', 'read'],
  ['status', 'read'],
  ['get', 'read'],
])

const ofOneJob: ReadonlySet<string> = new Set([
  'queryjob',
  'updatejob',
  'finishjob',
  'retryjob',
  'failjob',
  'canceljob',
  'deletejob',
])
/** With the role `work`, a client may only change jobs that were handed out to it. */
const ofOwnJob: ReadonlySet<string> = new Set(['updatejob', 'finishjob', 'retryjob', 'failjob'])
/** These affect all jobs, whatever their parameters. */
const ofAllJobs: ReadonlySet<string> = new Set(['query', 'query:', 'crashbedrockjob', 'clearcrashedbedrockjobs'])

/**
 * Returns the request, reduced to what the client may ask for. Throws if it may not ask at all. Jobs outside the limits of a
 * token are treated as if they did not exist. Jobs that are created or handed out are checked later, once they are known.
 */
export async function permitted(request: BedrockRequest, grant: Grant, jobs: WireQueue): Promise<BedrockRequest> {
  const { verb } = request
  if (!grant.may(rolesNeeded.get(verb) ?? 'admin')) throw new Refusal(403, 'Forbidden')
  if (grant.may('operate') && !grant.isLimited) return request
  if (grant.isLimited && ofAllJobs.has(verb)) throw new Refusal(403, 'Forbidden')
  if (ofOneJob.has(verb)) await refuseJob(request, grant, jobs)
  refuseName(textOf(request, 'name'), verb, grant)
  return verb === 'requeuejobs' ? seenOf(request, grant, jobs) : request
}

async function refuseJob(request: BedrockRequest, grant: Grant, jobs: WireQueue): Promise<void> {
  const number = jobNumberOf(request)
  const held = jobs.handedOut.get(number)
  const isOwnOnly = ofOwnJob.has(request.verb) && !grant.may('operate')
  // A job that the client may not see does not exist for it, no matter which client runs it.
  if (grant.isLimited && !grant.sees((await jobs.find(number)).record)) throw new Refusal(404, 'No job with this jobID')
  if (isOwnOnly && held !== undefined) {
    if (held.grant !== grant) throw new Refusal(403, 'Forbidden')
    // `finishjob` usually settles by the lease token, which proves the same, and checks this itself if that is not enough.
    if (request.verb !== 'finishjob') await refuseLost(held, jobs)
  }
  if (held !== undefined && !grant.isLimited) return
  if (!isOwnOnly || held !== undefined) return
  if (!isHandedOutElsewhere(await jobs.find(number))) throw new Refusal(403, 'Forbidden')
}

/** A job can only be renamed to a name within the limits of the token. */
function refuseName(name: string | undefined, verb: string, grant: Grant): void {
  const isRenaming = verb === 'retryjob' || verb === 'requeuejobs'
  if (isRenaming && name !== undefined && !grant.seesName(name)) throw new Refusal(403, 'Forbidden')
}

/** Keeps only the jobs that the token may see. */
async function seenOf(request: BedrockRequest, grant: Grant, jobs: WireQueue): Promise<BedrockRequest> {
  const numbers = [...new Set((textOf(request, 'jobIDs') ?? '').split(',').map(leadingInteger))]
  const seen: number[] = []
  for (const number of numbers.slice(0, mostLooked)) {
    const job = number > 0 ? await jobs.look(number) : null
    if (job !== null && grant.sees(job.record)) seen.push(number)
  }
  return { ...request, headers: new Map([...request.headers, ['jobids', seen.join(',')]]) }
}

const mostLooked = 10_001
