import type { Clock } from '../../core/clock.ts'
import type { JobStore } from '../store.ts'
import { Amending } from './amending.ts'
import { Changing } from './changing.ts'
import type { Counts } from './counts.ts'
import { Holding } from './holding.ts'
import type { Lanes } from './lanes.ts'
import { Looking } from './looking.ts'
import type { Mending } from './mending.ts'
import { sqlNumbers } from './numbers.ts'
import type { Rates } from './rates.ts'
import { Removing } from './removing.ts'
import { Replaying } from './replaying.ts'
import { scheduleStore } from './schedule-store.ts'
import type { Sending } from './sending.ts'
import type { SqlDatabase } from './session.ts'
import type { Transactions } from './transactions.ts'
import type { Trees } from './trees.ts'
import type { UniqueKeys } from './unique-keys.ts'
import { Workers } from './workers.ts'

export interface StoreParts {
  readonly database: SqlDatabase
  readonly transactions: Transactions
  readonly lanes: Lanes
  readonly counts: Counts
  readonly rates: Rates
  readonly uniqueKeys: UniqueKeys
  readonly sending: Sending
  readonly trees: Trees
  readonly mending: Mending
  readonly clock: Clock
  /** After something may have become ready. */
  readonly wake: () => void
}

/** Looking into the queue, and changing what waits in it. */
export function sqlStore(parts: StoreParts): JobStore {
  const { database, transactions, trees, mending, clock, wake } = parts
  const looking = new Looking(parts)
  const removing = new Removing(parts)
  const changing = new Changing(database, transactions)
  const amending = new Amending(parts)
  const replaying = new Replaying(parts)
  const holding = new Holding(parts)
  const workers = new Workers(database)
  async function waking<Answer>(work: Promise<Answer>): Promise<Answer> {
    const answer = await work
    wake()
    return answer
  }
  return {
    get: (id) => looking.get(id),
    list: (filter) => looking.list(filter),
    counts: () => looking.jobCounts(),
    leases: (owners) => looking.leases(owners),
    leasesOf: (ids) => looking.leasesOf(ids),
    cancel: (id) => waking(changing.cancel(id, clock.now())),
    reschedule: (id, runAt) => waking(changing.reschedule(id, runAt, clock.now())),
    amend: (amendments) => waking(amending.amend(amendments, clock.now())),
    reject: (rejections) => waking(amending.reject(rejections, clock.now())),
    retry: (ids) => waking(replaying.retry(ids, clock.now())),
    remove: (filter) => removing.remove(filter, clock.now()),
    report: (reports) => changing.report(reports),
    links: (id) => trees.links(id),
    tree: (root) => trees.counts(root),
    cancelTree: (id) => waking(trees.cancel(id, clock.now())),
    async mend(limit) {
      const report = await mending.mend(limit, clock.now())
      if (report.mended > 0) wake()
      return report
    },
    pause: (queue) => changing.pause(queue),
    resume: (queue) => waking(changing.resume(queue)),
    pausedQueues: () => changing.pausedQueues(),
    holds: (id, rules) => holding.holds(id, rules, clock.now()),
    schedules: scheduleStore(parts, waking),
    workers: {
      announce: (worker, ttlMs) => workers.announce(worker, ttlMs, clock.now()),
      leave: (owner) => workers.leave(owner),
      list: () => workers.list(clock.now()),
    },
    numbers: sqlNumbers(database),
  }
}
