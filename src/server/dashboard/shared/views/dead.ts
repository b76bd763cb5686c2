import type { Searched } from './job.ts'

export interface ErrorGroup {
  readonly key: string
  readonly job: string
  readonly queues: readonly string[]
  readonly reasons: readonly string[]
  readonly code: string | null
  /** Of the newest job of the group. */
  readonly message: string
  readonly normal: string
  readonly sampleId: string
  readonly sampleStack: string | null
  readonly jobs: number
  /** Whether the number is an estimate, because not all jobs of the name were read. */
  readonly isEstimate: boolean
  /** Null if it is not known. */
  readonly firstAt: number | null
  readonly lastAt: number
  /** For each of the last seven days, oldest first; null if it is not known. */
  readonly days: readonly number[] | null
}

/** The dead jobs by error, from the newest of each name. */
export interface DeadView {
  readonly groups: readonly ErrorGroup[]
  readonly total: number
  /** How many of them were read. */
  readonly read: number
  /** Whether that was all of them. */
  readonly isWhole: boolean
}

/** The dead jobs by error, each of them read. */
export interface DeadPage {
  readonly groups: readonly ErrorGroup[]
  readonly total: number
  readonly next: string | null
  readonly searched: Searched
}
