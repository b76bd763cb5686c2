import { Refusal } from '../refusal.ts'
import type { HandedOut } from './handed-out.ts'
import type { WireQueue } from './wire-queue.ts'

/** Whether the lease of a client has run out, and the job waits again or is somebody else's by now. */
export async function isLost({ lease }: HandedOut, { deps }: Pick<WireQueue, 'deps'>): Promise<boolean> {
  const [current] = await deps.queue.backend.store.leasesOf([lease.envelope.id])
  return current?.token !== lease.token
}

export async function refuseLost(held: HandedOut, jobs: Pick<WireQueue, 'deps'>): Promise<void> {
  if (await isLost(held, jobs)) throw new Refusal(405, 'The job no longer runs for this client')
}
