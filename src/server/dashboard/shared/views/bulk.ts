import type { Role } from '../../../../client/api/roles.ts'
import type { JobRow, Searched } from './job.ts'

export type BulkAction = 'retry' | 'cancel' | 'delete' | 'run-now' | 'reschedule'

export interface BulkPreview {
  readonly count: number
  /** False if the count is only a lower bound. */
  readonly exact: boolean
  readonly samples: readonly JobRow[]
  readonly searched: Searched
}

export interface BulkView {
  readonly id: string
  readonly action: BulkAction
  readonly filter: string | null
  readonly user: string | null
  readonly startedAt: number
  readonly endedAt: number | null
  readonly expected: number
  readonly looked: number
  readonly done: number
  readonly refused: readonly { readonly why: string; readonly count: number; readonly sampleId: string }[]
  readonly isAborted: boolean
  readonly failure: string | null
}

/** One action taken in the dashboard. */
export interface ActivityEntry {
  readonly at: number
  /** Null if the host does not name its users, as where they sign in with a token. */
  readonly user: string | null
  readonly role: Role
  readonly what: string
  readonly href: string | null
  readonly bulk: BulkView | null
}
