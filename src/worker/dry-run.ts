import type { ScheduleStanding, ScheduleStore } from '../backends/schedule-store.ts'
import type { JobDefinition } from '../definition/definition.ts'
import { FollowedSchedules } from './followed.ts'
import { type PlannedOccurrence, planFrozen, planOccurrences } from './occurrence-plan.ts'

/** What a pass would do with one schedule. */
export interface DryRun {
  readonly schedule: string
  /** Why the schedule is left alone, or null where it is followed. */
  readonly leftOut: 'disabled' | 'environment' | 'paused' | null
  readonly occurrences: readonly DryOccurrence[]
}

export interface DryOccurrence extends Pick<PlannedOccurrence, 'at' | 'why'> {
  /** It is in the store already, so a pass would not store it again. */
  readonly stored: boolean
}

export interface DryRunOptions {
  readonly definitions: readonly JobDefinition[]
  readonly schedules: ScheduleStore
  readonly environment: string | null
  readonly now: number
  /** The instant to look at in place of now. */
  readonly at: number | null
}

/** Looks at what a pass would store, and stores nothing. */
export async function dryRun(options: DryRunOptions): Promise<readonly DryRun[]> {
  const { definitions, schedules, environment, now, at } = options
  const followed = new FollowedSchedules(() => definitions, environment).all
  const names = followed.map(({ definition }) => definition.job)
  const standings = new Map((await schedules.standings(names)).map((standing) => [standing.name, standing]))
  const plans = followed.map(({ job, definition, schedule, version }) => {
    const standing = standings.get(job) ?? newcomer(job, version, now)
    const plan =
      at === null ? planOccurrences(schedule, definition.misfire, standing, { now, horizonMs: 0 }) : planFrozen(schedule, at)
    return { schedule: job, isPaused: standing.paused, planned: standing.paused ? [] : plan.occurrences }
  })
  const keys = plans.flatMap(({ schedule, planned }) => planned.map(({ at }) => ({ schedule, at })))
  const found = (await schedules.find(keys)).values()
  const runs = plans.map(({ schedule, isPaused, planned }) => ({
    schedule,
    leftOut: isPaused ? ('paused' as const) : null,
    occurrences: planned.map(({ at, why }) => ({ at, why, stored: found.next().value !== null })),
  }))
  return [...runs, ...leftOut(definitions, environment)]
}

function newcomer(name: string, version: string, now: number): ScheduleStanding {
  return { name, version, since: now, paused: false, latest: null }
}

function leftOut(definitions: readonly JobDefinition[], environment: string | null): readonly DryRun[] {
  return definitions
    .filter((definition) => definition.fields.schedule !== null && !definition.isFollowedIn(environment))
    .map(({ job, fields }) => ({ schedule: job, leftOut: fields.enabled ? 'environment' : 'disabled', occurrences: [] }))
}
