import type { ExplainedSchedule, NextRun, ScheduledRun } from '../../schedules/next-runs.ts'
import type { ScheduleStatus } from '../../schedules/schedules.ts'
import { warningText } from '../check.ts'
import type { Output } from '../output.ts'
import type { Column } from '../table.ts'
import { visibleLine, wrapped } from '../text.ts'
import { relativeTime } from '../time.ts'

export interface ExplainedOptions {
  readonly zone?: string
  /** Set if the runs do not start from now; their distance from now is not shown then. */
  readonly from?: Date
  readonly now: number
}

/** A schedule in words, its next runs, and notes about them. */
export function explainedText(schedule: ExplainedSchedule, out: Output, options: ExplainedOptions): string {
  const { text, expression, timezone, warnings, beginsAtOnce, runs } = schedule
  const common = commonNote(schedule)
  return [
    out.colours.bold(text),
    out.colours.dim(`${visibleLine(expression)}  ${timezone}`),
    ...warnings.map((warning) => warningText(warning, out)),
    ...(beginsAtOnce ? [wrapped(atOnce, out.width)] : []),
    '',
    runs.length === 0 ? 'no runs to come' : out.table([...timeColumns(runs, options), ...noteColumn(runs, common, out)], runs),
    ...(common === null ? [] : ['', wrapped(common, out.width)]),
  ].join('\n')
}

/** The runs of several schedules, each in the time of its own zone. */
export function mergedText(runs: readonly ScheduledRun[], out: Output, options: ExplainedOptions): string {
  if (runs.length === 0) return 'no runs to come'
  const name: Column<ScheduledRun> = { head: 'SCHEDULE', cell: ({ schedule }) => schedule, least: 10, rank: 1 }
  return out.table([name, ...timeColumns(runs, options), ...noteColumn(runs, null, out)], runs)
}

/** Schedules that have no next run, and why. */
export function leftOutNote(schedules: readonly ScheduleStatus[]): readonly string[] {
  const leftOut = schedules.filter(({ state }) => state !== 'active' && state !== 'new')
  const names = leftOut.map(({ schedule, state }) => `${visibleLine(schedule)} (${state})`)
  return names.length === 0 ? [] : [`note: not followed: ${names.join(', ')}`]
}

/** Schedules whose first run is later than the last run shown, so that a frequent schedule does not hide them. */
export function laterNote(schedules: readonly ScheduleStatus[], { from, now }: ExplainedOptions): readonly string[] {
  const names = schedules.map(({ schedule, nextAt }) => {
    const when = nextAt === null || from !== undefined ? '' : ` (${relativeTime(Date.parse(nextAt), now)})`
    return `${visibleLine(schedule)}${when}`
  })
  return names.length === 0 ? [] : [`note: later: ${names.join(', ')}; --count shows more`]
}

const atOnce = 'It first runs as soon as a scheduler sees it. Assuming that happens at the first of these times:'

/** A note shared by all runs is printed once; for a repeat, it says that runs after the first are estimates. */
function commonNote({ kind, runs }: ExplainedSchedule): string | null {
  if (kind === 'repeat') return runs.at(-1)?.note ?? null
  const note = runs[0]?.note ?? null
  return runs.every((run) => run.note === note) ? note : null
}

function timeColumns(runs: readonly NextRun[], { zone, from, now }: ExplainedOptions): readonly Column<NextRun>[] {
  const hasZone = runs.some(({ inZone }) => inZone !== undefined)
  return [
    { head: 'NEXT RUN', cell: ({ local }) => local, whole: true, rank: 0 },
    ...(hasZone ? [{ head: zone ?? '', cell: ({ inZone, local }: NextRun) => inZone ?? local, whole: true, rank: 3 }] : []),
    ...(from === undefined ? [fromNow(now)] : []),
  ]
}

function fromNow(now: number): Column<NextRun> {
  return { head: 'FROM NOW', cell: ({ at }) => relativeTime(Date.parse(at), now), whole: true, rank: 2 }
}

function noteColumn(runs: readonly NextRun[], common: string | null, out: Output): readonly Column<NextRun>[] {
  if (common !== null || runs.every(({ note }) => note === null)) return []
  return [{ head: 'NOTE', cell: ({ note }) => note ?? '', style: (text) => out.colours.yellow(text), least: 20, rank: 4 }]
}
