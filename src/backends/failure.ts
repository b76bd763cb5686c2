/**
 * Why a job is dead: its attempts are used up, its envelope was refused, its workers kept dying, the handler gave up, or a job
 * that it depends on failed.
 */
export type DeadReason = 'exhausted' | 'rejected' | 'poisoned' | 'permanent' | 'dependency'

export interface AttemptError {
  readonly attempt: number
  /** UTC milliseconds. */
  readonly at: number
  readonly message: string
  readonly code?: string
  readonly stack?: string
}
