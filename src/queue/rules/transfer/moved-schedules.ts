import type { MovedSchedule } from '../../contract/transfer.ts'
import type { Jobs } from '../jobs/jobs.ts'
import { hasSameInstants, type Schedules, type StoredSchedule } from '../schedules/schedules.ts'
import { type LearningParts, learnFact } from './learning.ts'
import { movedOccurrence } from './moved-jobs.ts'

export interface MovedSchedulesParts extends LearningParts {
  readonly jobs: Jobs
  readonly schedules: Schedules
  /** Schedules that were moved away, with the queues they were moved to. */
  readonly away: Map<string, string>
}

/** How many of the last occurrences travel with a schedule. */
export const lastOccurrences = 20

/** Schedules as they leave and arrive. */
export class MovedSchedules {
  readonly #parts: MovedSchedulesParts

  constructor(parts: MovedSchedulesParts) {
    this.#parts = parts
  }

  /** The named schedules that are here; if a queue is given, only those with jobs in it. */
  read(names: readonly string[], queue: string | null): readonly MovedSchedule[] {
    const { schedules, away } = this.#parts
    const isHere = ({ name, paused }: StoredSchedule) => !(paused && away.has(name))
    return names
      .flatMap((name) => schedules.get(name) ?? [])
      .filter((each) => isHere(each) && (queue === null || this.#hasJobsIn(each.name, queue)))
      .map((schedule) => {
        const latest = schedules.timeline(schedule.name).recent(Number.MAX_SAFE_INTEGER, lastOccurrences)
        return { ...schedule, occurrences: latest.map(movedOccurrence) }
      })
  }

  /** Stops storing occurrences here. Those that are not due yet stay, and leave with the jobs. */
  leave(name: string, target: string): void {
    const { schedules, away } = this.#parts
    const known = schedules.get(name)
    if (known !== undefined) schedules.restore({ ...known, paused: true })
    away.set(name, target)
  }

  /** What this queue knows about a schedule wins over what arrives, unless the schedule was moved away and now comes back. */
  place({ occurrences, ...coming }: MovedSchedule): void {
    const { schedules, away } = this.#parts
    const here = schedules.get(coming.name)
    const isBack = away.delete(coming.name)
    if (here === undefined || isBack) schedules.restore(coming)
    else {
      const since = hasSameInstants(here, coming) ? Math.min(here.since, coming.since) : here.since
      schedules.restore({ ...here, since, paused: here.paused || coming.paused })
    }
    for (const occurrence of occurrences) learnFact(this.#parts, { kind: 'occurrence', occurrence }, 0)
  }

  #hasJobsIn(schedule: string, queue: string): boolean {
    const { jobs, schedules } = this.#parts
    const timeline = schedules.timeline(schedule)
    return [...timeline.all, ...timeline.unended].some(({ jobId }) => jobs.get(jobId)?.envelope.queue === queue)
  }
}
