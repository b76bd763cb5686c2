import type { ExplainedSchedule, NextRun, ScheduledRun } from '../next-runs.ts'
import type { ScheduleStatus } from '../schedules.ts'
import type { Output } from './output.ts'
import type { Column } from './table.ts'
import { visibleLine } from './text.ts'
import { relativeTime } from './time.ts'

export interface ExplainedOptions {
  readonly zone?: string
  readonly now: number
}

/** A schedule in words, its next runs, and what is to be said of them. */
export function explainedText(schedule: ExplainedSchedule, out: Output, { zone, now }: ExplainedOptions): string {
  const { text, expression, timezone, warnings, runs } = schedule
  const common = commonNote(runs)
  return [
    out.colours.bold(text),
    out.colours.dim(`${visibleLine(expression)}  ${timezone}`),
    ...warnings.map((warning) => `${out.colours.yellow('!')} ${warning}`),
    '',
    runs.length === 0 ? 'no runs to come' : out.table([...timeColumns(runs, zone, now), ...noteColumn(runs, common, out)], runs),
    ...(common === null ? [] : ['', common]),
  ].join('\n')
}

/** The runs of several schedules, each on the clock of its own zone. */
export function mergedText(runs: readonly ScheduledRun[], out: Output, { zone, now }: ExplainedOptions): string {
  if (runs.length === 0) return 'no runs to come'
  const name: Column<ScheduledRun> = { head: 'SCHEDULE', cell: ({ schedule }) => schedule, least: 10, rank: 1 }
  return out.table([name, ...timeColumns(runs, zone, now), ...noteColumn(runs, null, out)], runs)
}

/** Schedules that have no next run, and why. */
export function leftOutNote(schedules: readonly ScheduleStatus[]): readonly string[] {
  const leftOut = schedules.filter(({ state }) => state !== 'active' && state !== 'new')
  const names = leftOut.map(({ schedule, state }) => `${visibleLine(schedule)} (${state})`)
  return names.length === 0 ? [] : [`note: not followed: ${names.join(', ')}`]
}

/** Schedules whose first run comes after the last one that is shown: a frequent one must not hide them. */
export function laterNote(schedules: readonly ScheduleStatus[], now: number): readonly string[] {
  const names = schedules.map(({ schedule, nextAt }) => {
    const when = nextAt === null ? '' : ` (${relativeTime(Date.parse(nextAt), now)})`
    return `${visibleLine(schedule)}${when}`
  })
  return names.length === 0 ? [] : [`note: later than these: ${names.join(', ')}; --count shows more`]
}

/** What holds for all runs is said once. */
function commonNote(runs: readonly NextRun[]): string | null {
  const note = runs[0]?.note ?? null
  return runs.every((run) => run.note === note) ? note : null
}

function timeColumns(runs: readonly NextRun[], zone: string | undefined, now: number): readonly Column<NextRun>[] {
  const hasZone = runs.some(({ inZone }) => inZone !== undefined)
  return [
    { head: 'NEXT RUN', cell: ({ local }) => local, whole: true, rank: 0 },
    ...(hasZone ? [{ head: zone ?? '', cell: ({ inZone, local }: NextRun) => inZone ?? local, whole: true, rank: 3 }] : []),
    { head: 'FROM NOW', cell: ({ at }) => relativeTime(Date.parse(at), now), whole: true, rank: 2 },
  ]
}

function noteColumn(runs: readonly NextRun[], common: string | null, out: Output): readonly Column<NextRun>[] {
  if (common !== null || runs.every(({ note }) => note === null)) return []
  return [{ head: 'NOTE', cell: ({ note }) => note ?? '', style: (text) => out.colours.yellow(text), least: 20, rank: 4 }]
}
