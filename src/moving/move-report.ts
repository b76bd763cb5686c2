import type { JobState } from '../queue/contract/job-state.ts'
import type { JobCount } from '../queue/contract/store.ts'
import type { Refusal } from '../queue/contract/transfer.ts'

/** How far a move has come. */
export interface MoveProgress {
  /** Jobs that have arrived. */
  readonly moved: number
  /** Jobs that have arrived, plus those that are left. */
  readonly total: number
  readonly refused: number
  /** Jobs per second since the start. */
  readonly rate: number
  /** Why nothing is being moved right now; null while something is. */
  readonly waitingFor: string | null
}

/** The result of a move. */
export interface MoveReport {
  readonly moved: number
  readonly schedules: number
  /** The first thousand units that the target could not take. They were returned to the source. */
  readonly refused: readonly Refusal[]
  readonly refusedJobs: number
  /** Jobs that were left behind because their rows cannot be read. */
  readonly unreadable: readonly string[]
  /** How many jobs are left in the source, by state. */
  readonly left: Readonly<Record<JobState, number>>
  /** Whether nothing is left that could be moved. */
  readonly isComplete: boolean
  readonly elapsedMs: number
}

/** What a move would find. */
export interface MovePlan {
  readonly jobs: Readonly<Record<JobState, number>>
  readonly schedules: number
  readonly pausedQueues: readonly string[]
  /** Parcels of an earlier move that was interrupted. */
  readonly parcels: number
  /** Number of workers running on the source. */
  readonly workers: number
  readonly cannotHold: readonly string[]
}

export function countsOf(counts: readonly JobCount[], queue: string | null): Record<JobState, number> {
  const sums = { ready: 0, scheduled: 0, blocked: 0, running: 0, succeeded: 0, dead: 0, cancelled: 0, skipped: 0 }
  for (const each of counts) {
    if (queue !== null && each.queue !== queue) continue
    for (const [state, count] of Object.entries(each.counts)) sums[state as JobState] += count
  }
  return sums
}

export function sumOf(counts: Readonly<Record<JobState, number>>): number {
  return Object.values(counts).reduce((sum, count) => sum + count, 0)
}
