import { parseZone } from '../../scheduling/calendar/zone.ts'
import { localText } from '../../scheduling/explaining/local-time.ts'
import type { ExplainedOccurrence, Schedule } from '../../scheduling/schedule.ts'

/** A schedule in words, with its next runs. */
export interface ExplainedSchedule {
  readonly kind: Schedule['kind']
  readonly expression: string
  readonly timezone: string
  readonly text: string
  readonly warnings: readonly string[]
  /** Whether it is a repeat that has never run: its first run comes when a scheduler first sees it. */
  readonly beginsAtOnce: boolean
  readonly runs: readonly NextRun[]
}

export interface NextRun {
  readonly at: string
  /** In the time of the schedule's own zone. */
  readonly local: string
  /** In the time of the requested zone. */
  readonly inZone?: string
  /** How a clock change affects it, or that it is an estimate. */
  readonly note: string | null
}

export interface ScheduledRun extends NextRun {
  readonly schedule: string
}

export interface RunsWanted {
  readonly from: number
  readonly count: number
  readonly zone?: string
}

/** The state of a schedule. For a repeat, it determines the next run; calendar schedules do not use it. */
export type Standing =
  | { readonly kind: 'never run' }
  | { readonly kind: 'next'; readonly at: number }
  | { readonly kind: 'unknown' }

export function explained(schedule: Schedule, wanted: RunsWanted, standing: Standing): ExplainedSchedule {
  const { kind, expression, timezone } = schedule
  const { text, warnings } = schedule.explain({ from: wanted.from, count: 1 })
  const beginsAtOnce = kind === 'repeat' && standing.kind === 'never run'
  return { kind, expression, timezone, text, warnings, beginsAtOnce, runs: runsOf(schedule, wanted, standing) }
}

export interface NamedSchedule {
  readonly name: string
  readonly schedule: Schedule
  readonly standing: Standing
}

/** The next runs of all schedules, in order of time. */
export function mergedRuns(schedules: readonly NamedSchedule[], wanted: RunsWanted): readonly ScheduledRun[] {
  const runs = schedules.flatMap(({ name, schedule, standing }) =>
    runsOf(schedule, wanted, standing).map((run) => ({ schedule: name, ...run })),
  )
  return runs.toSorted((a, b) => Date.parse(a.at) - Date.parse(b.at)).slice(0, wanted.count)
}

function runsOf(schedule: Schedule, wanted: RunsWanted, standing: Standing): readonly NextRun[] {
  const { zone } = wanted
  const shownIn = zone === undefined || zone === schedule.timezone ? null : parseZone(zone)
  return occurrencesOf(schedule, wanted, standing).map(({ at, local, note }) => ({
    at: new Date(at).toISOString(),
    local,
    ...(shownIn !== null && { inZone: localText(shownIn, at) }),
    note,
  }))
}

function occurrencesOf(schedule: Schedule, { from, count }: RunsWanted, standing: Standing): readonly ExplainedOccurrence[] {
  const first = schedule.kind === 'repeat' ? firstOf(standing, from) : null
  if (first === null) return schedule.explain({ from, count }).occurrences
  const begin = { at: first, local: localText(parseZone(schedule.timezone), first), note: null }
  return [begin, ...schedule.explain({ from: first, count: count - 1 }).occurrences]
}

/** The run from which a repeat counts the others, if known. Occurrences are whole seconds. */
function firstOf(standing: Standing, from: number): number | null {
  if (standing.kind === 'never run') return Math.floor(from / 1_000) * 1_000
  return standing.kind === 'next' && standing.at > from ? standing.at : null
}
