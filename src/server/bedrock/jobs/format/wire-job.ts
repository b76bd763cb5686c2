import { type WireMeta, wireMetaOf } from '../../../../envelope/bedrock-meta.ts'
import { shownText } from '../../../../envelope/encryption.ts'
import { identityOf } from '../../../../envelope/identity.ts'
import { parentMarkOf } from '../../../../envelope/parent-mark.ts'
import type { JobRecord } from '../../../../queue/contract/store.ts'
import { wirePriorityOf } from './priorities.ts'

export type WireState = 'QUEUED' | 'RUNNING' | 'RUNQUEUED' | 'PAUSED' | 'FINISHED' | 'FAILED' | 'CANCELLED'

/** The protocol's state for a job; null if the job does not exist in the protocol, like a finished job without a parent. */
function wireStateOf(record: JobRecord): WireState | null {
  const meta = wireMetaOf(record.meta)
  switch (record.state) {
    case 'ready':
    case 'scheduled':
      return meta.heldUntil === null ? 'QUEUED' : 'PAUSED'
    case 'blocked':
      return 'PAUSED'
    case 'running':
      return meta.retryAfter === '' ? 'RUNNING' : 'RUNQUEUED'
    case 'succeeded':
      return record.parent === null ? null : 'FINISHED'
    case 'dead':
      return 'FAILED'
    case 'cancelled':
      return 'CANCELLED'
    case 'skipped':
      return record.parent === null ? null : 'CANCELLED'
  }
}

/** A job as the protocol shows it. */
export interface WireJob {
  readonly record: JobRecord
  readonly state: WireState
  readonly meta: WireMeta
  readonly priority: number
  /** When it was last handed out; null if never. */
  readonly lastRun: number | null
  /** The data to show: for a finished child its result, unless its data was changed since. */
  readonly data: string
  /** The data in its envelope, which is what the signature covers. Only this may be sealed again, never a stored result. */
  readonly ownData: string
}

/** A job that was created as a child of another one. */
export interface ChildJob extends WireJob {
  /** The key that its parent knows it by. */
  readonly key: string | null
}

/** Whether it was created for this parent according to its signed identity. The stored link between the two is not signed. */
export function isChildOf(parent: string, { record: { id, identity }, meta, key }: ChildJob): boolean {
  const mark = identityOf(id, identity)?.parentMark
  return meta.parent === parent || (mark !== undefined && key !== null && mark === parentMarkOf({ id: parent, key }))
}

export function wireJobOf(record: JobRecord): WireJob | null {
  const state = wireStateOf(record)
  if (state === null) return null
  const meta = wireMetaOf(record.meta)
  const ownData = shownText(record.payload)
  return {
    record,
    state,
    meta,
    priority: wirePriorityOf(record.priority),
    lastRun: record.startedAt ?? meta.lastRun,
    data: state === 'FINISHED' && record.result !== null && !meta.isDataNewer ? shownText(record.result) : ownData,
    ownData,
  }
}

export function isRunning({ state }: WireJob): boolean {
  return state === 'RUNNING' || state === 'RUNQUEUED'
}

/** Whether its parent still has to wait for it. */
export function isPending({ state }: WireJob): boolean {
  return state === 'QUEUED' || state === 'PAUSED' || state === 'RUNNING' || state === 'RUNQUEUED'
}
