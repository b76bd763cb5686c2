import type { Envelope } from '../../../envelope/envelope.ts'
import type { QueueTime } from '../../servers/queue-time.ts'
import { crowdOf } from '../lanes/lane-numbers.ts'
import type { Lane } from '../lanes/lanes.ts'
import type { SqlRow } from '../session.ts'
import { type ColumnName, stateNumber } from './tables.ts'

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

export const widerColumns = [...plainColumns, 'number', 'crowd'] as const satisfies readonly ColumnName<'jobs'>[]

export type PlainRow = SqlRow &
  Readonly<Record<'id' | 'identity' | 'payload', string>> &
  Readonly<Record<'lane' | 'state', number>> & {
    /** Only if it has one. */
    readonly number?: number
    /** Only if its lane is crowded. */
    readonly crowd?: number
  }

export const sentColumns = [
  ...widerColumns,
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

/** A row without a unique key, a group, a schedule or links: those columns keep their defaults. */
export function plainRowOf(envelope: Envelope, lane: Lane, time: QueueTime, runAt = time.dueAt(envelope.runAt)): PlainRow {
  const { id, number, createdAt, identity, payload, signature } = envelope
  const state = runAt <= time.now() ? stateNumber.ready : stateNumber.scheduled
  const row = { id, lane: lane.lane, state, run_at: runAt, created_at: createdAt, identity, payload, signature }
  const crowd = crowdOf(lane)
  if (number === null && crowd === null) return row
  return { ...row, ...(number !== null && { number }), ...(crowd !== null && { crowd }) }
}

/** Most jobs have no number and are not in a crowded lane, so those columns are not sent. */
export function columnsOf(rows: readonly PlainRow[]): typeof plainColumns | typeof widerColumns {
  return rows.some(({ number, crowd }) => number !== undefined || crowd !== undefined) ? widerColumns : plainColumns
}
