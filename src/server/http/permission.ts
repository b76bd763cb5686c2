import { type Operation, roleNeededFor } from '../../client/api/operation.ts'
import { parseIdentity } from '../../envelope/envelope.ts'
import type { Grant } from '../access/grant.ts'
import type { JobService } from '../service/job-service.ts'
import { HttpProblem, noSuchJob } from './http-problem.ts'
import type { Asked, Route } from './route.ts'

/** Throws where the token's role does not reach so far. */
export function refuseRole(operation: Operation, grant: Grant): void {
  const needed = roleNeededFor(operation)
  if (!grant.may(needed)) throw new HttpProblem('forbidden', `The token has the role ${grant.role}, and this needs ${needed}`)
}

/** What of a request says which jobs it is about. */
interface Said {
  readonly params: { readonly id?: string; readonly name?: string; readonly queue?: string }
  readonly body: {
    readonly job?: string
    readonly queue?: string
    readonly jobs?: readonly { readonly job: string; readonly queue?: string }[]
    readonly token?: string
    readonly leases?: readonly { readonly id: string }[]
    readonly settlements?: readonly { readonly id: string }[]
  }
}

/** Throws where a request is about jobs outside of the token's limits. What lists and claims looks at the limits itself. */
export async function refuseOutside({ name }: Route, asked: Asked<Operation>, grant: Grant, service: JobService): Promise<void> {
  if (!grant.isLimited) return
  const params: Said['params'] = asked.params
  const body = (asked.body ?? {}) as Said['body']
  switch (name) {
    case 'createJob':
      return refuseNew([body as NewJob], grant, service)
    case 'createJobs':
      return refuseNew(body.jobs ?? [], grant, service)
    case 'getJob':
    case 'explainJob':
    case 'changeJob':
    case 'deleteJob':
    case 'cancelJob':
    case 'retryJob':
    case 'replayDeadJob':
    case 'settle':
    case 'reportProgress':
      return refuseJob(params.id ?? '', grant, service)
    case 'extend':
      return refuseLeases(body.leases ?? [], grant, service)
    case 'settleMany':
      return refuseLeases(body.settlements ?? [], grant, service)
    case 'pauseQueue':
    case 'resumeQueue':
      if (!grant.hasWholeQueue(params.queue ?? '')) throw outside()
      return
    case 'pauseSchedule':
    case 'resumeSchedule':
    case 'triggerSchedule':
    case 'nextRuns':
      return refuseSchedule(params.name ?? '', grant, service)
    case 'replayDead':
    case 'purgeDead':
      return refuseMany(body, grant)
    case 'listJobs':
    case 'listDead':
    case 'listQueues':
    case 'listWorkers':
    case 'listSchedules':
    case 'stats':
    case 'lease':
    case 'health':
    case 'ready':
    case 'openApi':
      return
  }
}

/** Whether the token's limits let the schedule be seen: it is called as its job. */
export function seesSchedule(name: string, grant: Grant, { queue }: Pick<JobService, 'queue'>): boolean {
  // A schedule that this program does not define may be of any queue.
  const definition = queue.registry.find(name)
  return grant.seesName(name) && (grant.queues === null || (definition !== undefined && grant.seesQueue(definition.fields.queue)))
}

type NewJob = { readonly job: string; readonly queue?: string }

function refuseNew(jobs: readonly NewJob[], grant: Grant, { creating }: JobService): void {
  for (const { job, queue = creating.definitionOf(job).fields.queue } of jobs) if (!grant.sees({ job, queue })) throw outside()
}

async function refuseJob(id: string, grant: Grant, { queue }: JobService): Promise<void> {
  const record = await queue.backend.store.get(id)
  if (record === null || !grant.sees(record)) throw noSuchJob(id)
}

async function refuseLeases(held: readonly { readonly id: string }[], grant: Grant, { queue }: JobService): Promise<void> {
  const leases = await queue.backend.store.leasesOf(held.map(({ id }) => id))
  const isOutside = leases.some(({ identity, job }) => !grant.sees({ queue: parseIdentity(identity)?.queue ?? '', job }))
  if (isOutside) throw outside()
}

function refuseSchedule(name: string, grant: Grant, service: JobService): void {
  if (seesSchedule(name, grant, service)) return
  throw new HttpProblem('schedule-not-found', `There is no schedule ${JSON.stringify(name)}`, { code: 'SCHEDULE_UNKNOWN' })
}

/** Many jobs at once: what is said of them must keep within the limits. */
function refuseMany({ job, queue }: Said['body'], grant: Grant): void {
  const isInside =
    (grant.queues === null || (queue !== undefined && grant.seesQueue(queue))) &&
    (!grant.hasJobLimit || (job !== undefined && grant.seesName(job)))
  if (!isInside)
    throw new HttpProblem('forbidden', 'The token is limited: say which queue and which job, among those that it is for')
}

function outside(): HttpProblem {
  return new HttpProblem('forbidden', 'The token is limited to other queues or jobs')
}
