import type { Grant } from '../../access/grant.ts'
import { wirePriorityOf } from '../jobs/format/priorities.ts'
import type { WireJob } from '../jobs/format/wire-job.ts'
import { exactWireTime, wireTime } from '../jobs/format/wire-times.ts'
import type { Handed } from '../jobs/handing-out.ts'
import { wireNameOf } from '../jobs/mock-jobs.ts'
import type { WireQueue } from '../jobs/wire-queue.ts'
import { RawJson, type WireFields } from '../wire/wire-values.ts'

/** The fields of a job for the client that has just received it, as they were before it was handed out. */
export async function handedFields(handed: Handed, jobs: WireQueue, isBrief: boolean, grant: Grant): Promise<WireFields> {
  const { number, lease, identity, meta } = handed
  const { envelope } = lease
  const brief = { data: new RawJson(envelope.payload), jobID: number, name: wireNameOf(identity.job) }
  const rest = {
    created: wireTime(envelope.createdAt),
    lastRun: meta.lastRun === null ? null : wireTime(meta.lastRun),
    nextRun: exactWireTime(envelope.runAt),
    priority: wirePriorityOf(identity.priority),
    repeat: identity.repeat,
    retryAfter: meta.retryAfter,
  }
  const family = { ...(await parentFields(handed, jobs, grant)), ...childrenFields(handed, jobs, grant) }
  return isBrief ? { ...brief, ...family } : { ...brief, ...rest, ...family }
}

async function parentFields({ meta }: Handed, jobs: WireQueue, grant: Grant): Promise<WireFields> {
  if (meta.parent === null) return {}
  const parent = await jobs.byId(meta.parent)
  const number = parent === null ? null : (parent.record.number ?? (await jobs.deps.numbers.of(parent.record.id)))
  if (parent === null || number === null || !grant.sees(parent.record)) return {}
  return { parentJobID: number, parentData: toldData(parent, jobs) }
}

function childrenFields({ children: all }: Handed, jobs: WireQueue, grant: Grant): WireFields {
  const children = all.filter(({ record }) => grant.sees(record))
  const inState = (state: WireJob['state']) =>
    children.filter((child) => child.state === state).map((child) => childFields(child, jobs))
  const [finished, cancelled, failed] = [inState('FINISHED'), inState('CANCELLED'), inState('FAILED')]
  return {
    ...(finished.length + cancelled.length > 0 && { finishedChildJobs: finished, cancelledChildJobs: cancelled }),
    ...(failed.length > 0 && { failedChildJobs: failed }),
  }
}

function childFields(child: WireJob, jobs: WireQueue): WireFields {
  return { jobID: child.record.number, data: toldData(child, jobs) }
}

/** What a worker sees of another job's data. Empty if that job does not match its signature. */
function toldData({ record, data }: WireJob, jobs: WireQueue): RawJson {
  return new RawJson(jobs.isGenuine(record) ? data : '{}')
}

/** The fields of a job for a client that queries it. */
export function lookedAtFields(number: number, job: WireJob, isBrief: boolean): WireFields {
  const { record, state, meta, priority, lastRun, data } = job
  const brief = {
    created: wireTime(record.createdAt),
    data: new RawJson(data),
    jobID: number,
    lastRun: lastRun === null ? null : wireTime(lastRun),
    name: wireNameOf(record.job),
    nextRun: isBrief ? wireTime(shownRunAt(job)) : exactWireTime(shownRunAt(job)),
    repeat: record.repeat,
    state,
  }
  return isBrief ? brief : { ...brief, priority, retryAfter: meta.retryAfter }
}

/** A held child has a run time in the far future; show the time at which it is meant to run. */
export function shownRunAt({ record, meta }: WireJob): number {
  return meta.heldUntil ?? record.runAt
}
