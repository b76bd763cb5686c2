import type { JobState } from '../../queue/contract/job-state.ts'
import type { JobStatus, OtherStatus, QueueStatus, Status } from '../status.ts'
import { stateColour } from './jobs/jobs.ts'
import type { Output } from './output.ts'
import { scheduleNotes, shortScheduleTable } from './schedules/schedules.ts'
import type { Column } from './table.ts'
import { visible } from './text.ts'
import { relativeTime } from './time.ts'
import { workerJson, workerTable } from './workers/workers.ts'

/** The status for programs, with ISO 8601 instants. */
export function statusJson(status: Status): object {
  return { ...status, workers: status.workers.map(workerJson) }
}

export function othersJson(others: readonly OtherStatus[]): object {
  return Object.fromEntries(
    others.map(({ name, status }) => [name, typeof status === 'string' ? { error: status } : statusJson(status)]),
  )
}

export function otherText({ name, status }: OtherStatus, out: Output, now: number): string {
  const text = typeof status === 'string' ? out.colours.yellow(visible(status)) : statusText(status, out, now)
  return `${out.colours.bold(`backend ${name}`)}\n${text}`
}

/** The status for people: queues, then jobs, then schedules, then workers. */
export function statusText(status: Status, out: Output, now: number): string {
  const { queues, jobs, schedules, workers } = status
  const parts = [
    out.colours.dim(status.url),
    queues.length === 0 ? 'no jobs yet' : out.table(queueColumns(queues, out, now), queues),
    ...(jobs.length === 0 ? [] : [out.table(jobColumns(jobs, out), jobs)]),
    ...(schedules.length === 0 ? [] : [shortScheduleTable(schedules.slice(0, mostSchedules), out, now)]),
    ...(workers.length === 0 ? [] : [workerTable(workers, out, now)]),
    ...[...unhandledNotes(jobs), ...moreNotes(schedules.length), ...scheduleNotes(schedules, now)].map((note) =>
      out.colours.yellow(note),
    ),
  ]
  return parts.join('\n\n')
}

function queueColumns(queues: readonly QueueStatus[], out: Output, now: number): readonly Column<QueueStatus>[] {
  return [
    { head: 'QUEUE', cell: ({ queue }) => queue },
    ...(queues.some(({ paused }) => paused) ? [pausedColumn(out)] : []),
    ...countColumns(queues, out),
    { head: 'OLDEST WAITS', cell: (queue) => oldestText(queue, now) },
  ]
}

function jobColumns(jobs: readonly JobStatus[], out: Output): readonly Column<JobStatus>[] {
  return [
    { head: 'JOB', cell: ({ job }) => job },
    { head: 'QUEUE', cell: ({ queue }) => queue },
    ...(jobs.some(({ paused }) => paused) ? [pausedColumn(out)] : []),
    ...countColumns(jobs, out),
    ...(jobs.some(({ handled }) => handled === false) ? [handlerColumn(out)] : []),
  ]
}

function pausedColumn(out: Output): Column<{ readonly paused: boolean }> {
  return { head: '', cell: ({ paused }) => (paused ? 'paused' : ''), style: (text) => out.colours.yellow(text), whole: true }
}

function handlerColumn(out: Output): Column<JobStatus> {
  return {
    head: '',
    cell: ({ handled }) => (handled === false ? 'no handler here' : ''),
    style: (text) => out.colours.yellow(text),
  }
}

interface Counted {
  readonly counts: Readonly<Record<JobState, number>>
}

/** Most important first, because a narrow terminal has no room for the last. Rare ones are shown only if there are any. */
const countHeads: readonly { readonly state: JobState; readonly head: string; readonly rare?: boolean }[] = [
  { state: 'ready', head: 'READY' },
  { state: 'running', head: 'RUNNING' },
  { state: 'dead', head: 'DEAD' },
  { state: 'scheduled', head: 'LATER' },
  { state: 'succeeded', head: 'DONE' },
  { state: 'blocked', head: 'BLOCKED', rare: true },
  { state: 'cancelled', head: 'CANCELLED', rare: true },
  { state: 'skipped', head: 'SKIPPED', rare: true },
]

function countColumns(rows: readonly Counted[], out: Output): readonly Column<Counted>[] {
  const shown = countHeads.filter(({ state, rare }) => !rare || rows.some(({ counts }) => counts[state] > 0))
  return shown.map(({ state, head }) => ({
    head,
    cell: ({ counts }) => String(counts[state]),
    style: (text, { counts }) => (counts[state] === 0 ? out.colours.dim(text) : stateColour(out.colours, state)(text)),
    align: 'right',
    whole: true,
  }))
}

function oldestText({ oldestReadyAt }: QueueStatus, now: number): string {
  return oldestReadyAt === null ? '-' : relativeTime(Date.parse(oldestReadyAt), now).replace(' ago', '')
}

function unhandledNotes(jobs: readonly JobStatus[]): readonly string[] {
  const waiting = jobs.filter(({ handled, counts }) => handled === false && counts.ready + counts.scheduled + counts.blocked > 0)
  if (waiting.length === 0) return []
  const names = [...new Set(waiting.map(({ job }) => job))].join(', ')
  return [`Waiting jobs that this program cannot run: ${names}`]
}

/** Maximum number of schedules shown; a queue may hold thousands of stored ones. */
const mostSchedules = 50

function moreNotes(schedules: number): readonly string[] {
  return schedules <= mostSchedules ? [] : [`${schedules - mostSchedules} more schedules: treadle schedules list`]
}
