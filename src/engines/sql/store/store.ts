import type { Steps } from '../../../core/answer.ts'
import type { JobStore } from '../../../queue/contract/store.ts'
import { Rollups } from '../../../queue/statistics/rollups.ts'
import type { QueueTime } from '../../servers/queue-time.ts'
import { sqlNumbers } from '../keys/numbers.ts'
import type { UniqueKeys } from '../keys/unique-keys.ts'
import type { Counts } from '../lanes/counts.ts'
import type { Lanes } from '../lanes/lanes.ts'
import { Holding } from '../limits/holding.ts'
import { scheduleStore } from '../schedules/schedule-store.ts'
import type { SqlDatabase } from '../session.ts'
import type { Stepped } from '../stepped.ts'
import type { Units } from '../units/units.ts'
import type { Mending } from '../workflows/mending.ts'
import type { Trees } from '../workflows/trees.ts'
import { Amending } from './amending.ts'
import { Changing } from './changing.ts'
import { EventHistory } from './event-history.ts'
import { Logs } from './logs.ts'
import { Looking } from './looking.ts'
import { Removing } from './removing.ts'
import { SqlRollupRows } from './rollups.ts'
import { Sweeping } from './sweeping.ts'
import { Workers } from './workers.ts'

export interface StoreParts {
  readonly database: SqlDatabase
  readonly units: Units
  readonly lanes: Lanes
  readonly counts: Counts
  readonly uniqueKeys: UniqueKeys
  readonly trees: Trees
  readonly mending: Mending
  readonly time: QueueTime
  /** Call this after something may have become ready. */
  readonly wake: () => void
}

/** Reads the queue and changes what waits in it. */
export function sqlStore(parts: StoreParts): Stepped<JobStore> {
  const { database, units, trees, time, wake } = parts
  const looking = new Looking(parts)
  const removing = new Removing(parts)
  const changing = new Changing(database, units)
  const amending = new Amending(parts)
  const holding = new Holding(parts)
  const workers = new Workers(database)
  const logs = new Logs(database)
  const rollups = new Rollups(new SqlRollupRows(database))
  const events = new EventHistory(database)
  const sweeping = new Sweeping({ ...parts, logs, rollups })
  function* waking<Value>(work: Steps<Value>): Steps<Value> {
    const answer = yield* work
    wake()
    return answer
  }
  return {
    get: (id) => looking.get(id),
    list: (filter) => looking.list(filter),
    *counts(options = {}) {
      return options.root === undefined ? yield* looking.jobCounts(options) : [yield* trees.counts(options.root)]
    },
    leases: (filter) => ('ids' in filter ? looking.leasesOf(filter.ids) : looking.leases(filter.owners)),
    cancel: (id, { tree = false } = {}) => waking(tree ? trees.cancel(id, time) : changing.cancel(id, time)),
    amend: (changes) => waking(amending.amend(changes, time)),
    retry: (ids) => waking(changing.retry(ids, time)),
    holders: (ids) => changing.holders(ids, time),
    remove: (filter) => removing.remove(filter, time),
    report: (reports) => changing.report(reports),
    links: (id) => trees.links(id),
    setPaused: (target, paused) => (paused ? changing.setPaused(target, paused) : waking(changing.setPaused(target, paused))),
    paused: () => changing.paused(),
    holds: (id, rules) => holding.holds(id, rules, time),
    sweep: (request) => sweeping.sweep(request),
    schedules: scheduleStore(parts, waking),
    workers: {
      announce: (worker, ttlMs) => workers.announce(worker, ttlMs, time),
      leave: (owner) => workers.leave(owner),
      list: () => workers.list(time.now()),
    },
    numbers: sqlNumbers(database),
    logs: {
      append: (chunks, bounds) => logs.append(chunks, bounds),
      read: (id, after, limit) => logs.read(id, after, limit),
    },
    rollups: {
      add: (cells) => rollups.add(cells, time.now()),
      read: (from) => rollups.read(from),
    },
    events: {
      listen: (listener, ttlMs) => events.listen(listener, ttlMs, time),
      leave: (id) => events.leave(id, time),
      wanted: () => events.wanted(time.now()),
      append: (chunks) => events.append(chunks),
      read: (after, limit) => events.read(after, limit),
    },
  }
}
