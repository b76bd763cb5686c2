import type { CheckedJob, CheckReport } from '../check.ts'
import { limitsText } from '../schedules/run-rules.ts'
import type { Output } from './output.ts'
import { plural, visible, wrapped } from './text.ts'
import { relativeTime, zonedTime } from './time.ts'

export function checkText(report: CheckReport, out: Output, now: number): string {
  const { colours } = out
  if (report.problems.length > 0) {
    const lines = report.problems.map((problem) => `${colours.red('✗')} ${visible(problem)}`)
    return [...lines, '', `${plural(report.problems.length, 'problem')} found`].join('\n')
  }
  const queues = new Set(report.jobs.map(({ queue }) => queue)).size
  const schedules = report.jobs.filter(({ schedule }) => schedule !== null).length
  const warnings = report.warnings.length === 0 ? '' : `, ${plural(report.warnings.length, 'warning')}`
  const summary = `${colours.green('✓')} ${plural(report.jobs.length, 'job')}, ${plural(queues, 'queue')}, ${plural(schedules, 'schedule')}${warnings}`
  return [
    `${colours.dim('config  ')} ${report.config ?? 'none'}`,
    `${colours.dim('database')} ${report.url}`,
    ...(report.jobs.length === 0 ? [] : ['', jobsTable(report.jobs, out, now)]),
    '',
    ...report.warnings.map((warning) => warningText(warning, out)),
    summary,
  ].join('\n')
}

/** Next to a mark, wrapped to the width of the terminal. */
export function warningText(warning: string, out: Output): string {
  return `${out.colours.yellow('!')} ${wrapped(visible(warning), out.width - 2, '  ')}`
}

function jobsTable(jobs: readonly CheckedJob[], out: Output, now: number): string {
  return out.table(
    [
      { head: 'JOB', cell: ({ job }) => job, least: 8, rank: 0 },
      { head: 'QUEUE', cell: ({ queue }) => queue, rank: 5 },
      { head: 'RETRIES', cell: ({ retries }) => String(retries), align: 'right', whole: true, rank: 6 },
      { head: 'NEXT RUN', cell: nextText, whole: true, rank: 1 },
      { head: 'FROM NOW', cell: (job) => fromNow(job, now), whole: true, rank: 4 },
      { head: 'SCHEDULE', cell: ({ schedule }) => schedule ?? '-', least: 12, rank: 2 },
      { head: 'ZONE', cell: ({ timezone }) => timezone ?? '-', whole: true, rank: 3 },
      { head: 'OVERLAP', cell: ({ rules }) => rules?.overlap ?? '-', whole: true, rank: 8 },
      { head: 'MISFIRE', cell: ({ rules }) => rules?.misfire ?? '-', rank: 9 },
      { head: 'LIMITS', cell: ({ limits }) => limitsText(limits), rank: 10 },
      { head: 'NOTE', cell: noteOf, style: (text) => out.colours.yellow(text), rank: 7 },
    ],
    jobs,
  )
}

function nextText({ nextAt, timezone, isRepeat }: CheckedJob): string {
  if (isRepeat) return 'immediately'
  return nextAt === null ? '-' : zonedTime(Date.parse(nextAt), timezone ?? 'UTC')
}

function fromNow({ nextAt }: CheckedJob, now: number): string {
  return nextAt === null ? '-' : relativeTime(Date.parse(nextAt), now)
}

function noteOf({ enabled, environments }: CheckedJob): string {
  const notes = [...(enabled ? [] : ['disabled']), ...(environments.length === 0 ? [] : [`only in ${environments.join(', ')}`])]
  return notes.join('; ')
}
