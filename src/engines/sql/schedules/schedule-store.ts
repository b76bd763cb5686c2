import type { Steps } from '../../../core/answer.ts'
import type { ScheduleStore } from '../../../queue/contract/schedule-store.ts'
import type { Stepped } from '../stepped.ts'
import { type DecidingParts, ScheduleDecisions } from './deciding.ts'

import { neighboursOf, readOccurrences } from './occurrences.ts'
import { changesAfter } from './schedule-changes.ts'
import { listSchedules, standingsOf } from './schedules.ts'

/** Schedules and their occurrences. `waking` wakes workers after the given work. */
export function scheduleStore(parts: DecidingParts, waking: <Value>(work: Steps<Value>) => Steps<Value>): Stepped<ScheduleStore> {
  const { database, time } = parts
  const decisions = new ScheduleDecisions(parts)
  return {
    register: (entries) => decisions.register(entries),
    change: (name, change) => decisions.change(name, change),
    list: (filter = {}) => listSchedules(database, filter, time.now()),
    standings: (names) => standingsOf(database, names),
    changes: (since, limit) => changesAfter(database, since, limit),
    enqueue: (wanted) => waking(decisions.enqueue(wanted)),
    occurrences: (query) => readOccurrences(database, query),
    neighbours: (key) => neighboursOf(database, key, time.now()),
    markSeen: (keys) => decisions.markSeen(keys),
    skipWaiting: (request) => decisions.skipWaiting(request),
  }
}
