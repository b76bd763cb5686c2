import { type Steps, wait } from '../../../core/answer.ts'
import { idMaker } from '../../../core/id.ts'
import type {
  Contents,
  MovedUnit,
  Packed,
  PackRequest,
  Page,
  PageRequest,
  Parcel,
  Refusal,
  Transfer,
} from '../../../queue/contract/transfer.ts'
import { keysOf } from '../../../queue/rules/transfer/moved-jobs.ts'
import type { QueueTime } from '../../servers/queue-time.ts'
import type { Lanes } from '../lanes/lanes.ts'
import { holdRevision } from '../schedules/schedule-revision.ts'
import type { SqlDatabase, SqlSession } from '../session.ts'
import type { Stepped } from '../stepped.ts'
import type { LoadedQueue } from '../units/loaded/loaded-queue.ts'
import { NewLanes } from '../units/loaded/new-lanes.ts'
import { needs } from '../units/reading/needs.ts'
import type { Unit, Units } from '../units/units.ts'
import { type Candidates, candidates } from './candidates.ts'
import { factsOf, learn } from './facts.ts'
import { occurrenceNeeds, wantJobsOf, wantPlaces } from './loading.ts'
import { movedSchedules, nextSchedules, schedulesNamed } from './moving-schedules.ts'
import { movedUnits, unitsOf, unlocked } from './packing.ts'
import {
  forgetParcel,
  identityOf,
  mark,
  parcelLabels,
  receiptOf,
  storedParcel,
  storeParcel,
  sweepReceipts,
  writeReceipt,
} from './parcels.ts'

export interface TransferParts {
  readonly database: SqlDatabase
  readonly units: Units
  readonly lanes: Lanes
  readonly time: QueueTime
  /** Call this after something may have become ready. */
  readonly wake: () => void
}

/** Hands jobs over to another queue and takes them over from one, by the rules of all engines. */
export function sqlTransfer(parts: TransferParts): Stepped<Transfer> {
  const { database, units, time, wake } = parts
  const newId = idMaker(() => time.now())
  return {
    identity: () =>
      wait(
        database.transaction(function* (session) {
          yield* sweepReceipts(session, time.now())
          return yield* identityOf(session, time.now())
        }),
      ),
    pack: (request) => (isOfSchedules(request) ? packSchedules : packJobs)(parts, request, newId()),
    read: (request) => (isOfSchedules(request) ? readSchedules : readJobs)(parts, request),
    parcels: () => parcelLabels(database),
    parcel: (id) => wait(database.transaction((session) => storedParcel(session, id))),
    *unpack(parcel) {
      const refusals = yield* unpack(parts, parcel)
      wake()
      return refusals
    },
    *close(id, returned) {
      yield* close(parts, id, new Set(returned))
      if (returned.length > 0) wake()
    },
    facts: (request) => factsOf(database, request, time),
    learn: (facts) => learn(units, facts, time),
  }
}

/** Schedules come first. Their cursor is `s` followed by the name; the cursor of jobs is `j` followed by the id. */
function isOfSchedules({ after }: PageRequest): boolean {
  return after === null || after.startsWith('s')
}

const nothing: Contents = { paused: [], schedules: [], units: [] }

function packSchedules({ units, time }: TransferParts, request: PackRequest, id: string): Steps<Packed> {
  const { target } = request
  const work = function* (unit: Unit): Steps<Packed> {
    const { session, now } = unit
    yield* holdRevision(session)
    const isNew = request.after === null && (yield* mark(session, `paused:${target}`, target, now))
    const paused = isNew ? yield* pausedQueues(session, request) : []
    const { names, last } = yield* nextSchedules(session, request)
    const { answer: schedules } = yield* unit.decide([], (queue) => {
      const leaving = schedulesNamed(queue, names)
      const moved = movedSchedules(queue)
      for (const { name } of leaving) moved.leave(name, target)
      return leaving
    })
    return yield* packed(
      session,
      { ...nothing, paused, schedules, after: afterSchedules(last), unreadable: [] },
      request,
      id,
      now,
    )
  }
  return units.within(time, work, { isAlone: false })
}

function* readSchedules({ database, units, time }: TransferParts, request: PageRequest): Steps<Page> {
  const paused = yield* pausedQueues(database, request)
  const { names, last } = yield* nextSchedules(database, request)
  const schedules = yield* units.read(time, (queue) => schedulesNamed(queue, names))
  return { ...nothing, paused, schedules, after: afterSchedules(last), unreadable: [] }
}

function afterSchedules(last: string | null): string {
  return last === null ? 'j' : `s${last}`
}

/** Only included in the first page. */
function* pausedQueues(session: SqlSession, { after, queue }: PageRequest): Steps<readonly string[]> {
  if (after !== null) return []
  const rows = yield* wait(session.all<{ queue: string }>('SELECT queue FROM {paused} ORDER BY queue'))
  return rows.map((row) => row.queue).filter((name) => queue === null || name === queue)
}

function* packJobs({ database, units, time }: TransferParts, request: PackRequest, id: string): Steps<Packed> {
  const found = yield* jobsAfter(database, request)
  const work = function* (unit: Unit): Steps<Packed> {
    const free = { ...found, plain: yield* unlocked(unit.session, found.plain) }
    const { answer } = yield* unit.decide([...free.plain, ...free.linked], (queue) => {
      const leaving = unitsOf(queue, free, request)
      movedUnits(queue).takeOut(leaving.units)
      return leaving
    })
    return yield* packed(unit.session, { ...nothing, ...answer, after: afterJobs(found) }, request, id, unit.now)
  }
  return yield* units.within(time, work, { isAlone: found.linked.length > 0 })
}

/** Jobs that are not running, with their workflows. */
function* readJobs({ database, units, time }: TransferParts, request: PageRequest): Steps<Page> {
  const found = yield* jobsAfter(database, request)
  const page = yield* units.read(time, (queue) => unitsOf(queue, found, request, afterIn(request)))
  return { ...nothing, ...page, after: afterJobs(found) }
}

function jobsAfter(database: SqlDatabase, request: PageRequest): Steps<Candidates> {
  return candidates(database, request, afterIn(request))
}

function afterIn({ after }: PageRequest): string {
  return after?.slice(1) ?? ''
}

function afterJobs({ last }: Candidates): string | null {
  return last === null ? null : `j${last}`
}

function* packed(session: SqlSession, page: Page, { target }: PackRequest, id: string, now: number): Steps<Packed> {
  const { after, unreadable, ...contents } = page
  const isEmpty = [contents.paused, contents.schedules, contents.units].every(({ length }) => length === 0)
  if (isEmpty) return { parcel: null, after, unreadable }
  const parcel: Parcel = { id, target, origin: yield* identityOf(session, now), ...contents }
  yield* storeParcel(session, parcel, now)
  return { parcel, after, unreadable }
}

function* unpack(parts: TransferParts, parcel: Parcel): Steps<readonly Refusal[]> {
  const { units, time } = parts
  const lanes = yield* lanesOf(parts, parcel.units)
  const isLinked = parcel.units.some(({ jobs }) => jobs.length > 1 || jobs.some(({ links }) => links !== null))
  const rule = (queue: LoadedQueue) => {
    const names = parcel.schedules.map(({ name }) => name)
    queue.want([
      ...needs('schedule', names),
      ...needs('away', names),
      ...occurrenceNeeds(parcel.schedules.flatMap(({ occurrences }) => occurrences)),
    ])
    wantJobsOf(
      queue,
      parcel.schedules.flatMap(({ occurrences }) => occurrences),
    )
    wantPlaces(queue, parcel.units)
    const schedules = movedSchedules(queue)
    for (const schedule of parcel.schedules) schedules.place(schedule)
    return movedUnits(queue).placeAll(parcel.units, queue.now)
  }
  const work = function* (unit: Unit): Steps<readonly Refusal[]> {
    yield* holdRevision(unit.session)
    const known = yield* receiptOf(unit.session, parcel.id, unit.now)
    if (known !== null) return known
    yield* pauseQueues(unit.session, parcel.paused)
    const { answer: refusals } = yield* unit.decide(idsIn(parcel.units), rule, lanes)
    yield* writeReceipt(unit.session, parcel.id, refusals)
    return refusals
  }
  return yield* units.within(time, work, { isAlone: isLinked })
}

function* pauseQueues(session: SqlSession, queues: readonly string[]): Steps<void> {
  if (queues.length === 0) return
  const rows = queues.map((queue) => ({ queue }))
  yield* wait(session.insertNew('paused', ['queue'], rows, 'queue'))
}

function* close(parts: TransferParts, id: string, returned: ReadonlySet<string>): Steps<void> {
  const { database, units, time } = parts
  const known = yield* wait(database.transaction((session) => storedParcel(session, id)))
  if (known === null) return
  const back = known.units.filter(({ jobs }) => returned.has(jobs[0]?.id as string))
  const lanes = yield* lanesOf(parts, back)
  const rule = (queue: LoadedQueue) => {
    queue.want(
      needs(
        'key',
        known.units.flatMap(({ jobs }) => jobs.flatMap(keysOf)),
      ),
    )
    wantPlaces(queue, back)
    const moved = movedUnits(queue)
    moved.freeReserved(known.units)
    moved.takeBack(back, queue.now)
  }
  const work = function* (unit: Unit): Steps<void> {
    yield* holdRevision(unit.session)
    if ((yield* storedParcel(unit.session, id)) === null) return
    yield* unit.decide(idsIn(back), rule, lanes)
    yield* forgetParcel(unit.session, id)
  }
  yield* units.within(time, work, { isAlone: back.length > 0 })
}

/** Missing lanes are created in transactions of their own. */
function* lanesOf({ lanes }: TransferParts, units: readonly MovedUnit[]): Steps<NewLanes> {
  const found = new NewLanes(lanes)
  const jobs = units.flatMap((unit) => unit.jobs)
  for (const isRecurring of [false, true]) {
    const meant = jobs.filter(({ schedule }) => (schedule !== null) === isRecurring)
    if (meant.length > 0) yield* found.prepare(meant, isRecurring)
  }
  return found
}

function idsIn(units: readonly MovedUnit[]): readonly string[] {
  return units.flatMap(({ jobs }) => jobs.map(({ id }) => id))
}
