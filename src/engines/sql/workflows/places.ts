import type { ColumnName } from '../rows/tables.ts'

/** A job's place in a workflow, as stored. */
export interface WorkflowPlace {
  readonly id: string
  readonly root: string
  readonly parent: string | null
  readonly longest_wait_ms: number
  /** How many edges it waits for. */
  readonly pending: number
  /** When it gives up waiting; null if it is not blocked. */
  readonly gives_up_at: number | null
  /** What will happen to a running job when its handler finishes: a `Doom`. */
  readonly doom: string | null
  /** What its handler left to do when its children have ended: an `Ending`. */
  readonly ending: string | null
  /** 1 if it waits for a job that it stands in for. */
  readonly stands_in: number
}

export const placeColumns = [
  'id',
  'root',
  'parent',
  'longest_wait_ms',
  'pending',
  'gives_up_at',
  'doom',
  'ending',
  'stands_in',
] as const satisfies readonly (ColumnName<'links'> & keyof WorkflowPlace)[]
