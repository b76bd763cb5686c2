import type { Clock } from '../../core/clock.ts'
import type { ScheduleStore } from '../schedule-store.ts'
import { Occurrences } from './occurrences.ts'
import { ScheduleRevision } from './schedule-revision.ts'
import { Schedules } from './schedules.ts'
import type { Sending } from './sending.ts'
import type { SqlDatabase } from './session.ts'
import type { Transactions } from './transactions.ts'
import { Unended } from './unended.ts'

export interface ScheduleStoreParts {
  readonly database: SqlDatabase
  readonly transactions: Transactions
  readonly sending: Sending
  readonly clock: Clock
}

/** Schedules and their occurrences. `waking` wakes workers after what it is given. */
export function scheduleStore(
  { database, transactions, sending, clock }: ScheduleStoreParts,
  waking: <Answer>(work: Promise<Answer>) => Promise<Answer>,
): ScheduleStore {
  const revision = new ScheduleRevision()
  const unended = new Unended(database, transactions)
  const occurrences = new Occurrences({ database, sending, revision })
  const schedules = new Schedules({ database, transactions, revision, unended })
  return {
    register: (entries) => schedules.register(entries, clock.now()),
    standings: (names) => schedules.standings(names),
    revision: () => revision.read(database),
    enqueue: (wanted) => waking(occurrences.enqueue(wanted, clock.now())),
    find: (keys) => occurrences.find(keys),
    recent: (schedule, upTo, limit) => occurrences.recent(schedule, upTo, limit),
    neighbours: (key) => unended.neighbours(key, clock.now()),
    skipWaiting: (request) => unended.skipWaiting(request, clock.now()),
    pause: (name) => schedules.pause(name, clock.now()),
    resume: (name) => schedules.resume(name, clock.now()),
    remove: (name) => schedules.remove(name, clock.now()),
    list: () => schedules.list(clock.now()),
    forget: (before, limit) => occurrences.forget(before, limit),
  }
}
