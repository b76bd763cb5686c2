import type { Fact } from '../../../queue/contract/transfer.ts'
import type { Jobs } from '../../../queue/rules/jobs/jobs.ts'
import type { OnceKeys } from '../../../queue/rules/keys/once-keys.ts'
import type { Schedules } from '../../../queue/rules/schedules/schedules.ts'
import type { MemoryNumbers } from '../keys/numbers.ts'
import { movedOccurrence } from './moved-jobs.ts'
import { reservedUntil } from './units.ts'

export interface FactsParts {
  readonly jobs: Jobs
  readonly once: OnceKeys
  readonly numbers: MemoryNumbers
  readonly schedules: Schedules
}

/** What the queue keeps beside jobs. */
export function allFacts({ jobs, once, numbers, schedules }: FactsParts, now: number): readonly Fact[] {
  const stored = [...schedules.all.timelines.values()].flatMap(({ all }) => all)
  return [
    { kind: 'numbers', next: numbers.next },
    ...stored.map((each) => ({ kind: 'occurrence', occurrence: movedOccurrence(each) }) as const),
    ...once.kept
      .filter(({ expiresAt }) => expiresAt > now)
      .map(({ key, result, seal, expiresAt }) => ({ kind: 'once', key, until: expiresAt, result, seal }) as const),
    ...jobs.uniqueKeys.lasting
      .filter(({ expiresAt }) => expiresAt > now && expiresAt !== reservedUntil)
      .map(({ index, jobId, expiresAt }) => {
        return { kind: 'unique', key: index, jobId, until: Number.isFinite(expiresAt) ? expiresAt : null } as const
      }),
  ]
}

/** What is known better stays. */
export function learnFact({ jobs, once, numbers, schedules }: FactsParts, fact: Fact, now: number): void {
  switch (fact.kind) {
    case 'numbers':
      numbers.startFrom(fact.next)
      return
    case 'occurrence': {
      const { schedule, at, jobId, storedAt, outcome } = fact.occurrence
      const timeline = schedules.timeline(schedule)
      const known = timeline.at(at)
      if (known === undefined) timeline.add(at, jobId, storedAt).restore(fact.occurrence)
      else if (known.jobId === jobId && outcome !== null && !known.hasEnded && jobs.get(jobId) === undefined) {
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
