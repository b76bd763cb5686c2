import type { Fact } from '../../../queue/contract/transfer.ts'
import type { Jobs } from '../../../queue/rules/jobs/jobs.ts'
import type { OnceKeys } from '../../../queue/rules/keys/once-keys.ts'
import type { Schedules } from '../../../queue/rules/schedules/schedules.ts'
import { movedOccurrence } from '../../../queue/rules/transfer/moved-jobs.ts'
import { reservedUntil } from '../../../queue/rules/transfer/moved-units.ts'
import type { MemoryNumbers } from '../keys/numbers.ts'

export interface FactsParts {
  readonly jobs: Jobs
  readonly once: OnceKeys
  readonly numbers: MemoryNumbers
  readonly schedules: Schedules
}

/** What the queue keeps apart from jobs. */
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
