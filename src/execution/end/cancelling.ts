import type { KeyRing } from '../../envelope/keys/key-ring.ts'
import { type CancelOutcome, cancelOutcome } from '../../queue/contract/queue-counts.ts'
import type { Cancellation, JobRecord, JobStore } from '../../queue/contract/store.ts'
import type { JobEvents } from '../job-events.ts'

export interface CancellingDeps {
  readonly store: JobStore
  readonly events: JobEvents
  readonly keys: KeyRing | null
}

/** Cancels a job. Emits `job:cancelled` for one that was waiting; for a running one, its worker does so when the run has ended. */
export async function cancelJob(id: string, deps: CancellingDeps): Promise<CancelOutcome> {
  const { store, events } = deps
  const answer = cancelOutcome(await store.cancel(id))
  if (answer === 'cancelled' && events.has('job:cancelled')) {
    const record = await store.get(id)
    if (record !== null) emitCancelled(record, deps)
  }
  return answer
}

/** Cancels a job with everything that it made and that waits for it, or a workflow, and emits the same events. */
export async function cancelTree(id: string, deps: CancellingDeps): Promise<Cancellation> {
  const { store, events } = deps
  if (!events.has('job:cancelled')) return store.cancel(id, { tree: true })
  const record = await store.get(id)
  const root = record === null ? id : record.root
  if (root === null) {
    const cancellation = await store.cancel(id, { tree: true })
    if (cancellation.cancelled > 0) await emitAll([id], deps)
    return cancellation
  }
  const cancelledBefore = new Set(await cancelledOf(root, store))
  const cancellation = await store.cancel(id, { tree: true })
  const now = cancellation.cancelled === 0 ? [] : await cancelledOf(root, store)
  await emitAll(
    now.filter((each) => !cancelledBefore.has(each)),
    deps,
  )
  return cancellation
}

const pageSize = 500

/** The ids of the cancelled jobs of a workflow. */
async function cancelledOf(root: string, store: JobStore): Promise<readonly string[]> {
  const ids: string[] = []
  let page: readonly JobRecord[]
  do {
    const before = ids.at(-1)
    page = await store.list({ root, state: 'cancelled', limit: pageSize, ...(before !== undefined && { before }) })
    for (const { id } of page) ids.push(id)
  } while (page.length === pageSize)
  return ids
}

async function emitAll(ids: readonly string[], deps: CancellingDeps): Promise<void> {
  for (const id of ids) {
    const record = await deps.store.get(id)
    if (record?.state === 'cancelled') emitCancelled(record, deps)
  }
}

function emitCancelled(record: JobRecord, { events, keys }: CancellingDeps): void {
  const { id, job, name, queue, attempts: attempt, finishedAt } = record
  const subject = { envelope: record, keys, ...(finishedAt !== null && { endedAt: finishedAt }) }
  events.emit('job:cancelled', { id, job, name, queue, attempt }, subject)
}
