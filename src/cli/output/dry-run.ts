import type { DryRunReport, PlannedRun, PlannedSchedule } from '../dry-run.ts'
import type { Output } from './output.ts'
import { plural } from './text.ts'

/** What a pass would do, for a person. */
export function dryRunText(report: DryRunReport, out: Output, now: number): string {
  const { missingDatabase, schedules, due } = report
  const rows = schedules.flatMap((schedule) => rowsOf(schedule, now))
  return [
    `a pass at ${seconds(report.at)} would do this; nothing is written`,
    ...(missingDatabase === null ? [] : [`there is no database yet: a pass would make ${missingDatabase}`]),
    '',
    rows.length === 0 ? 'no schedules' : planTable(rows, out),
    '',
    `${due.isExact ? '' : 'at least '}${plural(due.count, 'job')} in the queue ${due.count === 1 ? 'is' : 'are'} due and would be run`,
  ].join('\n')
}

interface Row {
  readonly schedule: string
  readonly run: PlannedRun | null
  readonly what: string
  readonly isNew: boolean
}

function rowsOf({ schedule, leftOut, occurrences }: PlannedSchedule, now: number): readonly Row[] {
  if (leftOut !== null) return [{ schedule, run: null, what: `left out: ${leftOutWords[leftOut]}`, isNew: false }]
  if (occurrences.length === 0) return [{ schedule, run: null, what: 'nothing to store', isNew: false }]
  return occurrences.map((run) => ({ schedule, run, what: whatOf(run, now), isNew: !run.stored }))
}

const leftOutWords = { disabled: 'disabled', environment: 'for another environment', paused: 'paused' } as const

function whatOf({ at, why, stored }: PlannedRun, now: number): string {
  if (stored) return 'stored already'
  // Also of a pass at a time to come: what lies ahead is stored for its time, and not run before.
  if (Date.parse(at) > now) return why === 'next' ? 'next: would be stored for then' : 'would be stored for then'
  return why === 'missed' ? 'missed: would be made up for now' : 'due: would be stored and run now'
}

function planTable(rows: readonly Row[], out: Output): string {
  return out.table(
    [
      { head: 'SCHEDULE', cell: ({ schedule }) => schedule, least: 10 },
      { head: 'LOCAL TIME', cell: ({ run }) => run?.local ?? '-', whole: true, rank: 2 },
      { head: 'UTC', cell: ({ run }) => (run === null ? '-' : seconds(run.at)), whole: true, rank: 3 },
      {
        head: 'WHAT',
        cell: ({ what }) => what,
        least: 20,
        style: (text, { isNew }) => (isNew ? text : out.colours.dim(text)),
        rank: 1,
      },
    ],
    rows,
  )
}

/** Milliseconds are of no use to a person. */
function seconds(iso: string): string {
  return iso.replace(/\.\d+Z$/, 'Z')
}
