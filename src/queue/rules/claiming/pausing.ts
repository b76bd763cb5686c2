import type { Pausable, Paused } from '../../contract/store.ts'

/** How pauses are stored: queues by name, and jobs with a prefix that no queue name can have. */
export function pausedKey({ queue, job }: Pausable): string {
  return job === undefined ? queue : pausedJobKey(job)
}

export function pausedJobKey(job: string): string {
  return `${jobMark}${job}`
}

/** Queue names contain no spaces. */
export const jobMark = 'job '

/** Reads what is stored, in its order. */
export function pausedIn(stored: readonly string[]): Paused {
  const queues = stored.filter((text) => !text.startsWith(jobMark))
  return { queues, jobs: stored.filter((text) => text.startsWith(jobMark)).map((text) => text.slice(jobMark.length)) }
}

interface PausablePlace {
  readonly queue: string
  readonly job: string
}

/** Checks for the common case first: nothing is paused. */
export function isPaused(stored: ReadonlySet<string>, { queue, job }: PausablePlace): boolean {
  return stored.size > 0 && (stored.has(queue) || stored.has(pausedJobKey(job)))
}
