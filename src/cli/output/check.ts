import type { CheckedJob, CheckReport } from '../check.ts'
import type { Output } from './output.ts'
import { plural, visible } from './text.ts'
import { timeAndAge } from './time.ts'

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
    ...report.warnings.map((warning) => `${colours.yellow('!')} ${visible(warning)}`),
    summary,
  ].join('\n')
}

function jobsTable(jobs: readonly CheckedJob[], out: Output, now: number): string {
  return out.table(
    [
      { head: 'JOB', cell: ({ job }) => job },
      { head: 'QUEUE', cell: ({ queue }) => queue },
      { head: 'RETRIES', cell: ({ retries }) => String(retries), align: 'right', whole: true },
      { head: 'NEXT RUN', cell: ({ nextAt }) => (nextAt === null ? '-' : timeAndAge(Date.parse(nextAt), now)) },
      { head: 'SCHEDULE', cell: ({ schedule, timezone }) => (schedule === null ? '-' : `${schedule} ${timezone}`) },
      { head: 'NOTE', cell: noteOf, style: (text) => out.colours.yellow(text) },
    ],
    jobs,
  )
}

function noteOf({ enabled, environments }: CheckedJob): string {
  const notes = [...(enabled ? [] : ['disabled']), ...(environments.length === 0 ? [] : [`only in ${environments.join(', ')}`])]
  return notes.join('; ')
}
