import { parseIdentity } from '../../../envelope/envelope.ts'
import type { WorkerRecord } from '../../../queue/contract/stores/worker-store.ts'
import { seenWorkers } from '../../access/seen-workers.ts'
import { HttpProblem } from '../../http/wire/http-problem.ts'
import type { Viewer } from '../access/viewer.ts'
import type { ViewDeps } from '../deps.ts'
import type { WorkerRow, WorkerView } from '../shared/views/worker.ts'

const mostHeld = 200

export async function workersFor({ snapshots }: ViewDeps, { grant }: Viewer): Promise<readonly WorkerRow[]> {
  const [workers, counts] = await Promise.all([snapshots.workers(), snapshots.counts()])
  return seenWorkers(workers, grant, counts).map(rowOf)
}

export async function workerView(deps: ViewDeps, viewer: Viewer, owner: string): Promise<WorkerView> {
  const row = (await workersFor(deps, viewer)).find((each) => each.owner === owner)
  if (row === undefined)
    throw new HttpProblem('not-found', `There is no worker ${JSON.stringify(owner)}: it has ended, or sends no heartbeat`)
  const leases = await deps.store.leases({ owners: [owner] })
  const seen = leases.filter(({ job, identity }) => viewer.grant.sees({ job, queue: parseIdentity(identity)?.queue ?? '' }))
  const holds = seen
    .slice(0, mostHeld)
    .map(({ id, job, attempt, claimedAt, expiresAt }) => ({ id, job, attempt, claimedAt, expiresAt }))
  return { ...row, holds }
}

function rowOf({ scheduler, ...worker }: WorkerRecord): WorkerRow {
  return { ...worker, follows: scheduler !== null, lastTickAt: scheduler?.lastTickAt ?? null }
}
