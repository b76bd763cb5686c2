import { messageOf } from '../core/errors.ts'
import { parseCron } from '../scheduling/calendar/cron.ts'
import { cannedRepeats, parseRepeat } from '../scheduling/repeating/repeat.ts'
import type { ExplainedOccurrence, Schedule } from '../scheduling/schedule.ts'
import { UsageError } from './failure.ts'

/** A schedule in words, with its next runs. */
export interface ExplainedSchedule {
  readonly expression: string
  readonly timezone: string
  readonly text: string
  readonly warnings: readonly string[]
  readonly runs: readonly NextRun[]
}

export interface NextRun {
  readonly at: string
  /** On the clock of the schedule's own zone. */
  readonly local: string
  /** On the clock of the zone that was asked for. */
  readonly inZone?: string
  /** What the change of clocks does to it. */
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

/** The name of a schedule is one word. */
export function isExpression(text: string): boolean {
  return /^@|[\s,]/.test(text) || Object.hasOwn(cannedRepeats, text)
}

export function parseExpression(text: string, zone = 'UTC'): Schedule {
  try {
    return isRepeat(text) ? parseRepeat(text) : parseCron(text, zone)
  } catch (thrown) {
    throw new UsageError(messageOf(thrown))
  }
}

export function explained(schedule: Schedule, wanted: RunsWanted): ExplainedSchedule {
  const { expression, timezone } = schedule
  const { text, warnings } = schedule.explain({ from: wanted.from, count: 1 })
  return { expression, timezone, text, warnings, runs: runsOf(schedule, wanted) }
}

/** The next runs of all of them, in the order of time. */
export function mergedRuns(
  schedules: readonly (readonly [name: string, schedule: Schedule])[],
  wanted: RunsWanted,
): readonly ScheduledRun[] {
  const runs = schedules.flatMap(([name, schedule]) => runsOf(schedule, wanted).map((run) => ({ schedule: name, ...run })))
  return runs.toSorted((a, b) => Date.parse(a.at) - Date.parse(b.at)).slice(0, wanted.count)
}

function isRepeat(text: string): boolean {
  return /^(?:scheduled|started|finished)\b/i.test(text) || Object.hasOwn(cannedRepeats, text)
}

function runsOf(schedule: Schedule, { zone, ...wanted }: RunsWanted): readonly NextRun[] {
  const { occurrences } = schedule.explain(wanted)
  const elsewhere: readonly ExplainedOccurrence[] =
    zone === undefined || zone === schedule.timezone ? [] : schedule.explain({ ...wanted, zone }).occurrences
  return occurrences.map(({ at, local, note }, index) => {
    const inZone = elsewhere[index]?.local
    return { at: new Date(at).toISOString(), local, ...(inZone !== undefined && { inZone }), note }
  })
}
