import { parseIdentity } from '../../../envelope/envelope.ts'
import type { HeldLease, JobRecord } from '../../../queue/contract/store.ts'
import { soundFields } from '../../../queue/model/spoilt.ts'
import { unscopedKey } from '../../../queue/model/unique-key.ts'
import { type Lane, nameless } from '../lanes/lane-numbers.ts'
import { laneOfRow } from '../lanes/lane-repair.ts'
import { writeToken } from './lease-token.ts'
import type { ColumnName } from './tables.ts'

/** The columns of a job's row that users see, with its place in a workflow. */
export interface RecordRow {
  readonly id: string
  readonly number: number | null
  readonly lane: number
  readonly grp: string
  readonly state: number
  readonly run_at: number
  readonly created_at: number
  readonly identity: string
  readonly payload: string
  readonly signature: string | null
  readonly unique_key: string | null
  readonly schedule: string | null
  readonly parent: string | null
  readonly root: string | null
  readonly attempts: number
  readonly rescues: number
  readonly owner: string | null
  readonly lease_until: number | null
  readonly started_at: number | null
  readonly cancel: number
  readonly finished_at: number | null
  readonly result: string | null
  readonly seal: string | null
  readonly progress: string | null
  readonly reason: string | null
  readonly errors: string | null
}

export const recordColumns = [
  'id',
  'number',
  'lane',
  'grp',
  'state',
  'run_at',
  'created_at',
  'identity',
  'payload',
  'signature',
  'unique_key',
  'schedule',
  'attempts',
  'rescues',
  'owner',
  'lease_until',
  'started_at',
  'cancel',
  'finished_at',
  'result',
  'seal',
  'progress',
  'reason',
  'errors',
] as const satisfies readonly (ColumnName<'jobs'> & keyof RecordRow)[]

/** A row as users and programs see it. A refused envelope is shown too, as far as its row describes it. */
export function recordOf(row: RecordRow, lane: Lane | undefined): JobRecord {
  const identity = typeof row.identity === 'string' ? parseIdentity(row.identity) : undefined
  const { queue, job, priority, grouped } = lane ?? laneOfRow(row.lane, row) ?? nameless(row.lane)
  return {
    id: row.id,
    number: row.number,
    job,
    name: identity?.name ?? job,
    queue,
    priority,
    meta: identity?.meta ?? {},
    tags: identity?.tags ?? [],
    maxRetries: identity?.maxRetries ?? 0,
    timeoutMs: identity?.timeoutMs ?? null,
    singleInstance: identity?.singleInstance ?? false,
    repeat: identity?.repeat ?? null,
    occurrence: identity?.occurrence ?? null,
    uniqueKey: typeof row.unique_key === 'string' ? unscopedKey(row.unique_key) : null,
    idempotencyKey: identity?.idempotencyKey ?? null,
    group: grouped === 1 ? row.grp : null,
    cancelRequested: row.cancel === 1,
    // Last, because V8 takes sixty times as long to add so many fields to a copy.
    ...soundFields(row, { hasIdentity: identity !== undefined, hasLane: lane !== undefined }),
  }
}

/** The columns of a running job that a lease is made of. */
export interface HeldRow {
  readonly id: string
  readonly lane: number
  readonly token: string
  readonly owner: string
  readonly identity: string
  readonly attempts: number
  readonly run_at: number
  readonly started_at: number
  readonly lease_until: number
}

export const heldColumns = [
  'id',
  'lane',
  'token',
  'owner',
  'identity',
  'attempts',
  'run_at',
  'started_at',
  'lease_until',
] as const satisfies readonly (ColumnName<'jobs'> & keyof HeldRow)[]

export function heldLeaseOf(row: HeldRow, { job }: Lane): HeldLease {
  const { id, lane, owner, identity } = row
  const token = writeToken(id, lane, row.token)
  return { token, owner, id, job, identity, attempt: row.attempts, claimedAt: row.started_at, expiresAt: row.lease_until }
}
