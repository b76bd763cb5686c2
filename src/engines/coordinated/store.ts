import { summedCounts } from '../../queue/contract/queue-counts.ts'
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
  return {
    // Most jobs that are asked for are in the store.
    get: async (id) => (await store.get(id)) ?? shown((missing: string) => store.get(missing))(id),
    list: shown((filter) => store.list(filter)),
    counts: (options = {}) => counts(store, backlog, options),
    cancel: shown((id, options) => store.cancel(id, options)),
    amend: shown((changes) => store.amend(changes)),
    retry: shown((ids) => store.retry(ids)),
    holders: shown((ids) => store.holders(ids)),
    remove: (filter) => store.remove(filter),
    report: (reports) => store.report(reports),
    leases: (filter) => store.leases(filter),
    setPaused: (target, paused) => store.setPaused(target, paused),
    paused: () => store.paused(),
    holds: shown((id, rules) => store.holds(id, rules)),
    links: shown((id) => store.links(id)),
    sweep: (request) => store.sweep(request),
    schedules: store.schedules,
    workers: store.workers,
    ...(store.numbers !== undefined && { numbers: numbersOf(store.numbers, backlog) }),
    ...(store.logs !== undefined && { logs: store.logs }),
    ...(store.rollups !== undefined && { rollups: store.rollups }),
    ...(store.events !== undefined && { events: store.events }),
  }
}

function numbersOf(numbers: JobNumbers, backlog: BrokerBacklog): JobNumbers {
  return {
    reserve: (count) => numbers.reserve(count),
    assign: async (ids) => {
      await backlog.show()
      return numbers.assign(ids)
    },
    find: (given) => numbers.find(given),
  }
}

async function counts(store: JobStore, backlog: BrokerBacklog, options: CountOptions): Promise<readonly JobCount[]> {
  if (options.root !== undefined) {
    await backlog.show()
    return store.counts(options)
  }
  const [stored, inBroker] = await Promise.all([store.counts(options), backlog.counts(options)])
  if (inBroker.length === 0) return stored
  const all = [...stored, ...inBroker]
  return options.isSum === true ? [summedCounts(all, options)] : all
}
