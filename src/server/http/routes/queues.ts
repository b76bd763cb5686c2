import { type JobState, jobStates, zeroCounts } from '../../../backends/job-state.ts'
import type { JobCount } from '../../../backends/store.ts'
import { version } from '../../../core/version.ts'
import type { HttpDeps } from '../deps.ts'
import { iso } from '../job-json.ts'
import type { Handlers } from '../route.ts'

type Names = 'listQueues' | 'pauseQueue' | 'resumeQueue' | 'stats' | 'listWorkers'

export function queueHandlers({ service: { queue: served } }: HttpDeps): Pick<Handlers, Names> {
  const { backend, settings } = served
  const { store } = backend
  return {
    listQueues: async () => {
      const [all, paused] = await Promise.all([store.counts(), store.pausedQueues()])
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

    stats: async () => {
      const [all, pausedQueues, workers] = await Promise.all([store.counts(), store.pausedQueues(), store.workers.list()])
      const jobs = all.map(({ job, queue, counts }) => ({ job, queue, counts }))
      const at = iso(settings.clock.now())
      const body = { at, version, backend: backend.kind, counts: sumOf(all), jobs, pausedQueues, workers: workers.length }
      return { status: 200, body }
    },

    listWorkers: async () => {
      const workers = (await store.workers.list()).map(({ scheduler: _, startedAt, seenAt, expiresAt, ...worker }) => ({
        ...worker,
        startedAt: iso(startedAt),
        seenAt: iso(seenAt),
        expiresAt: iso(expiresAt),
      }))
      return { status: 200, body: { workers } }
    },
  }
}

function sumOf(all: readonly JobCount[]): Record<JobState, number> {
  const sums = zeroCounts()
  for (const { counts } of all) for (const state of jobStates) sums[state] += counts[state]
  return sums
}
