import { type JobState, jobStates, zeroCounts } from '../../../backends/job-state.ts'
import type { WorkerRecord } from '../../../backends/presence.ts'
import type { JobCount } from '../../../backends/store.ts'
import { version } from '../../../core/version.ts'
import type { Grant } from '../../access/grant.ts'
import type { HttpDeps } from '../deps.ts'
import { iso } from '../job-json.ts'
import type { Handlers } from '../route.ts'

type Names = 'listQueues' | 'pauseQueue' | 'resumeQueue' | 'stats' | 'listWorkers'

export function queueHandlers({ service: { queue: served } }: HttpDeps): Pick<Handlers, Names> {
  const { backend, settings } = served
  const { store } = backend
  const countsFor = async (grant: Grant) => (await store.counts()).filter((count) => grant.sees(count))
  const pausedFor = async (grant: Grant) => (await store.pausedQueues()).filter((queue) => grant.seesQueue(queue))
  const workersFor = async (grant: Grant) => (await store.workers.list()).flatMap((worker) => seenOf(worker, grant))
  return {
    listQueues: async ({ exchange: { grant } }) => {
      const [all, paused] = await Promise.all([countsFor(grant), pausedFor(grant)])
      const names = [...new Set([...all.map(({ queue }) => queue), ...paused])].toSorted()
      const queues = names.map((queue) => {
        return { queue, paused: paused.includes(queue), counts: sumOf(all.filter((each) => each.queue === queue)) }
      })
      return { status: 200, body: { queues } }
    },

    pauseQueue: async ({ params: { queue } }) => {
      await store.pause(queue)
      return { status: 200, body: { queue, paused: true } }
    },

    resumeQueue: async ({ params: { queue } }) => {
      await store.resume(queue)
      return { status: 200, body: { queue, paused: false } }
    },

    stats: async ({ exchange: { grant } }) => {
      const [all, pausedQueues, workers] = await Promise.all([countsFor(grant), pausedFor(grant), workersFor(grant)])
      const jobs = all.map(({ job, queue, counts }) => ({ job, queue, counts }))
      const at = iso(settings.clock.now())
      const body = { at, version, backend: backend.kind, counts: sumOf(all), jobs, pausedQueues, workers: workers.length }
      return { status: 200, body }
    },

    listWorkers: async ({ exchange: { grant } }) => {
      const workers = (await workersFor(grant)).map(({ scheduler: _, startedAt, seenAt, expiresAt, ...worker }) => ({
        ...worker,
        startedAt: iso(startedAt),
        seenAt: iso(seenAt),
        expiresAt: iso(expiresAt),
      }))
      return { status: 200, body: { workers } }
    },
  }
}

/** A worker, as far as it works on jobs within the limits. */
function seenOf(worker: WorkerRecord, grant: Grant): readonly WorkerRecord[] {
  if (!grant.isLimited) return [worker]
  const jobs = worker.jobs.filter((job) => grant.seesName(job))
  const queues = worker.queues === null ? grant.queues : worker.queues.filter((queue) => grant.seesQueue(queue))
  return jobs.length === 0 || queues?.length === 0 ? [] : [{ ...worker, jobs, queues }]
}

function sumOf(all: readonly JobCount[]): Record<JobState, number> {
  const sums = zeroCounts()
  for (const { counts } of all) for (const state of jobStates) sums[state] += counts[state]
  return sums
}
