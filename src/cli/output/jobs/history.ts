import { formatDuration } from '../../../core/time/duration.ts'
import { finalStates, isFinal, type JobState } from '../../../queue/contract/job-state.ts'
import type { JobRecord } from '../../../queue/contract/store.ts'
import type { Output } from '../output.ts'
import { condensed, percentile, sparkline } from '../sparkline.ts'
import { visibleLine, wrapped } from '../text.ts'
import { localTime, relativeTime } from '../time.ts'
import { iso, stateColour } from './jobs.ts'

/** How the newest jobs with one key went, oldest first. */
export interface History {
  readonly name: string
  /** How many ended jobs were looked at. */
  readonly looked: number
  /** How many have not ended. */
  readonly living: number
  /** Whether there may be older ones. */
  readonly isCut: boolean
  /** Null if none has ended. */
  readonly since: number | null
  readonly counts: Readonly<Partial<Record<JobState, number>>>
  readonly runs: readonly EndedRun[]
}

interface EndedRun {
  readonly id: string
  readonly state: JobState
  readonly endedAt: number
  readonly waitedMs: number | null
  readonly tookMs: number | null
  readonly attempts: number
}

const hourMs = 3_600_000
const shownHours = 24
const shownRuns = 10
const widestChart = 60
const labelWidth = 8

export function historyOf(name: string, newestFirst: readonly JobRecord[], living: number, limit: number): History {
  const records = newestFirst.toReversed()
  const counts: Partial<Record<JobState, number>> = {}
  for (const { state } of records) counts[state] = (counts[state] ?? 0) + 1
  const runs = records.flatMap(runOf).toSorted((a, b) => a.endedAt - b.endedAt)
  const since = records[0]?.createdAt ?? null
  return { name, looked: records.length, living, isCut: records.length >= limit, since, counts, runs }
}

function runOf({ id, state, startedAt, finishedAt, runAt, createdAt, attempts }: JobRecord): readonly EndedRun[] {
  if (!isFinal(state) || finishedAt === null) return []
  // Only the start and due time of the last attempt are stored.
  const waitedMs = startedAt === null || attempts > 1 ? null : Math.max(0, startedAt - Math.max(runAt, createdAt))
  const tookMs = startedAt === null ? null : Math.max(0, finishedAt - startedAt)
  return [{ id, state, endedAt: finishedAt, waitedMs, tookMs, attempts }]
}

export function historyJson({ name, looked, living, isCut, since, counts, runs }: History): object {
  const [took, waited] = [times(runs, 'tookMs'), times(runs, 'waitedMs')]
  return {
    job: name,
    looked,
    complete: !isCut,
    since: iso(since),
    notEnded: living,
    counts,
    runMs: { p50: percentile(took, 0.5), p95: percentile(took, 0.95), p99: percentile(took, 0.99) },
    waitMs: { p50: percentile(waited, 0.5), p95: percentile(waited, 0.95), p99: percentile(waited, 0.99) },
    runs: runs.map((run) => ({ ...run, endedAt: iso(run.endedAt) })),
  }
}

export function historyText(history: History, out: Output, now: number): string {
  const { name, looked, living, isCut, since, counts, runs } = history
  const { colours } = out
  const ended = finalStates.flatMap((state) =>
    counts[state] === undefined ? [] : [stateColour(colours, state)(`${counts[state]} ${state}`)],
  )
  const which = isCut ? `the newest ${looked} that have ended` : `all ${looked} that have ended and are kept`
  const far = since === null ? 'none has ended, or none is kept' : `${which}, back to ${localTime(since)}`
  const width = Math.max(10, Math.min(widestChart, out.width - 40))
  const table = out.table(
    [
      { head: 'ENDED', cell: ({ endedAt }: EndedRun) => `${localTime(endedAt)} (${relativeTime(endedAt, now)})`, whole: true },
      { head: 'STATE', cell: ({ state }) => state, style: (text, { state }) => stateColour(colours, state)(text), whole: true },
      { head: 'WAITED', cell: ({ waitedMs }) => timeText(waitedMs), align: 'right', whole: true },
      { head: 'TOOK', cell: ({ tookMs }) => timeText(tookMs), align: 'right', whole: true },
      { head: 'TRIES', cell: ({ attempts }) => String(attempts), align: 'right', whole: true },
      { head: 'ID', cell: ({ id }) => id, whole: true },
    ],
    runs.slice(-shownRuns).toReversed(),
  )
  return [
    `${colours.bold(visibleLine(name))}  ${[...ended, ...(living > 0 ? [`${living} not ended`] : [])].join(', ')}`,
    colours.dim(wrapped(far, out.width)),
    '',
    chartLine('took', times(runs, 'tookMs'), width, out),
    chartLine('waited', times(runs, 'waitedMs'), width, out),
    hoursLine(runs, now, out),
    ...(runs.length === 0 ? [] : ['', table]),
  ].join('\n')
}

function chartLine(label: string, values: readonly number[], width: number, out: Output): string {
  const { colours } = out
  if (values.length === 0) return `${colours.dim(label.padEnd(labelWidth))}-`
  const [p50, p95] = [percentile(values, 0.5), percentile(values, 0.95)]
  const words = `p50 ${timeText(p50)}, p95 ${timeText(p95)}, longest ${timeText(Math.max(...values))}`
  const chart = condensed(values, width)
  return `${colours.dim(label.padEnd(labelWidth))}${sparkline(chart)}${explained(words, chart.length, out)}`
}

/** What a chart says in words: beside it, or below it where the terminal is too narrow. */
function explained(words: string, chartWidth: number, { colours, width }: Output): string {
  const isBeside = labelWidth + chartWidth + 2 + words.length <= width
  if (isBeside) return `  ${colours.dim(words)}`
  const indent = ' '.repeat(labelWidth)
  return `\n${indent}${colours.dim(wrapped(words, width - labelWidth).replaceAll('\n', `\n${indent}`))}`
}

/** Jobs ended in each of the last hours, with the failed ones below. */
function hoursLine(runs: readonly EndedRun[], now: number, out: Output): string {
  const { colours } = out
  const hours = (wanted: (run: EndedRun) => boolean) =>
    Array.from({ length: shownHours }, (_, hour) => {
      const from = now - (shownHours - hour) * hourMs
      return runs.filter((run) => wanted(run) && run.endedAt > from && run.endedAt <= from + hourMs).length
    })
  const all = hours(() => true)
  const failed = hours(({ state }) => state === 'dead')
  const line = (label: string, values: readonly number[], paint: (text: string) => string) =>
    `${colours.dim(label.padEnd(labelWidth))}${paint(sparkline(values.map((value) => (value === 0 ? null : value))))}${explained(`last 24 h, by hour, at most ${Math.max(...values)}`, values.length, out)}`
  const lines = [line('ended', all, (text) => text)]
  if (failed.some((count) => count > 0)) lines.push(line('dead', failed, colours.red))
  return lines.join('\n')
}

function times(runs: readonly EndedRun[], field: 'tookMs' | 'waitedMs'): readonly number[] {
  return runs.flatMap((run) => (run[field] === null ? [] : [run[field]]))
}

function timeText(ms: number | null): string {
  return ms === null ? '-' : formatDuration(Math.round(ms))
}
