import { type ColumnName, stateNumber } from './tables.ts'

/** A job as far as its state matters: without what it carries. */
export interface JobRow {
  readonly id: string
  readonly lane: number
  readonly grp: string
  readonly state: number
  readonly run_at: number
  readonly unique_key: string | null
  readonly unique_until: number | null
  readonly held_key: string | null
  readonly schedule: string | null
  readonly attempts: number
  readonly rescues: number
  readonly token: string | null
  readonly owner: string | null
  readonly lease_until: number | null
  readonly started_at: number | null
  readonly cancel: number
  readonly begun: number
  readonly finished_at: number | null
  readonly reason: string | null
  readonly errors: string | null
  readonly linked: number
  readonly number: number | null
  readonly created_at: number
}

/** One less than the maximum of the column, so that no value written there can make a claim fail. */
export const mostAttempts = 2 ** 31 - 2

/** The same as the claim statements compute. */
export function attemptsAfter(attempts: number): number {
  return Math.min(attempts, mostAttempts) + 1
}

export const rowColumns = [
  'id',
  'lane',
  'grp',
  'state',
  'run_at',
  'unique_key',
  'unique_until',
  'held_key',
  'schedule',
  'attempts',
  'rescues',
  'token',
  'owner',
  'lease_until',
  'started_at',
  'cancel',
  'begun',
  'finished_at',
  'reason',
  'errors',
  'linked',
  'number',
  'created_at',
] as const satisfies readonly (ColumnName<'jobs'> & keyof JobRow)[]

/** Further columns that a change may set: what the job carries. */
export interface CarriedColumns {
  readonly identity: string
  readonly payload: string
  readonly signature: string | null
  readonly result: string | null
  readonly seal: string | null
  readonly progress: string | null
  readonly crowd: number | null
}

export type JobChange = Partial<Omit<JobRow, 'id'> & CarriedColumns>

/** How long a unique key is held, as stored. Any other number is the instant at which the hold ends. */
export const untilNumber = { ended: 0, started: 1, ever: 2 } as const

export function rowEnded({ state }: Pick<JobRow, 'state'>): boolean {
  return state >= stateNumber.succeeded
}
