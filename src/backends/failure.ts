/** Why a job is dead: its attempts are used up, its envelope was refused, its workers kept dying, or the handler gave up. */
export type DeadReason = 'exhausted' | 'rejected' | 'poisoned' | 'permanent'

export interface AttemptError {
  readonly attempt: number
  /** UTC milliseconds. */
  readonly at: number
  readonly message: string
  readonly code?: string
  readonly stack?: string
}
