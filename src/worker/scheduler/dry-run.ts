import { silentLogger } from '../../core/logger.ts'
import type { JobDefinition } from '../../definition/definition.ts'
import type { KeyRing } from '../../envelope/keys/key-ring.ts'
import type { ScheduleStanding, ScheduleStore } from '../../queue/contract/schedule-store.ts'
import type { Followed } from './followed.ts'
import { FollowedSchedules } from './followed-schedules.ts'
import { type PlannedOccurrence, planFrozen, planOccurrences, planUpTo } from './occurrence-plan.ts'
import { StoredSchedules } from './stored-schedules.ts'

/** What the scheduler would do for one schedule. */
export interface DryRun {
  readonly schedule: string
  readonly job: string
  readonly timezone: string
  /** Why the schedule is not followed; null if it is. */
  readonly leftOut: 'disabled' | 'environment' | 'paused' | null
  readonly occurrences: readonly DryOccurrence[]
}

/** An occurrence that the scheduler would store, or that is already stored. */
export interface DryOccurrence extends Pick<PlannedOccurrence, 'at' | 'why'> {
  /** Whether it is already stored. If so, it would not be stored again. */
  readonly stored: boolean
}

export interface DryRunOptions {
  readonly definitions: readonly JobDefinition[]
  readonly schedules: ScheduleStore
  readonly keys: KeyRing | null
  readonly environment: string | null
  readonly now: number
  /** The time to evaluate; null means now. */
  readonly at: number | null
}

/** Determines what the scheduler would store, without storing anything. */
export async function dryRun(options: DryRunOptions): Promise<readonly DryRun[]> {
  const { definitions, schedules, environment, now, at } = options
  const coded = new FollowedSchedules(() => definitions, environment).all
  const followed = [...coded, ...(await storedOnes(options))]
  const names = followed.map(({ name }) => name)
  const standings = new Map((await schedules.standings(names)).map((standing) => [standing.name, standing]))
  const plans = followed.map(({ name, job, misfire, schedule, version, lastAt }) => {
    const { timezone } = schedule
    const standing = standings.get(name) ?? newcomer(name, version, now)
    const plan =
      at === null
        ? planUpTo(lastAt, planOccurrences(schedule, misfire, standing, { now, horizonMs: 0 }))
        : planFrozen(schedule, at)
    return { schedule: name, job, timezone, isPaused: standing.paused, planned: standing.paused ? [] : plan.occurrences }
  })
  const keys = plans.flatMap(({ schedule, planned }) => planned.map(({ at }) => ({ schedule, at })))
  const found = (await schedules.occurrences({ keys })).values()
  const runs = plans.map(({ schedule, job, timezone, isPaused, planned }) => ({
    schedule,
    job,
    timezone,
    leftOut: isPaused ? ('paused' as const) : null,
    occurrences: planned.map(({ at, why }) => ({ at, why, stored: found.next().value !== null })),
  }))
  return [...runs, ...leftOut(definitions, environment)]
}

/** Schedules that are not followed are left out silently. */
async function storedOnes({ definitions, schedules, keys }: DryRunOptions): Promise<readonly Followed[]> {
  const stored = new StoredSchedules({ definitions: () => definitions, keys, logger: silentLogger, onError: () => {} })
  for (let since = 0, hasMore = true; hasMore; ) {
    const changes = await schedules.changes(since, 1_000)
    stored.apply(changes.changed)
    since = changes.revision
    hasMore = changes.hasMore
  }
  return stored.all
}

function newcomer(name: string, version: string, now: number): ScheduleStanding {
  return { name, version, since: now, paused: false, latest: null }
}

function leftOut(definitions: readonly JobDefinition[], environment: string | null): readonly DryRun[] {
  return definitions
    .filter((definition) => definition.fields.schedule !== null && !definition.isFollowedIn(environment))
    .map(({ job, fields }) => ({
      schedule: job,
      job,
      timezone: fields.schedule?.timezone ?? 'UTC',
      leftOut: fields.enabled ? 'environment' : 'disabled',
      occurrences: [],
    }))
}
