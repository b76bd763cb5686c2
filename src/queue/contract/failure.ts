/**
 * Why a job is dead: its attempts are used up, its envelope was refused, its workers kept dying, the handler gave up, a job that
 * it depends on failed, or its worker died with a job that must not be begun twice.
 */
export type DeadReason = 'exhausted' | 'rejected' | 'poisoned' | 'permanent' | 'dependency' | 'interrupted'

/** What a job says whose worker died after it had begun for good. */
export function interruption(owner: string | null): string {
  return `Its worker ${owner} died or hung while it ran. It must not be begun twice, so it was not put back; what it did may be incomplete`
}

/** One failed attempt of a job: when it failed, and its error. */
export interface AttemptError {
  readonly attempt: number
  /** UTC milliseconds. */
  readonly at: number
  readonly message: string
  readonly code?: string
  readonly stack?: string
}
