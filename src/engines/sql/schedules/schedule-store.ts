import type { Steps } from '../../../core/answer.ts'
import type { ScheduleStore } from '../../../queue/contract/schedule-store.ts'
import type { QueueTime } from '../../servers/queue-time.ts'
import type { Sending } from '../sending/sending.ts'
import type { SqlDatabase } from '../session.ts'
import type { Stepped } from '../stepped.ts'
import type { Units } from '../units/units.ts'
import { Occurrences } from './occurrences.ts'
import { changesAfter } from './schedule-changes.ts'
import { ScheduleRevision } from './schedule-revision.ts'
import { Schedules } from './schedules.ts'
import { Unended } from './unended.ts'

export interface ScheduleStoreParts {
  readonly database: SqlDatabase
  readonly units: Units
  readonly sending: Sending
  readonly time: QueueTime
}

export interface ScheduleParts {
  readonly schedules: Stepped<ScheduleStore>
  readonly occurrences: Occurrences
}

/** Schedules and their occurrences. `waking` wakes workers after the given work. */
export function scheduleParts(
  { database, units, sending, time }: ScheduleStoreParts,
  waking: <Value>(work: Steps<Value>) => Steps<Value>,
): ScheduleParts {
  const revision = new ScheduleRevision()
  const unended = new Unended(database, units)
  const occurrences = new Occurrences({ database, sending, revision })
  const schedules = new Schedules({ database, units, revision, unended })
  const store: Stepped<ScheduleStore> = {
    register: (entries) => schedules.register(entries, time),
    change: (name, change) => schedules[change](name, time),
    list: (filter = {}) => schedules.list(filter, time.now()),
    standings: (names) => schedules.standings(names),
    changes: (since, limit) => changesAfter(database, revision, since, limit),
    enqueue: (wanted) => waking(occurrences.enqueue(wanted, time)),
    occurrences: (query) => occurrences.read(query),
    neighbours: (key) => unended.neighbours(key, time),
    markSeen: (keys) => unended.markSeen(keys, time),
    skipWaiting: (request) => unended.skipWaiting(request, time),
  }
  return { schedules: store, occurrences }
}
