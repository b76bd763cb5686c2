import { type JobState, jobStates } from '../backends/job-state.ts'
import type { WorkerRecord } from '../backends/presence.ts'
import type { JobCount, JobStore } from '../backends/store.ts'
import { iso } from './output/jobs.ts'
import type { Project } from './project.ts'
import { readSchedules, type ScheduleStatus } from './schedules.ts'

type Counts = Readonly<Record<JobState, number>>

export interface Status {
  readonly url: string
  readonly queues: readonly QueueStatus[]
  readonly jobs: readonly JobStatus[]
  readonly schedules: readonly ScheduleStatus[]
  /** Those that gave a sign of life in the last seconds. */
  readonly workers: readonly WorkerRecord[]
}

export interface QueueStatus {
  readonly queue: string
  readonly paused: boolean
  readonly counts: Counts
  /** Since when its oldest ready job waits. */
  readonly oldestReadyAt: string | null
  /** False where there are so many that only the newest were looked at: the oldest waits even longer. */
  readonly oldestIsExact: boolean
}

export interface JobStatus {
  readonly job: string
  readonly queue: string
  /** False where this program has no handler for it; null where that is not known. */
  readonly handled: boolean | null
  readonly counts: Counts
}

/** What the store knows, from kept counters. `complete` is false when something is wrong with the jobs of this program. */
export async function readStatus(project: Project, store: JobStore, now: number, complete: boolean): Promise<Status> {
  const { jobs } = project
  const counts = (await store.counts()).toSorted((a, b) => compare(a.queue, b.queue) || compare(a.job, b.job))
  const paused = await store.pausedQueues()
  const queues = [...new Set([...counts.map(({ queue }) => queue), ...paused])].toSorted(compare)
  return {
    url: project.url,
    queues: await Promise.all(queues.map((queue) => queueStatus(store, queue, counts, paused))),
    jobs: counts.map(({ job, queue, counts }) => ({ job, queue, handled: jobs.has(job) || (complete ? false : null), counts })),
    schedules: await readSchedules(jobs, now, complete),
    workers: await store.workers.list(),
  }
}

async function queueStatus(
  store: JobStore,
  queue: string,
  all: readonly JobCount[],
  paused: readonly string[],
): Promise<QueueStatus> {
  const counts = sumOf(all.filter((count) => count.queue === queue).map((count) => count.counts))
  const ready = counts.ready === 0 ? [] : await store.list({ state: 'ready', queue, limit: lookedAt })
  const oldest = ready.length === 0 ? null : Math.min(...ready.map(({ runAt }) => runAt))
  return { queue, paused: paused.includes(queue), counts, oldestReadyAt: iso(oldest), oldestIsExact: ready.length < lookedAt }
}

const lookedAt = 500

function sumOf(counts: readonly Counts[]): Counts {
  const sums = jobStates.map((state) => [state, counts.reduce((sum, each) => sum + each[state], 0)])
  return Object.fromEntries(sums) as Counts
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}
