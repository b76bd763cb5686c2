import { type Operation, roleNeededFor } from '../../client/api/operation.ts'
import { storedKey, storedName } from '../../definition/recurrence.ts'
import { parseIdentity } from '../../envelope/envelope.ts'
import { readSchedule } from '../../envelope/schedule-seal.ts'
import type { HeldLease } from '../../queue/contract/store.ts'
import type { Grant } from '../access/grant.ts'
import type { JobService } from '../jobs/job-service.ts'
import type { Asked, Route } from './route.ts'
import { HttpProblem, noSuchJob } from './wire/http-problem.ts'

/** Throws if the token's role is not sufficient. */
export function refuseRole(operation: Operation, grant: Grant): void {
  const needed = roleNeededFor(operation)
  if (!grant.may(needed)) throw new HttpProblem('forbidden', `The token has the role ${grant.role}, and this needs ${needed}`)
}

/** The parts of a request that say which jobs it is about. */
interface Said {
  readonly params: { readonly id?: string; readonly name?: string; readonly queue?: string; readonly job?: string }
  readonly body: {
    readonly job?: string
    readonly queue?: string
    readonly jobs?: readonly { readonly job: string; readonly queue?: string }[]
  }
}

/**
 * Throws if a request is about jobs outside the limits of the token. Operations that list, claim or hold leases check the limits
 * themselves.
 */
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
    case 'getJobLog':
    case 'explainJob':
    case 'changeJob':
    case 'deleteJob':
    case 'cancelJob':
    case 'retryJob':
    case 'copyJob':
    case 'replayDeadJob':
    case 'settle':
    case 'reportProgress':
      return refuseJob(params.id ?? '', grant, service)
    case 'pauseQueue':
    case 'resumeQueue':
      if (!grant.hasWholeQueue(params.queue ?? '')) throw outside()
      return
    case 'pauseJobs':
    case 'resumeJobs':
      if (grant.queues !== null || !grant.seesName(params.job ?? '')) throw outside()
      return
    case 'putSchedule':
      refuseNew([body as NewJob], grant, service)
      return refuseOtherSchedule(params.name ?? '', grant, service)
    case 'getSchedule':
    case 'deleteSchedule':
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
    case 'streamEvents':
    case 'lease':
    case 'extend':
    case 'settleMany':
    case 'health':
    case 'ready':
    case 'openApi':
      return
  }
}

/** Whether the token may see the schedules of a job. A schedule defined in code has the name of its job. */
export function seesSchedule(job: string, grant: Grant, { queue }: Pick<JobService, 'queue'>): boolean {
  // A schedule that this program does not define may belong to any queue.
  const definition = queue.registry.find(job)
  return grant.seesName(job) && (grant.queues === null || (definition !== undefined && grant.seesQueue(definition.fields.queue)))
}

/** The job of a schedule that was created at run time; null if there is none with this name or key. */
async function storedJobOf(name: string, { queue }: Pick<JobService, 'queue'>): Promise<string | null> {
  const isCoded = queue.registry.find(name)?.fields.schedule != null
  if (isCoded) return null
  const wanted = storedKey(name) === null ? storedName(name) : name
  const [record] = await queue.backend.store.schedules.list({ names: [wanted] })
  return record?.definition == null ? null : (readSchedule(record.definition.text)?.job ?? '')
}

type NewJob = { readonly job: string; readonly queue?: string }

function refuseNew(jobs: readonly NewJob[], grant: Grant, { creating }: JobService): void {
  for (const { job, queue = creating.definitionOf(job).fields.queue } of jobs) if (!grant.sees({ job, queue })) throw outside()
}

async function refuseJob(id: string, grant: Grant, { queue }: JobService): Promise<void> {
  const record = await queue.backend.store.get(id)
  if (record === null || !grant.sees(record)) throw noSuchJob(id)
}

/**
 * The leases of these jobs that the token may see. To the token, the lease of any other job looks lost, as if it never existed.
 */
export async function seenLeases(
  jobs: readonly { readonly id: string }[],
  grant: Grant,
  { queue }: JobService,
): Promise<readonly HeldLease[]> {
  const leases = await queue.backend.store.leases({ ids: jobs.map(({ id }) => id) })
  if (!grant.isLimited) return leases
  return leases.filter(({ identity, job }) => grant.sees({ queue: parseIdentity(identity)?.queue ?? '', job }))
}

/** If the schedule exists already, its current job must be within the limits, too. */
async function refuseOtherSchedule(name: string, grant: Grant, service: JobService): Promise<void> {
  const job = await storedJobOf(name, service)
  if (job !== null && !seesSchedule(job, grant, service)) throw outside()
}

async function refuseSchedule(name: string, grant: Grant, service: JobService): Promise<void> {
  if (seesSchedule((await storedJobOf(name, service)) ?? name, grant, service)) return
  throw new HttpProblem('schedule-not-found', `There is no schedule ${JSON.stringify(name)}`, { code: 'SCHEDULE_UNKNOWN' })
}

/** For operations on many jobs: their filter must be within the limits. */
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
