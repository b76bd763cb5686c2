import type { ScheduleStanding, ScheduleStore } from '../backends/store.ts'
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
  const runs: DryRun[] = []
  for (const { definition, schedule } of followed) {
    const standing = standings.get(definition.job) ?? newcomer(definition.job, now)
    const plan =
      at === null ? planOccurrences(schedule, definition.misfire, standing, { now, horizonMs: 0 }) : planFrozen(schedule, at)
    const occurrences = standing.paused ? [] : await withStored(definition.job, plan.occurrences, schedules)
    runs.push({ schedule: definition.job, leftOut: standing.paused ? 'paused' : null, occurrences })
  }
  return [...runs, ...leftOut(definitions, environment)]
}

function newcomer(name: string, now: number): ScheduleStanding {
  return { name, since: now, paused: false, latest: null }
}

async function withStored(
  schedule: string,
  planned: readonly PlannedOccurrence[],
  schedules: ScheduleStore,
): Promise<readonly DryOccurrence[]> {
  const found = await schedules.find(planned.map(({ at }) => ({ schedule, at })))
  return planned.map(({ at, why }, index) => ({ at, why, stored: found[index] !== null }))
}

function leftOut(definitions: readonly JobDefinition[], environment: string | null): readonly DryRun[] {
  return definitions
    .filter((definition) => definition.fields.schedule !== null && !definition.isFollowedIn(environment))
    .map(({ job, fields }) => ({ schedule: job, leftOut: fields.enabled ? 'environment' : 'disabled', occurrences: [] }))
}
