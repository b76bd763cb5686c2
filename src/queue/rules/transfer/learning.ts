import type { Fact } from '../../contract/transfer.ts'
import type { StoredJob } from '../jobs/job.ts'
import type { Jobs } from '../jobs/jobs.ts'
import type { OnceKeys } from '../keys/once-keys.ts'
import type { Schedules } from '../schedules/schedules.ts'

export interface LearningParts {
  readonly jobs: Jobs
  readonly once: OnceKeys
  readonly schedules: Schedules
  readonly numbers: {
    /** Numbers below this one are never given out from now on. */
    startFrom(next: number): void
  }
}

/** Keeps what this queue already knows better. */
export function learnFact({ jobs, once, numbers, schedules }: LearningParts, fact: Fact, now: number): void {
  switch (fact.kind) {
    case 'numbers':
      numbers.startFrom(fact.next)
      return
    case 'occurrence': {
      const { schedule, at, jobId, storedAt, outcome } = fact.occurrence
      const timeline = schedules.timeline(schedule)
      const known = timeline.at(at)
      if (known === undefined) {
        if (standsFor(jobs.get(jobId), schedule, at)) timeline.add(at, jobId, storedAt).restore(fact.occurrence)
      } else if (known.jobId === jobId && outcome !== null && !known.hasEnded && jobs.get(jobId) === undefined) {
        known.restore(fact.occurrence)
      }
      return
    }
    case 'once': {
      const { key, until, result, seal } = fact
      if (!once.isHeld(key) && (once.keptUntil(key) ?? 0) < until) once.remember({ key, result, seal, expiresAt: until })
      return
    }
    case 'unique': {
      const { key, jobId, until } = fact
      if (jobs.uniqueKeys.holderOf(key, now) === undefined) {
        jobs.uniqueKeys.hold({ index: key, jobId, expiresAt: until ?? Number.POSITIVE_INFINITY })
      }
    }
  }
}

/** A job that is here is the job of one occurrence, or of none. */
function standsFor(job: StoredJob | undefined, schedule: string, at: number): boolean {
  return job === undefined || (job.occurrence?.schedule === schedule && job.occurrence.at === at)
}
