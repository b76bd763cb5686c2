import { totalsOf } from '../../queue/contract/queue-counts.ts'
import type { CountOptions, JobCount, JobNumbers, JobStore } from '../../queue/contract/store.ts'
import type { BrokerBacklog } from './broker-backlog.ts'

/**
 * The coordination store, with the jobs that are still in the broker: they are counted, and a question about jobs first moves a
 * small backlog into the store.
 */
export function coordinatedStore(store: JobStore, backlog: BrokerBacklog): JobStore {
  const shown = <Args extends readonly unknown[], Answer>(ask: (...args: Args) => Promise<Answer>) => {
    return async (...args: Args): Promise<Answer> => {
      await backlog.show()
      return ask(...args)
    }
  }
  const numbers: JobNumbers = {
    reserve: (count) => store.numbers.reserve(count),
    assign: shown((ids: readonly string[]) => store.numbers.assign(ids)),
    find: (given) => store.numbers.find(given),
  }
  return {
    // Most jobs that are asked for are in the store.
    get: async (id) => (await store.get(id)) ?? shown((missing: string) => store.get(missing))(id),
    list: shown((filter) => store.list(filter)),
    counts: (options = {}) => counts(store, backlog, options),
    cancel: shown((id) => store.cancel(id)),
    reschedule: shown((id, runAt) => store.reschedule(id, runAt)),
    amend: shown((amendments) => store.amend(amendments)),
    reject: shown((rejections) => store.reject(rejections)),
    retry: shown((ids) => store.retry(ids)),
    remove: (filter) => store.remove(filter),
    report: (reports) => store.report(reports),
    leases: (owners) => store.leases(owners),
    leasesOf: (ids) => store.leasesOf(ids),
    pause: (queue) => store.pause(queue),
    resume: (queue) => store.resume(queue),
    pausedQueues: () => store.pausedQueues(),
    pauseJob: (job) => store.pauseJob(job),
    resumeJob: (job) => store.resumeJob(job),
    pausedJobs: () => store.pausedJobs(),
    holds: shown((id, rules) => store.holds(id, rules)),
    links: shown((id) => store.links(id)),
    tree: shown((root) => store.tree(root)),
    cancelTree: shown((id) => store.cancelTree(id)),
    mend: (limit) => store.mend(limit),
    schedules: store.schedules,
    workers: store.workers,
    numbers,
    ...(store.logs !== undefined && { logs: store.logs }),
    ...(store.rollups !== undefined && { rollups: store.rollups }),
    ...(store.events !== undefined && { events: store.events }),
  }
}

async function counts(store: JobStore, backlog: BrokerBacklog, options: CountOptions): Promise<readonly JobCount[]> {
  const [stored, inBroker] = await Promise.all([store.counts(options), backlog.counts(options)])
  if (inBroker.length === 0) return stored
  const all = [...stored, ...inBroker]
  return options.isSum === true ? [{ queue: '', job: '', counts: totalsOf(all).counts }] : all
}
