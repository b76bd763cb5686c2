import type { WorkerRecord } from '../../../queue/contract/stores/worker-store.ts'
import { iso } from '../jobs/jobs.ts'
import type { Output } from '../output.ts'
import { relativeTime, roughly } from '../time.ts'

/** How long a worker may be silent; a healthy one sends a heartbeat every ten seconds. */
const silentMs = 15_000

/** Workers as a table: which ones there are, how busy they are, and whether something is wrong. */
export function workerTable(workers: readonly WorkerRecord[], out: Output, now: number): string {
  return out.table(
    [
      { head: 'WORKER', cell: ({ owner }) => owner, least: 12, rank: 0 },
      {
        head: 'STATE',
        cell: (worker) => stateText(worker, now),
        style: (text) => (text === 'healthy' ? out.colours.green(text) : out.colours.yellow(text)),
        whole: true,
        rank: 1,
      },
      { head: 'RUNNING', cell: runningText, whole: true, rank: 2 },
      { head: 'QUEUES', cell: ({ queues }) => queues?.join(', ') ?? 'all', least: 8, rank: 4 },
      { head: 'JOBS', cell: ({ jobs }) => String(jobs.length), align: 'right', whole: true, rank: 6 },
      { head: 'SCHEDULES', cell: (worker) => schedulerText(worker, now), whole: true, rank: 3 },
      { head: 'STARTED', cell: ({ startedAt }) => relativeTime(startedAt, now), whole: true, rank: 5 },
      { head: 'VERSION', cell: ({ version }) => version, whole: true, rank: 7 },
    ],
    workers,
  )
}

/** A worker for programs, with ISO 8601 instants. */
export function workerJson(worker: WorkerRecord): object {
  const { startedAt, seenAt, expiresAt, scheduler } = worker
  return {
    ...worker,
    startedAt: iso(startedAt),
    seenAt: iso(seenAt),
    expiresAt: iso(expiresAt),
    scheduler: scheduler === null ? null : { lastTickAt: iso(scheduler.lastTickAt) },
  }
}

function stateText({ breaker, seenAt }: WorkerRecord, now: number): string {
  if (now - seenAt > silentMs) return `silent for ${roughly(now - seenAt)}`
  return breaker === 'closed' ? 'healthy' : `queue fails (breaker ${breaker})`
}

/** `3/10`, or `3/4 of 10` if it currently limits itself to four. */
function runningText({ running, allowed, concurrency }: WorkerRecord): string {
  return allowed === concurrency ? `${running}/${concurrency}` : `${running}/${allowed} of ${concurrency}`
}

function schedulerText({ scheduler }: WorkerRecord, now: number): string {
  if (scheduler === null) return '-'
  return scheduler.lastTickAt === null ? 'waits' : `checked ${relativeTime(scheduler.lastTickAt, now)}`
}
