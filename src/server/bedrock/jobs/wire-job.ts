import { type WireMeta, wireMetaOf } from '../../../envelope/bedrock-meta.ts'
import { shownText } from '../../../envelope/encryption.ts'
import { identityOf } from '../../../envelope/identity.ts'
import { parentMarkOf } from '../../../envelope/parent-mark.ts'
import type { JobRecord } from '../../../queue/contract/store.ts'
import { wirePriorityOf } from './priorities.ts'

export type WireState = 'QUEUED' | 'RUNNING' | 'RUNQUEUED' | 'PAUSED' | 'FINISHED' | 'FAILED' | 'CANCELLED'

/** The state that the protocol has for a job, or null where it knows no such job: what is done and has no parent is gone. */
export function wireStateOf(record: JobRecord): WireState | null {
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
  /** When it was last handed out, or null. */
  readonly lastRun: number | null
  /** As it is shown: what a child has left behind is what it was finished with. */
  readonly data: string
  /** What its envelope says, which is what is verified of it. Only this may be sealed anew, never a stored result. */
  readonly ownData: string
}

/** One that was made for another job. */
export interface ChildJob extends WireJob {
  /** What its parent calls it. */
  readonly key: string | null
}

/** Whether it was made for this job: that is signed with it, the link between the two is not. */
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
    data: state === 'FINISHED' && record.result !== null ? shownText(record.result) : ownData,
    ownData,
  }
}

export function isRunning({ state }: WireJob): boolean {
  return state === 'RUNNING' || state === 'RUNQUEUED'
}

/** It has still to be done before its parent goes on. */
export function isPending({ state }: WireJob): boolean {
  return state === 'QUEUED' || state === 'PAUSED' || state === 'RUNNING' || state === 'RUNQUEUED'
}
