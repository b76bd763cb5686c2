import { messageOf } from '../core/errors.ts'
import { type BacklogCount, jobInBroker } from '../queue/contract/backlog.ts'
import { type JobState, zeroCounts } from '../queue/contract/job-state.ts'
import { byName, totalsByQueue, totalsOf } from '../queue/contract/queue-counts.ts'
import type { JobStore } from '../queue/contract/store.ts'
import type { WorkerRecord } from '../queue/contract/stores/worker-store.ts'
import { iso } from './output/jobs/jobs.ts'
import type { Project } from './project.ts'
import { readSchedules, type ScheduleStatus } from './schedules/schedules.ts'
import type { ProjectSession } from './session.ts'

type Counts = Readonly<Record<JobState, number>>

export interface Status {
  readonly url: string
  readonly queues: readonly QueueStatus[]
  readonly jobs: readonly JobStatus[]
  readonly schedules: readonly ScheduleStatus[]
  /** Those that sent a heartbeat in the last seconds. */
  readonly workers: readonly WorkerRecord[]
}

export interface QueueStatus {
  readonly queue: string
  readonly paused: boolean
  readonly counts: Counts
  /** Since when its oldest ready job has been waiting. */
  readonly oldestReadyAt: string | null
}

export interface JobStatus {
  readonly job: string
  readonly queue: string
  /** False if this program has no handler for it; null if that is unknown. */
  readonly handled: boolean | null
  /** Whether no job with this key is claimed from any queue. */
  readonly paused: boolean
  readonly counts: Counts
}

/** A backend other than the default one. */
export interface OtherStatus {
  readonly name: string
  /** The status, or why there is none. */
  readonly status: Status | string
}

/** A backend that cannot be read does not keep the others from being shown. */
export async function otherStatuses({ jobs, now }: ProjectSession, complete: boolean): Promise<readonly OtherStatus[]> {
  const [, ...names] = await jobs.backendNames()
  return Promise.all(
    names.map(async (name) => {
      try {
        const other = await jobs.backend(name)
        return { name, status: await statusOf({ jobs: other, url: other.url }, now, complete) }
      } catch (thrown) {
        return { name, status: messageOf(thrown) }
      }
    }),
  )
}

/** The status of a queue. A broker without a coordination store knows only how many jobs it holds. */
export async function statusOf(project: Pick<Project, 'jobs' | 'url'>, now: number, complete: boolean): Promise<Status> {
  const { store, backlog } = await project.jobs.open()
  if (store === undefined && backlog !== undefined) return brokerStatus(project.url, await backlog.counts())
  return readStatus(project, await project.jobs.store(), now, complete)
}

function brokerStatus(url: string, backlog: readonly BacklogCount[]): Status {
  const queues = backlog.map(({ queue, ...counts }) => {
    return { queue, paused: false, counts: { ...zeroCounts(), ...counts }, oldestReadyAt: null }
  })
  return { url, queues: queues.toSorted((a, b) => byName(a.queue, b.queue)), jobs: [], schedules: [], workers: [] }
}

/** The status from the maintained counters. `complete` is false if something is wrong with the jobs of this program. */
export async function readStatus(
  project: Pick<Project, 'jobs' | 'url'>,
  store: JobStore,
  now: number,
  complete: boolean,
): Promise<Status> {
  const { jobs } = project
  const counts = (await store.counts({ oldest: true })).toSorted((a, b) => byName(a.queue, b.queue) || byName(a.job, b.job))
  const paused = (await store.paused()).queues
  const pausedJobs = new Set((await store.paused()).jobs)
  const byQueue = totalsByQueue(counts)
  const isPaused = new Set(paused)
  const queues = [...new Set([...byQueue.keys(), ...paused])].toSorted(byName)
  return {
    url: project.url,
    queues: queues.map((queue) => {
      const { counts, oldestReadyAt } = byQueue.get(queue) ?? totalsOf([])
      return { queue, paused: isPaused.has(queue), counts, oldestReadyAt: iso(oldestReadyAt) }
    }),
    jobs: counts.map(({ job, queue, counts }) => {
      const handled = jobs.has(job) || (complete && job !== jobInBroker ? false : null)
      return { job, queue, handled, paused: pausedJobs.has(job), counts }
    }),
    schedules: await readSchedules(jobs, now, complete),
    workers: await store.workers.list(),
  }
}
