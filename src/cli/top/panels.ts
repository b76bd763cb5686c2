import { shownText } from '../../envelope/encryption.ts'
import { fullestFirst, totalsByQueue, totalsOf } from '../../queue/contract/queue-counts.ts'
import type { JobRecord } from '../../queue/contract/store.ts'
import type { WorkerRecord } from '../../queue/contract/stores/worker-store.ts'
import type { Looked } from '../health.ts'
import { opened } from '../output/jobs/jobs.ts'
import type { Colours } from '../output/output.ts'
import { type Column, tableText } from '../output/table.ts'
import { visibleLine } from '../output/text.ts'
import { relativeTime, roughly } from '../output/time.ts'
import type { ScheduleStatus } from '../schedules/schedules.ts'
import type { Flow, Rates } from './rates.ts'

export const panels = ['queues', 'running', 'dead', 'workers', 'schedules'] as const
export type Panel = (typeof panels)[number]

/** Everything that a frame shows. */
export interface View {
  readonly url: string
  readonly looked: Looked
  readonly rates: Rates
  readonly running: readonly JobRecord[]
  readonly dead: readonly JobRecord[]
  readonly panel: Panel
  /** The selected row of that panel. */
  readonly row: number
  /** The result of the last key, or why nothing can be read. */
  readonly message: string | null
}

/** The selected row, on which keys act. */
export type Chosen =
  | { readonly kind: 'queue'; readonly name: string; readonly isPaused: boolean }
  | { readonly kind: 'job'; readonly id: string }
  | { readonly kind: 'schedule'; readonly name: string; readonly isPaused: boolean }
  | { readonly kind: 'worker'; readonly owner: string }

/** Identifies a row of a panel, wherever it moves to. */
export function rowKey(row: Chosen): string {
  return row.kind === 'job' ? row.id : row.kind === 'worker' ? row.owner : row.name
}

export function rowsOf({ looked, running, dead, panel }: View): readonly Chosen[] {
  switch (panel) {
    case 'queues':
      return queueRows(looked).map(({ queue, isPaused }) => ({ kind: 'queue', name: queue, isPaused }))
    case 'running':
      return running.map(({ id }) => ({ kind: 'job', id }))
    case 'dead':
      return dead.map(({ id }) => ({ kind: 'job', id }))
    case 'workers':
      return looked.workers.map(({ owner }) => ({ kind: 'worker', owner }))
    case 'schedules':
      return looked.schedules.map(({ schedule, state }) => ({ kind: 'schedule', name: schedule, isPaused: state === 'paused' }))
  }
}

/** The rows of a panel as a table; null if there are none. */
export function panelTable(
  panel: Panel,
  { looked, rates, running, dead }: View,
  columns: number,
  colours: Colours,
): string | null {
  const { now, workers, schedules } = looked
  const table = <Row>(wanted: readonly Column<Row>[], rows: readonly Row[]) =>
    rows.length === 0 ? null : tableText(wanted, rows, columns, colours.dim)
  switch (panel) {
    case 'queues':
      return table(queueColumns(rates, now), queueRows(looked))
    case 'running':
      return table(runningColumns(now), running)
    case 'dead':
      return table(deadColumns(now), dead)
    case 'workers':
      return table(workerColumns(now), workers)
    case 'schedules':
      return table(scheduleColumns(now), schedules)
  }
}

interface QueueRow {
  readonly queue: string
  readonly isPaused: boolean
  readonly counts: Readonly<Record<'ready' | 'scheduled' | 'blocked' | 'running' | 'dead', number>>
  readonly oldestReadyAt: number | null
}

function queueRows({ counts, paused }: Looked): readonly QueueRow[] {
  const byQueue = totalsByQueue(counts)
  const names = fullestFirst([...byQueue.keys(), ...paused], byQueue)
  return names.map((queue) => ({ queue, isPaused: paused.includes(queue), ...(byQueue.get(queue) ?? totalsOf([])) }))
}

function queueColumns(rates: Rates, now: number): readonly Column<QueueRow>[] {
  const count = (head: string, state: keyof QueueRow['counts'], rank: number): Column<QueueRow> => {
    return { head, cell: ({ counts }) => String(counts[state]), align: 'right', whole: true, rank }
  }
  const flow = (head: string, side: keyof Flow, rank: number): Column<QueueRow> => {
    return { head, cell: ({ queue }) => perMinute(rates.of(queue)?.[side]), align: 'right', whole: true, rank }
  }
  return [
    { head: 'QUEUE', cell: ({ queue, isPaused }) => (isPaused ? `${queue} (paused)` : queue), least: 12, rank: 0 },
    count('READY', 'ready', 1),
    count('RUNNING', 'running', 2),
    count('SCHEDULED', 'scheduled', 7),
    count('BLOCKED', 'blocked', 8),
    count('DEAD', 'dead', 3),
    flow('IN', 'in', 5),
    flow('OUT', 'out', 4),
    {
      head: 'OLDEST',
      cell: ({ oldestReadyAt: at }) => (at === null ? '-' : roughly(Math.max(0, now - at))),
      whole: true,
      rank: 6,
    },
  ]
}

function runningColumns(now: number): readonly Column<JobRecord>[] {
  return [
    { head: 'ID', cell: ({ id }) => id, whole: true, rank: 3, cut: { rank: 3, to: 13 } },
    { head: 'JOB', cell: ({ job }) => job, least: 10, rank: 0 },
    {
      head: 'FOR',
      cell: ({ startedAt }) => (startedAt === null ? '-' : roughly(Math.max(0, now - startedAt))),
      whole: true,
      rank: 1,
    },
    { head: 'PROGRESS', cell: ({ progress }) => progressText(progress), whole: true, rank: 2 },
    { head: 'QUEUE', cell: ({ queue }) => queue, rank: 4 },
    { head: 'WORKER', cell: ({ owner }) => owner ?? '-', rank: 5 },
  ]
}

const progressWidth = 10

/** A bar if progress is a fraction of one, otherwise the job's own text. */
function progressText(text: string | null): string {
  const progress = opened(shownText(text))
  if (progress === null) return ''
  if (typeof progress !== 'number' || !(progress >= 0 && progress <= 1)) return visibleLine(JSON.stringify(progress)).slice(0, 24)
  const full = Math.round(progress * progressWidth)
  return `${'█'.repeat(full)}${'░'.repeat(progressWidth - full)} ${String(Math.round(progress * 100)).padStart(3)} %`
}

function deadColumns(now: number): readonly Column<JobRecord>[] {
  return [
    { head: 'ID', cell: ({ id }) => id, whole: true, rank: 3, cut: { rank: 3, to: 13 } },
    { head: 'JOB', cell: ({ job }) => job, least: 10, rank: 0 },
    {
      head: 'ENDED',
      cell: ({ finishedAt }) => (finishedAt === null ? '-' : relativeTime(finishedAt, now)),
      whole: true,
      rank: 1,
    },
    { head: 'ERROR', cell: ({ errors, reason }) => errors.at(-1)?.message ?? reason ?? '', least: 12, rank: 2 },
  ]
}

function workerColumns(now: number): readonly Column<WorkerRecord>[] {
  return [
    { head: 'WORKER', cell: ({ owner }) => owner, least: 12, rank: 0 },
    { head: 'RUNNING', cell: ({ running, allowed }) => `${running}/${allowed}`, align: 'right', whole: true, rank: 1 },
    { head: 'BREAKER', cell: ({ breaker }) => breaker, whole: true, rank: 4 },
    { head: 'QUEUES', cell: ({ queues }) => queues?.join(', ') ?? 'all', least: 6, rank: 3 },
    { head: 'SEEN', cell: ({ seenAt }) => relativeTime(Math.min(seenAt, now), now), whole: true, rank: 2 },
    { head: 'SINCE', cell: ({ startedAt }) => relativeTime(Math.min(startedAt, now), now), whole: true, rank: 5 },
  ]
}

function scheduleColumns(now: number): readonly Column<ScheduleStatus>[] {
  return [
    { head: 'SCHEDULE', cell: ({ schedule }) => schedule, least: 10, rank: 0 },
    { head: 'STATE', cell: ({ state }) => state, whole: true, rank: 1 },
    { head: 'NEXT', cell: ({ nextAt }) => (nextAt === null ? '-' : relativeTime(Date.parse(nextAt), now)), whole: true, rank: 2 },
    {
      head: 'LAST',
      cell: ({ last }) => (last === null ? '-' : `${last.state} ${relativeTime(Date.parse(last.at), now)}`),
      whole: true,
      rank: 3,
    },
    { head: 'WHEN', cell: ({ text, expression, timezone }) => text ?? `${expression}, ${timezone}`, rank: 4 },
  ]
}

export function perMinute(rate: number | undefined): string {
  if (rate === undefined) return '-'
  return `${rate >= 10 ? Math.round(rate) : Math.round(rate * 10) / 10}/min`
}
