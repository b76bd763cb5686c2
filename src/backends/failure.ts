/**
 * Why a job is dead: its attempts are used up, its envelope was refused, its workers kept dying, the handler gave up, a job that
 * it depends on failed, or its worker died with a job that must not be begun twice.
 */
export type DeadReason = 'exhausted' | 'rejected' | 'poisoned' | 'permanent' | 'dependency' | 'interrupted'

export interface AttemptError {
  readonly attempt: number
  /** UTC milliseconds. */
  readonly at: number
  readonly message: string
  readonly code?: string
  readonly stack?: string
}
