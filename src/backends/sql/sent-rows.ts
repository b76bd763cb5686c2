import type { Envelope } from '../../envelope/envelope.ts'
import { heldKeyOf, scopedKey } from './job-row.ts'
import type { Lane } from './lanes.ts'
import type { QueueTime } from './queue-time.ts'
import type { SqlRow } from './session.ts'
import { type ColumnName, stateNumber } from './tables.ts'
import { writeUntil } from './unique-keys.ts'

export const plainColumns = [
  'id',
  'lane',
  'state',
  'run_at',
  'created_at',
  'identity',
  'payload',
  'signature',
] as const satisfies readonly ColumnName<'jobs'>[]

export const numberedColumns = [...plainColumns, 'number'] as const satisfies readonly ColumnName<'jobs'>[]

export type PlainRow = SqlRow &
  Readonly<Record<'id' | 'identity' | 'payload', string>> &
  Readonly<Record<'lane' | 'state', number>> & {
    /** Only where it has one. */
    readonly number?: number
  }

export const sentColumns = [
  ...numberedColumns,
  'grp',
  'unique_key',
  'unique_until',
  'held_key',
  'schedule',
  'linked',
] as const satisfies readonly ColumnName<'jobs'>[]

export type SentRow = PlainRow & {
  readonly grp: string
  readonly unique_key: string | null
  readonly unique_until: number | null
  readonly held_key: string | null
}

/** A row without a unique key, a group, a schedule or links: those columns have their defaults. */
export function plainRowOf(envelope: Envelope, lane: Lane, time: QueueTime, runAt = time.dueAt(envelope.runAt)): PlainRow {
  const { id, number, createdAt, identity, payload, signature } = envelope
  const state = runAt <= time.now() ? stateNumber.ready : stateNumber.scheduled
  const row = { id, lane: lane.lane, state, run_at: runAt, created_at: createdAt, identity, payload, signature }
  return number === null ? row : { ...row, number }
}

/** Most jobs have no number, and then nothing of it travels. */
export function hasNumbers(rows: readonly PlainRow[]): boolean {
  return rows.some(({ number }) => number !== undefined)
}

export function rowOf(envelope: Envelope, lane: Lane, time: QueueTime, schedule: string | null): SentRow {
  const { job, group, uniqueKey, uniqueUntil } = envelope
  const row = {
    // The instants of a schedule are the same whoever stores them.
    ...plainRowOf(envelope, lane, time, schedule === null ? undefined : envelope.runAt),
    grp: group ?? '',
    unique_key: uniqueKey === null ? null : scopedKey(job, uniqueKey),
    unique_until: uniqueKey === null ? null : writeUntil(uniqueUntil),
    schedule,
    linked: 0,
  }
  return { ...row, held_key: heldKeyOf({ ...row, started_at: null }) }
}
