import { revisionOf } from '../conformance/bench.ts'
import { envelopeOf } from './envelopes.ts'
import type { OccurrenceRef, OccurrenceSpec, Performers, ScheduleSpec } from './program.ts'
import { type Stage, scheduleOf } from './stage.ts'

type Names =
  | 'register'
  | 'enqueue'
  | 'findOccurrences'
  | 'markSeen'
  | 'neighbours'
  | 'recent'
  | 'skipWaiting'
  | 'pauseSchedule'
  | 'resumeSchedule'
  | 'removeSchedule'
  | 'standings'
  | 'schedules'
  | 'forget'
  | 'revision'
  | 'scheduleChanges'

/** Schedules and their occurrences. */
export const scheduleOperations: Performers<Names, Stage> = {
  register: ({ backend }, { entries = [] }) => backend.store.schedules.register(entries.map(entryOf)),
  enqueue: (stage, { occurrences = [] }) =>
    stage.backend.store.schedules.enqueue(occurrences.map((each) => occurrenceOf(stage, each))),
  findOccurrences: (stage, { keys = [] }) =>
    stage.backend.store.schedules.occurrences({ keys: keys.map((key) => keyOf(stage, key)) }),
  markSeen: (stage, { keys = [] }) => stage.backend.store.schedules.markSeen(keys.map((key) => keyOf(stage, key))),
  neighbours: (stage, key) => stage.backend.store.schedules.neighbours(keyOf(stage, key)),
  recent: (stage, { limit = 10, ...key }) => {
    const { schedule, at } = keyOf(stage, key)
    return stage.backend.store.schedules.occurrences({ schedule, upTo: at, limit })
  },
  skipWaiting: ({ backend, startedAt }, { schedule, before = 0, unseenOnly = false }) =>
    backend.store.schedules.skipWaiting({
      schedule: scheduleOf(schedule),
      before: startedAt + before,
      unseenOnly,
      why: 'it was overtaken',
    }),
  pauseSchedule: ({ backend }, { schedule }) => backend.store.schedules.change(scheduleOf(schedule), 'pause'),
  resumeSchedule: ({ backend }, { schedule }) => backend.store.schedules.change(scheduleOf(schedule), 'resume'),
  removeSchedule: ({ backend }, { schedule }) => backend.store.schedules.change(scheduleOf(schedule), 'remove'),
  standings: ({ backend }, { schedules }) => backend.store.schedules.standings(schedules?.map(scheduleOf)),
  schedules: ({ backend }) => backend.store.schedules.list(),
  forget: ({ backend, startedAt }, { before = 0, limit = 100 }) =>
    backend.store.sweep({ part: 'occurrences', before: startedAt + before, limit }),
  scheduleChanges: async (stage, { limit = 10, fromStart }) => {
    const since = fromStart ? 0 : stage.scheduleRevision
    const { revision, changed, hasMore } = await stage.backend.store.schedules.changes(since, limit)
    stage.scheduleRevision = revision
    return { changed, hasMore }
  },
  revision: async (stage) => ({ isNew: stage.isNewRevision(await revisionOf(stage.backend.store.schedules)) }),
}

function keyOf({ startedAt }: Stage, { schedule, at = 0 }: OccurrenceRef) {
  return { schedule: scheduleOf(schedule), at: startedAt + at }
}

function entryOf({ schedule, expression = 0, version = 0, definition }: ScheduleSpec) {
  const text = `${expression} * * * *`
  const said =
    definition === undefined ? null : { text: `definition-${definition}`, signature: definition === 0 ? null : 'signed' }
  return {
    name: scheduleOf(schedule),
    expression: text,
    timezone: 'UTC',
    version: `version-${version}`,
    ...(said && { definition: said }),
  }
}

function occurrenceOf(stage: Stage, { job = {}, follows, version, registered, ...ref }: OccurrenceSpec) {
  const key = keyOf(stage, ref)
  return {
    ...key,
    envelope: envelopeOf(stage, job, key.at),
    ...(follows !== undefined && { follows: follows === null ? null : stage.startedAt + follows }),
    ...(version !== undefined && { version: `version-${version}` }),
    ...(registered && { registered }),
  }
}
