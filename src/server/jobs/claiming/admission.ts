import type { Opened } from '../../../envelope/envelope.ts'
import { admitForClient, heldBack, mayBeHeld } from '../../../execution/admit/admit.ts'
import { scheduledRun } from '../../../execution/admit/occurrence.ts'
import { asDelivered, end } from '../../../execution/end/end.ts'
import type { Outcome } from '../../../execution/end/outcome.ts'
import type { Lease } from '../../../queue/contract/contract.ts'
import { queueClock } from '../../../queue/time/queue-clock.ts'
import { waitedMs } from '../../../telemetry/observer.ts'
import type { JobService } from '../job-service.ts'
import type { ServedExecution } from '../served-execution.ts'

/** A job that may be handed out to another program. */
export interface AdmittedLease {
  readonly lease: Lease
  readonly opened: Opened
}

type AdmittingService = Pick<JobService, 'queue' | 'execution'>

/** The leases that may be handed out. Jobs that are refused or held back are ended or put back instead. */
export async function admitLeases(
  leases: readonly Lease[],
  { queue, execution }: AdmittingService,
): Promise<readonly AdmittedLease[]> {
  try {
    const found = await Promise.all(leases.map((lease) => admit(lease, execution)))
    const admitted = found.filter((each) => each !== null)
    const begun = admitted.filter(({ lease }) => isBegunOnce(lease, execution))
    if (begun.length > 0) await queue.backend.begin(begun.map(({ lease }) => lease.token))
    if (queue.observers.isOn || queue.events.has('job:started')) tellStarted(admitted, queue)
    return admitted
  } catch (thrown) {
    await giveBack(leases, queue)
    throw thrown
  }
}

function tellStarted(
  admitted: readonly AdmittedLease[],
  { backend, settings, observers, events, keys }: JobService['queue'],
): void {
  const now = queueClock(backend, settings.clock).now()
  for (const { lease, opened } of admitted) {
    const { envelope, attempt } = lease
    const { id, job, queue } = envelope
    if (observers.isOn) observers.started(envelope, waitedMs(envelope, now))
    events.emit('job:started', { id, job, name: opened.identity.name, queue, attempt }, { envelope, keys, startedAt: now })
  }
}

/** As if they had never been claimed: no client has seen them. */
export async function giveBack(leases: readonly Pick<Lease, 'token'>[], { backend }: JobService['queue']): Promise<void> {
  if (leases.length > 0) await backend.settle(leases.map(({ token }) => ({ token, kind: 'snooze', delayMs: 0 })))
}

/** The reply was probably not delivered. The jobs go back to the queue, except for at-most-once jobs, which are ended. */
export async function takeBack(leases: readonly Lease[], { queue, execution }: AdmittingService): Promise<void> {
  const again = leases.filter((lease) => !isBegunOnce(lease, execution))
  await giveBack(again, queue)
  await endUndelivered(leases, execution)
}

/** Ends those that must not be begun twice. */
export async function endUndelivered(leases: readonly Lease[], execution: ServedExecution): Promise<void> {
  for (const lease of leases) {
    const definition = execution.find(lease.envelope.job)
    if (definition === undefined || !isBegunOnce(lease, execution)) continue
    await end(lease, asDelivered({ kind: 'release' }, definition, lease.envelope), execution)
  }
}

export function isBegunOnce({ envelope }: Lease, { find }: ServedExecution): boolean {
  return find(envelope.job)?.fields.delivery === 'at-most-once'
}

async function admit(lease: Lease, execution: ServedExecution): Promise<AdmittedLease | null> {
  const found = await admitted(lease, execution)
  if ('opened' in found) return found
  await end(lease, found, execution)
  return null
}

/** The job if it may be handed out; otherwise its outcome. */
async function admitted(lease: Lease, execution: ServedExecution): Promise<AdmittedLease | Outcome> {
  let opened: Opened
  try {
    opened = admitForClient(lease, execution)
  } catch (error) {
    return { kind: 'dead', reason: 'rejected', error }
  }
  const { identity } = opened
  const scheduled = scheduledRun(identity, lease.envelope.createdAt, execution)
  const isAsked = mayBeHeld(lease, identity, scheduled)
  return (isAsked ? await heldBack({ lease, identity, scheduled }, execution) : null) ?? { lease, opened }
}
