import { parseIdentity } from '../../envelope/envelope.ts'
import { soundFields } from '../spoilt.ts'
import type { HeldLease, JobRecord } from '../store.ts'
import { unscopedKey } from './sending.ts'
import { writeToken } from './token.ts'

/** A job's row, with its lane's fields. */
export interface JobRow {
  readonly id: string
  readonly number: number | null
  readonly job: string
  readonly queue: string
  readonly priority: number
  readonly grouped: number
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

/** A row as people and programs see it. A refused envelope is shown too, with what its row says of it. */
export function recordOf(row: JobRow): JobRecord {
  const identity = typeof row.identity === 'string' ? parseIdentity(row.identity) : undefined
  return {
    ...soundFields(row, identity !== undefined),
    id: row.id,
    number: row.number,
    job: row.job,
    name: identity?.name ?? row.job,
    queue: row.queue,
    priority: row.priority,
    meta: identity?.meta ?? {},
    maxRetries: identity?.maxRetries ?? 0,
    timeoutMs: identity?.timeoutMs ?? null,
    singleInstance: identity?.singleInstance ?? false,
    repeat: identity?.repeat ?? null,
    occurrence: identity?.occurrence ?? null,
    uniqueKey: typeof row.unique_key === 'string' ? unscopedKey(row.unique_key) : null,
    idempotencyKey: identity?.idempotencyKey ?? null,
    group: row.grouped === 1 ? row.grp : null,
    cancelRequested: row.cancel === 1,
  }
}

/** The row of a job that is running, as far as a lease is made of it. */
export interface HeldRow {
  readonly seq: number
  readonly lane: number
  readonly token: string
  readonly owner: string
  readonly id: string
  readonly job: string
  readonly identity: string
  readonly attempts: number
  readonly started_at: number
  readonly lease_until: number
}

export function heldLeaseOf(row: HeldRow): HeldLease {
  const { owner, id, job, identity } = row
  const token = writeToken(row.seq, row.lane, row.token)
  return { token, owner, id, job, identity, attempt: row.attempts, claimedAt: row.started_at, expiresAt: row.lease_until }
}
