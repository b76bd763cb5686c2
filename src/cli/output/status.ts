import { type JobState, jobStates } from '../../backends/store.ts'
import type { JobStatus, QueueStatus, ScheduleStatus, Status } from '../status.ts'
import { stateColour } from './jobs.ts'
import type { Output } from './output.ts'
import type { Column } from './table.ts'
import { localTime, relativeTime } from './time.ts'

/** The status for a person: queues, then jobs, then schedules. */
export function statusText(status: Status, out: Output, now: number): string {
  const { queues, jobs, schedules } = status
  const parts = [
    out.colours.dim(status.url),
    queues.length === 0 ? 'no jobs yet' : out.table(queueColumns(out, now), queues),
    ...(jobs.length === 0 ? [] : [out.table(jobColumns(out), jobs)]),
    ...(schedules.length === 0 ? [] : [out.table(scheduleColumns(now), schedules)]),
    ...unhandledNotes(jobs, out),
  ]
  return parts.join('\n\n')
}

function queueColumns(out: Output, now: number): readonly Column<QueueStatus>[] {
  return [
    { head: 'QUEUE', cell: ({ queue }) => queue },
    { head: '', cell: ({ paused }) => (paused ? 'paused' : ''), style: (text) => out.colours.yellow(text) },
    ...countColumns(out),
    { head: 'OLDEST WAITS', cell: (queue) => oldestText(queue, now) },
  ]
}

function jobColumns(out: Output): readonly Column<JobStatus>[] {
  return [
    { head: 'JOB', cell: ({ job }) => job },
    { head: 'QUEUE', cell: ({ queue }) => queue },
    ...countColumns(out),
    { head: '', cell: ({ handled }) => (handled === false ? 'no handler here' : ''), style: (text) => out.colours.yellow(text) },
  ]
}

function scheduleColumns(now: number): readonly Column<ScheduleStatus>[] {
  const time = (at: string | null) => (at === null ? '-' : `${localTime(Date.parse(at))} (${relativeTime(Date.parse(at), now)})`)
  return [
    { head: 'SCHEDULE', cell: ({ schedule }) => schedule },
    { head: 'NEXT RUN', cell: ({ nextAt }) => time(nextAt) },
    { head: 'CRON', cell: ({ expression }) => expression },
    { head: 'ZONE', cell: ({ timezone }) => timezone },
    { head: 'LAST RUN', cell: ({ lastAt }) => time(lastAt) },
  ]
}

/** The states that people wait for first, then how jobs ended. */
const shortHeads: Readonly<Record<JobState, string>> = {
  ready: 'READY',
  scheduled: 'LATER',
  blocked: 'BLOCKED',
  running: 'RUNNING',
  succeeded: 'DONE',
  dead: 'DEAD',
  cancelled: 'CANCELLED',
  skipped: 'SKIPPED',
}

function countColumns(out: Output): readonly Column<{ readonly counts: Readonly<Record<JobState, number>> }>[] {
  return jobStates.map((state) => ({
    head: shortHeads[state],
    cell: ({ counts }) => String(counts[state]),
    style: (text, { counts }) => (counts[state] === 0 ? out.colours.dim(text) : stateColour(out.colours, state)(text)),
    align: 'right',
    whole: true,
  }))
}

function oldestText({ oldestReadyAt, oldestIsExact }: QueueStatus, now: number): string {
  if (oldestReadyAt === null) return '-'
  const age = relativeTime(Date.parse(oldestReadyAt), now).replace(' ago', '')
  return oldestIsExact ? age : `over ${age}`
}

function unhandledNotes(jobs: readonly JobStatus[], out: Output): readonly string[] {
  const waiting = jobs.filter(({ handled, counts }) => handled === false && counts.ready + counts.scheduled + counts.blocked > 0)
  if (waiting.length === 0) return []
  const names = [...new Set(waiting.map(({ job }) => job))].join(', ')
  return [out.colours.yellow(`Jobs wait that this program can not run: ${names}`)]
}
