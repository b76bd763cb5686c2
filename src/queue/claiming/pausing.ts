/** What is paused, as it is stored: queues by their names, and jobs by a text that no queue can be called. */
export function pausedJobKey(job: string): string {
  return `${jobMark}${job}`
}

/** No queue's name has a space. */
export const jobMark = 'job '

export function pausedQueuesIn(stored: readonly string[]): string[] {
  return stored.filter((text) => !text.startsWith(jobMark))
}

export function pausedJobsIn(stored: readonly string[]): string[] {
  return stored.filter((text) => text.startsWith(jobMark)).map((text) => text.slice(jobMark.length))
}

interface PausablePlace {
  readonly queue: string
  readonly job: string
}

/** Most often nothing is. */
export function isPaused(stored: ReadonlySet<string>, { queue, job }: PausablePlace): boolean {
  return stored.size > 0 && (stored.has(queue) || stored.has(pausedJobKey(job)))
}
