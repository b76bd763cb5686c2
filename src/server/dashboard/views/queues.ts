import { formatDuration } from '../../../core/time/duration.ts'
import type { Rate } from '../../../queue/contract/limits.ts'
import { fullestFirst, type Totals, totalsByQueue, totalsOf } from '../../../queue/contract/queue-counts.ts'
import { seenPausedQueues } from '../../access/seen-paused.ts'
import { HttpProblem } from '../../http/wire/http-problem.ts'
import type { Viewer } from '../access/viewer.ts'
import { pauseWords, resumeWords } from '../act-words.ts'
import type { ViewDeps } from '../deps.ts'
import type { QueueRow, QueueView } from '../shared/views/queue.ts'
import { workersFor } from './workers.ts'

/** With fewer ended jobs than this, nothing is estimated. */
const fewEnds = 10
const mostJobs = 200
const mostQueues = 1_000

export interface QueueList {
  readonly queues: readonly QueueRow[]
  /** The number of queues that are not listed: those with the fewest unfinished jobs. */
  readonly more: number
}

export async function queueList(deps: ViewDeps, viewer: Viewer): Promise<QueueList> {
  const { grant } = viewer
  const [counts, paused] = await Promise.all([deps.snapshots.counts(), deps.snapshots.paused()])
  const byQueue = totalsByQueue(counts.filter((count) => grant.sees(count)))
  const isPaused = new Set(seenPausedQueues(paused, grant, counts))
  const names = fullestFirst([...byQueue.keys(), ...isPaused], byQueue)
  const shown = names.slice(0, mostQueues)
  const queues = shown.map((queue) => queueRow(deps, viewer, queue, byQueue.get(queue) ?? totalsOf([]), isPaused.has(queue)))
  return { queues, more: names.length - shown.length }
}

export async function queueView(deps: ViewDeps, viewer: Viewer, queue: string): Promise<QueueView> {
  const { grant } = viewer
  const { snapshots } = deps
  const [all, paused, pausedJobs] = await Promise.all([snapshots.counts(), snapshots.paused(), snapshots.pausedJobs()])
  const counts = all.filter((count) => count.queue === queue && grant.sees(count))
  if (!grant.seesQueue(queue) || (counts.length === 0 && !seenPausedQueues(paused, grant, all).includes(queue))) {
    throw new HttpProblem('not-found', `There is no queue ${JSON.stringify(queue)}: no job was ever sent to it`)
  }
  const jobs = counts.map(({ job, counts: states, oldestReadyAt = null }) => {
    return { job, paused: pausedJobs.includes(job), counts: states, oldestReadyAt }
  })
  const sorted = jobs.toSorted(
    (a, b) => b.counts.ready + b.counts.running - a.counts.ready - a.counts.running || (a.job < b.job ? -1 : 1),
  )
  const workers = (await workersFor(deps, viewer)).filter(({ queues }) => queues === null || queues.includes(queue))
  return {
    ...queueRow(deps, viewer, queue, totalsOf(counts), paused.includes(queue)),
    pausedHere: paused.includes(queue) ? pausedHere(deps, viewer, queue) : null,
    jobs: sorted.slice(0, mostJobs),
    more: Math.max(0, sorted.length - mostJobs),
    workers,
    series: await deps.series.read('1h', grant, queue),
  }
}

function pausedHere({ activity }: ViewDeps, viewer: Viewer, queue: string): QueueView['pausedHere'] {
  const last = activity.last(viewer, pauseWords(queue), resumeWords(queue))
  return last === null || last.what === resumeWords(queue) ? null : { at: last.at, user: last.user }
}

function queueRow(
  { flows, service }: ViewDeps,
  { grant }: Viewer,
  queue: string,
  { counts, oldestReadyAt }: Totals,
  paused: boolean,
): QueueRow {
  // Measured over all jobs of the queue, so it would reveal those that a limited viewer may not see.
  const flow = grant.hasWholeQueue(queue) ? flows.of(queue) : null
  const limits = service.queue.settings.queueLimits.find((each) => each.queue === queue)
  const isKnown = flow !== null && flow.out * 5 >= fewEnds
  const shrinkingBy = flow === null ? 0 : flow.out - flow.in
  return {
    queue,
    paused,
    counts,
    oldestReadyAt,
    inRate: flow?.in ?? null,
    outRate: flow?.out ?? null,
    emptyInMs: isKnown && shrinkingBy > 0 && counts.ready > 0 ? (counts.ready / shrinkingBy) * 60_000 : null,
    // Jobs that run count as having entered, so a queue in which nothing waits is not growing.
    growingBy: isKnown && shrinkingBy <= -1 && counts.ready > 0 ? -shrinkingBy : null,
    concurrency: limits?.concurrency ?? null,
    rate: rateText(limits?.rate ?? null),
  }
}

function rateText(rate: Rate | null): string | null {
  return rate === null ? null : `${rate.limit.toLocaleString('en')} per ${formatDuration(rate.perMs).replace(/^1(?=\D)/, '')}`
}
