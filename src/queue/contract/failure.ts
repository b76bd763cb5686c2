/**
 * Why a job is dead. In this order: its attempts are used up, its envelope was refused, its workers kept dying, the handler gave
 * up, a dependency failed, or its worker died while it ran and it must not be begun twice.
 */
export type DeadReason = 'exhausted' | 'rejected' | 'poisoned' | 'permanent' | 'dependency' | 'interrupted'

export const deadReasons: readonly DeadReason[] = ['exhausted', 'rejected', 'poisoned', 'permanent', 'dependency', 'interrupted']

/** One failed attempt of a job: when it failed, and its error. */
export interface AttemptError {
  readonly attempt: number
  /** UTC milliseconds. */
  readonly at: number
  readonly message: string
  readonly code?: string
  readonly stack?: string
}
