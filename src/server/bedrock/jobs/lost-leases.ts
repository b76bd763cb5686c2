import type { Grant } from '../../access/grant.ts'
import { Refusal } from '../wire/refusal.ts'
import { isRunning, type WireJob } from './format/wire-job.ts'
import type { HandedOut } from './handed-out.ts'
import { serverOwner, type WireQueue } from './wire-queue.ts'

/** Whether the client's lease has expired, so that the job waits again or belongs to another client. */
export async function isLost({ lease }: HandedOut, { deps }: Pick<WireQueue, 'deps'>): Promise<boolean> {
  const [current] = await deps.queue.backend.store.leases({ ids: [lease.envelope.id] })
  return current?.token !== lease.token
}

export async function refuseLost(held: HandedOut, jobs: Pick<WireQueue, 'deps'>): Promise<void> {
  if (await isLost(held, jobs)) throw new Refusal(405, 'The job no longer runs for this client')
}

/** Another server may have handed it out, or this one before it was restarted. Then it is not known here which client has it. */
export function isHandedOutElsewhere(job: WireJob): boolean {
  return isRunning(job) && job.record.owner?.startsWith(serverOwner) === true
}

/** Whether a job runs for the holder of this grant, as far as this server knows. */
export async function runsFor(grant: Grant, job: WireJob, jobs: Pick<WireQueue, 'deps' | 'handedOut'>): Promise<boolean> {
  const { number } = job.record
  const held = number === null ? undefined : jobs.handedOut.get(number)
  return held === undefined ? isHandedOutElsewhere(job) : held.grant === grant && !(await isLost(held, jobs))
}
