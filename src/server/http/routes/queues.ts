import { version } from '../../../core/version.ts'
import { type Totals, totalsByQueue, totalsOf } from '../../../queue/contract/queue-counts.ts'
import type { Grant } from '../../access/grant.ts'
import { seenPausedJobs, seenPausedQueues } from '../../access/seen-paused.ts'
import { seenWorkers } from '../../access/seen-workers.ts'
import type { HttpDeps } from '../deps.ts'
import type { Handlers } from '../route.ts'
import { iso } from '../wire/job-json.ts'

type Names = 'listQueues' | 'pauseQueue' | 'resumeQueue' | 'pauseJobs' | 'resumeJobs' | 'stats' | 'listWorkers'

export function queueHandlers({ service: { queue: served } }: HttpDeps): Pick<Handlers, Names> {
  const { backend, settings } = served
  const { store } = backend
  const countsFor = async (grant: Grant) => (await store.counts({ oldest: true })).filter((count) => grant.sees(count))
  const workersFor = async (grant: Grant) => {
    const known = grant.isLimited ? store.counts() : []
    return seenWorkers(await store.workers.list(), grant, await known)
  }
  return {
    listQueues: async ({ exchange: { grant } }) => {
      const [all, { queues: paused }] = await Promise.all([countsFor(grant), store.paused()])
      const seenPaused = seenPausedQueues(paused, grant, all)
      const byQueue = totalsByQueue(all)
      const isPaused = new Set(seenPaused)
      const names = [...new Set([...byQueue.keys(), ...seenPaused])].toSorted()
      const queues = names.map((queue) => {
        return { queue, paused: isPaused.has(queue), ...totalsJson(byQueue.get(queue) ?? totalsOf([])) }
      })
      return { status: 200, body: { queues } }
    },

    pauseQueue: async ({ params: { queue } }) => {
      await store.setPaused({ queue }, true)
      return { status: 200, body: { queue, paused: true } }
    },

    resumeQueue: async ({ params: { queue } }) => {
      await store.setPaused({ queue }, false)
      return { status: 200, body: { queue, paused: false } }
    },

    pauseJobs: async ({ params: { job } }) => {
      await store.setPaused({ job }, true)
      return { status: 200, body: { job, paused: true } }
    },

    resumeJobs: async ({ params: { job } }) => {
      await store.setPaused({ job }, false)
      return { status: 200, body: { job, paused: false } }
    },

    stats: async ({ exchange: { grant } }) => {
      const [all, paused, workers] = await Promise.all([countsFor(grant), store.paused(), workersFor(grant)])
      const jobs = all.map(({ job, queue, counts, oldestReadyAt = null }) => {
        return { job, queue, ...totalsJson({ counts, oldestReadyAt }) }
      })
      const at = iso(settings.clock.now())
      const body = {
        at,
        version,
        backend: backend.kind,
        ...totalsJson(totalsOf(all)),
        jobs,
        pausedQueues: seenPausedQueues(paused.queues, grant, all),
        pausedJobs: seenPausedJobs(paused.jobs, grant, all),
        workers: workers.length,
      }
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

function totalsJson({ counts, oldestReadyAt }: Totals) {
  return { counts, oldestReadyAt: oldestReadyAt === null ? null : iso(oldestReadyAt) }
}
