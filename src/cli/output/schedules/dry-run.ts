import { longestMisfireMs } from '../../../scheduling/misfire.ts'
import type { DryRunReport, PlannedRun, PlannedSchedule, WaitingJobs } from '../../schedules/dry-run.ts'
import type { Output } from '../output.ts'
import { plural } from '../text.ts'

/** What a pass would do, for people. */
export function dryRunText(report: DryRunReport, out: Output, now: number): string {
  const { missingDatabase, schedules } = report
  const rows = schedules.flatMap(rowsOf)
  return [
    `dry run of a pass at ${seconds(report.at)}; nothing is written`,
    ...(isOfLast7Days(report, now) ? [] : ['only a dry run accepts this time: a real pass takes one within the last 7 days']),
    ...(missingDatabase === null ? [] : [`there is no database yet: a pass would create ${missingDatabase}`]),
    '',
    rows.length === 0 ? 'no schedules' : planTable(rows, out),
    '',
    storedText(schedules),
    waitingText(report.waiting),
  ].join('\n')
}

function isOfLast7Days({ at }: DryRunReport, now: number): boolean {
  const ageMs = now - Date.parse(at)
  return ageMs >= 0 && ageMs <= longestMisfireMs
}

interface Row {
  readonly schedule: string
  readonly run: PlannedRun | null
  readonly what: string
  readonly isNew: boolean
}

function rowsOf(planned: PlannedSchedule): readonly Row[] {
  const { schedule, leftOut, occurrences } = planned
  if (leftOut !== null) return [{ schedule, run: null, what: `left out: ${leftOutWords[leftOut]}`, isNew: false }]
  if (occurrences.length === 0) return [{ schedule, run: null, what: 'nothing to store', isNew: false }]
  return occurrences.map((run) => ({ schedule, run, what: whatOf(run, planned), isNew: !run.stored }))
}

export const leftOutWords = { disabled: 'disabled', environment: 'for another environment', paused: 'paused' } as const

/** The reason comes first, because a narrow terminal cuts off the end. */
function whatOf({ why, isDue, stored }: PlannedRun, { isRunHere }: PlannedSchedule): string {
  if (stored) return 'stored already'
  if (!isDue) return why === 'next' ? 'next: stored ahead' : 'stored ahead'
  return `${why === 'missed' ? 'missed' : 'due'}: ${isRunHere ? 'run now' : 'left to others'}`
}

/** What would be new in the queue, and how much of it this pass would run. */
function storedText(schedules: readonly PlannedSchedule[]): string {
  const stored = schedules.flatMap(({ occurrences, isRunHere }) =>
    occurrences.filter((run) => !run.stored).map((run) => isRunHere && run.isDue),
  )
  const runNow = stored.filter((isRunNow) => isRunNow).length
  if (stored.length === 0) return 'no run would be queued'
  return `${plural(stored.length, 'run')} would be queued, ${runNow === 0 ? 'none' : runNow} of them to run now`
}

function waitingText({ count, isExact }: WaitingJobs): string {
  if (count === 0 && isExact) return 'no job is waiting in the queue'
  return `${isExact ? '' : 'at least '}${plural(count, 'job')} ${count === 1 ? 'waits' : 'wait'} in the queue already and would be run too`
}

function planTable(rows: readonly Row[], out: Output): string {
  return out.table(
    [
      { head: 'SCHEDULE', cell: ({ schedule }) => schedule, least: 8 },
      { head: 'LOCAL TIME', cell: ({ run }) => run?.local ?? '-', whole: true, rank: 2 },
      { head: 'UTC', cell: ({ run }) => (run === null ? '-' : seconds(run.at)), whole: true, rank: 3 },
      {
        head: 'WHAT',
        cell: ({ what }) => what,
        least: 12,
        style: (text, { isNew }) => (isNew ? text : out.colours.dim(text)),
        rank: 1,
      },
    ],
    rows,
  )
}

/** Drops the milliseconds, which people do not need. */
function seconds(iso: string): string {
  return iso.replace(/\.\d+Z$/, 'Z')
}
