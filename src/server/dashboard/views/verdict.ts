import type { JobCount } from '../../../queue/contract/store.ts'
import type { Recent } from '../live/series.ts'
import { quoted } from '../shared/filter.ts'
import type { VerdictLine } from '../shared/views/overview.ts'
import type { ScheduleRow } from '../shared/views/schedule.ts'
import type { WorkerRow } from '../shared/views/worker.ts'

/** What is checked to decide whether all is well. */
export interface Facts {
  readonly now: number
  readonly counts: readonly JobCount[]
  /** The queues and the jobs that are paused, by name. */
  readonly paused: readonly string[]
  readonly pausedJobs: readonly string[]
  readonly workers: readonly Pick<WorkerRow, 'breaker' | 'jobs' | 'queues' | 'follows' | 'lastTickAt'>[]
  readonly schedules: readonly Pick<ScheduleRow, 'name' | 'state' | 'nextAt'>[]
  /** For the last five minutes; null if there are no statistics. */
  readonly recent: Pick<Recent, 'done' | 'failed' | 'wait'> | null
  readonly deadInHour: number
}

const minuteMs = 60_000
/** With fewer attempts than this, a share is not meaningful. */
const fewAttempts = 20
const badShare = 0.05
const mostLines = 6
/** With more of them, they are told together. */
const mostNamed = 2

/** Everything that is wrong, worst first; empty if all is well. */
export function verdictOf(facts: Facts): readonly VerdictLine[] {
  return [
    ...unworked(facts),
    ...openBreakers(facts),
    ...unhandled(facts),
    ...schedules(facts),
    ...oldWaits(facts),
    ...failures(facts),
    ...dead(facts),
  ].slice(0, mostLines)
}

/** Of what is not paused. */
function readyIn({ counts, paused, pausedJobs }: Facts): readonly JobCount[] {
  const [queues, names] = [new Set(paused), new Set(pausedJobs)]
  return counts.filter(({ queue, job, counts: states }) => states.ready > 0 && !queues.has(queue) && !names.has(job))
}

function unworked(facts: Facts): readonly VerdictLine[] {
  const ready = readyIn(facts).reduce((sum, { counts }) => sum + counts.ready, 0)
  if (ready === 0 || facts.workers.length > 0) return []
  const text = `${jobs(ready)} ${ready === 1 ? 'is' : 'are'} ready, and no worker is running`
  return [{ level: 'problem', text, href: '/workers' }]
}

function openBreakers({ workers }: Facts): readonly VerdictLine[] {
  const open = workers.filter(({ breaker }) => breaker !== 'closed')
  if (open.length === 0) return []
  const text = `${open.length} of ${workers.length} workers claim no jobs: their circuit breaker is open because the database failed them`
  return [{ level: 'problem', text, href: '/workers' }]
}

function unhandled(facts: Facts): readonly VerdictLine[] {
  const without = withoutHandler(facts)
  if (without.length > mostNamed) return [manyUnhandled(without)]
  return without.map(({ queue, job, counts }) => ({
    level: 'problem',
    text: `${jobs(counts.ready)} of "${job}" in the queue "${queue}" ${counts.ready === 1 ? 'waits' : 'wait'}, and no worker has a handler for ${counts.ready === 1 ? 'it' : 'them'}`,
    href: `/jobs?q=${encodeURIComponent(`state:ready job:${quoted(job)} queue:${quoted(queue)}`)}`,
  }))
}

function withoutHandler(facts: Facts): readonly JobCount[] {
  const { workers, now } = facts
  if (workers.length === 0) return []
  const handlers = workers.map((worker) => ({ jobs: new Set(worker.jobs), queues: worker.queues && new Set(worker.queues) }))
  const isHandled = ({ queue, job }: JobCount) =>
    handlers.some((worker) => worker.jobs.has(job) && (worker.queues === null || worker.queues.has(queue)))
  // Allow for the time that a deployment takes.
  return readyIn(facts).filter((count) => !isHandled(count) && now - (count.oldestReadyAt ?? now) > 10_000)
}

/** There may be a name per entity: two of ten thousand would not say how much is wrong. */
function manyUnhandled(without: readonly JobCount[]): VerdictLine {
  const ready = without.reduce((sum, { counts }) => sum + counts.ready, 0)
  const [most] = without.toSorted((a, b) => b.counts.ready - a.counts.ready) as [JobCount]
  const names = new Set(without.map(({ job }) => job)).size.toLocaleString('en')
  return {
    level: 'problem',
    text: `${jobs(ready)} of ${names} names wait, and no worker has a handler for them: for example "${most.job}" in the queue "${most.queue}"`,
    href: '/jobs?q=state%3Aready',
  }
}

function schedules({ schedules: all, workers, now }: Facts): readonly VerdictLine[] {
  const followed = all.filter(({ state }) => state === 'active' || state === 'not in code')
  if (followed.length === 0) return []
  const ticks = workers.flatMap(({ follows, lastTickAt }) => (follows ? [lastTickAt ?? 0] : []))
  if (ticks.length === 0) {
    const text = `No worker follows the schedules: ${followed.length === 1 ? 'one is' : `${followed.length} are`} not being kept`
    return [{ level: 'problem', text, href: '/schedules' }]
  }
  const missed = followed.filter(({ nextAt }) => nextAt !== null && nextAt < now - minuteMs)
  return missed.slice(0, 2).map(({ name }) => {
    return { level: 'warning', text: `The schedule "${name}" is overdue`, href: `/schedules/${encodeURIComponent(name)}` }
  })
}

/** Jobs that wait longer than a minute and longer than five times the usual wait. Why others wait is told already. */
function oldWaits(facts: Facts): readonly VerdictLine[] {
  const { now, recent, workers } = facts
  if (workers.length === 0) return []
  const usualMs = recent?.wait?.[1] ?? 0
  const limitMs = Math.max(minuteMs, 5 * usualMs)
  const told = new Set(withoutHandler(facts))
  const late = readyIn(facts)
    .filter((count) => count.oldestReadyAt != null && now - count.oldestReadyAt > limitMs && !told.has(count))
    .toSorted((a, b) => (a.oldestReadyAt ?? 0) - (b.oldestReadyAt ?? 0))
  const [oldest] = late
  if (oldest === undefined) return []
  const minutes = Math.floor((now - (oldest.oldestReadyAt ?? now)) / minuteMs)
  const others = new Set(late.map(({ queue }) => queue)).size - 1
  const more = others === 0 ? '' : `; ${others === 1 ? 'one more queue is' : `${others} more queues are`} late`
  const text = `The oldest job of the queue "${oldest.queue}" has been ready for ${minutes} min${more}`
  return [{ level: 'warning', text, href: `/queues/${encodeURIComponent(oldest.queue)}` }]
}

function failures({ recent }: Facts): readonly VerdictLine[] {
  if (recent === null) return []
  const attempts = recent.done + recent.failed
  const share = recent.failed / Math.max(1, attempts)
  if (attempts < fewAttempts || share <= badShare) return []
  const text = `${Math.round(share * 100)} % of the attempts of the last five minutes failed`
  return [{ level: 'warning', text, href: '/dead' }]
}

function dead({ deadInHour }: Facts): readonly VerdictLine[] {
  if (deadInHour === 0) return []
  return [{ level: 'warning', text: `${jobs(deadInHour)} failed for good in the last hour`, href: '/dead' }]
}

function jobs(count: number): string {
  return count === 1 ? '1 job' : `${count.toLocaleString('en')} jobs`
}
