import { type Steps, wait } from '../../../core/answer.ts'
import { idMaker } from '../../../core/id.ts'
import type {
  Contents,
  Packed,
  PackRequest,
  Page,
  PageRequest,
  Parcel,
  Refusal,
  Transfer,
} from '../../../queue/contract/transfer.ts'
import { stateNumber } from '../rows/tables.ts'
import { ScheduleRevision } from '../schedules/schedule-revision.ts'
import type { SqlDatabase, SqlSession } from '../session.ts'
import type { Stepped } from '../stepped.ts'
import { lockMutex } from '../transactions/mutexes.ts'
import { admit } from './admitting.ts'
import { type Candidates, candidates, components } from './collecting.ts'
import { factsOf, learn } from './facts.ts'
import { leaveSchedules, placeSchedules, readSchedules } from './moving-schedules.ts'
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
import { lanesOf, type PlacingParts, placeUnits } from './placing.ts'
import { isReadable, type JobColumns, jobColumns, readUnits } from './reading.ts'
import { freeReserved, takeOut } from './removing.ts'

export interface TransferParts extends PlacingParts {
  readonly database: SqlDatabase
  /** Call this after something may have become ready. */
  readonly wake: () => void
}

/** What is taken, with the rows of its jobs. */
interface Taken extends Page {
  readonly rows: readonly JobColumns[]
}

/** Hands jobs over to another queue, and takes them over from one. */
export function sqlTransfer(parts: TransferParts): Stepped<Transfer> {
  const { database, time, wake } = parts
  const revision = new ScheduleRevision()
  const newId = idMaker(() => time.now())
  return {
    identity: () =>
      wait(
        database.transaction(function* (session) {
          yield* sweepReceipts(session, time.now())
          return yield* identityOf(session, time.now())
        }),
      ),
    *pack(request) {
      const page = isOfSchedules(request) ? packSchedules(parts, revision, request, newId()) : packJobs(parts, request, newId())
      return yield* page
    },
    *read(request) {
      if (isOfSchedules(request)) return yield* schedulePage(database, request, yield* pausedQueues(database, request))
      const { rows: _, ...page } = yield* jobPage(database, parts, request, false)
      return page
    },
    parcels: () => parcelLabels(database),
    parcel: (id) => wait(database.transaction((session) => storedParcel(session, id))),
    *unpack(parcel) {
      const refusals = yield* unpack(parts, revision, parcel)
      wake()
      return refusals
    },
    *close(id, returned) {
      yield* close(parts, id, new Set(returned))
      if (returned.length > 0) wake()
    },
    facts: (request) => factsOf(database, request, time),
    learn: (facts) => learn(parts, facts),
  }
}

/** Schedules come first. Their cursor is `s` followed by the name; the cursor of jobs is `j` followed by the id. */
function isOfSchedules({ after }: PageRequest): boolean {
  return after === null || after.startsWith('s')
}

const nothing: Contents = { paused: [], schedules: [], units: [] }

function* packSchedules(
  { database, time }: TransferParts,
  revision: ScheduleRevision,
  request: PackRequest,
  id: string,
): Steps<Packed> {
  return yield* wait(
    database.transaction(function* (session) {
      yield* revision.hold(session)
      const now = time.now()
      const isNew = request.after === null && (yield* mark(session, `paused:${request.target}`, request.target, now))
      const page = yield* schedulePage(session, request, isNew ? yield* pausedQueues(session, request) : [])
      yield* leaveSchedules(session, page.schedules, request.target, revision, now)
      return yield* packed(session, page, request, id, now)
    }),
  )
}

function* schedulePage(session: SqlSession, request: PageRequest, paused: readonly string[]): Steps<Page> {
  const { schedules, last } = yield* readSchedules(session, request.after?.slice(1) ?? '', request.queue, request.limit)
  return { ...nothing, paused, schedules, after: last === null ? 'j' : `s${last}`, unreadable: [] }
}

/** Only included in the first page. */
function* pausedQueues(session: SqlSession, { after, queue }: PageRequest): Steps<readonly string[]> {
  if (after !== null) return []
  const rows = yield* wait(session.all<{ queue: string }>('SELECT queue FROM {paused} ORDER BY queue'))
  return rows.map((row) => row.queue).filter((name) => queue === null || name === queue)
}

function* packJobs(parts: TransferParts, request: PackRequest, id: string): Steps<Packed> {
  const { database, time } = parts
  const found = yield* candidates(database, request, request.after?.slice(1) ?? '')
  return yield* wait(
    database.transaction(function* (session) {
      if (found.linked.length > 0) yield* lockMutex(session, 'links')
      const { rows, ...page } = yield* jobPage(session, parts, request, true, found)
      yield* takeOut(session, rows, page.units, parts)
      return yield* packed(session, page, request, id, time.now())
    }),
  )
}

function* packed(session: SqlSession, page: Page, { target }: PackRequest, id: string, now: number): Steps<Packed> {
  const { after, unreadable, ...contents } = page
  const isEmpty = [contents.paused, contents.schedules, contents.units].every(({ length }) => length === 0)
  if (isEmpty) return { parcel: null, after, unreadable }
  const parcel: Parcel = { id, target, origin: yield* identityOf(session, now), ...contents }
  yield* storeParcel(session, parcel, now)
  return { parcel, after, unreadable }
}

/** Jobs that are not running, with their workflows. `isLocked` means that they are about to be taken. */
function* jobPage(
  session: SqlSession,
  { lanes }: TransferParts,
  request: PageRequest,
  isLocked: boolean,
  known?: Candidates,
): Steps<Taken> {
  const found = known ?? (yield* candidates(session, request, request.after?.slice(1) ?? ''))
  const plain = yield* plainRows(session, found.plain, isLocked)
  const sets: JobColumns[][] = []
  const unreadable: string[] = []
  for (const row of plain) {
    if (isReadable(row)) sets.push([row])
    else unreadable.push(row.id)
  }
  for (const ids of yield* components(session, found.linked)) {
    const members = yield* memberRows(session, ids, isLocked)
    if (members.some(({ state }) => state === stateNumber.running)) continue
    const bad = members.filter((row) => !isReadable(row))
    if (bad.length === 0) sets.push([...members])
    else unreadable.push(...bad.map(({ id }) => id))
  }
  const units = yield* readUnits(session, lanes, sets)
  const after = found.last === null ? null : `j${found.last}`
  return { ...nothing, units, after, unreadable, rows: sets.flat() }
}

/** Jobs locked by another transaction are skipped. */
function* plainRows(session: SqlSession, ids: readonly string[], isLocked: boolean): Steps<readonly JobColumns[]> {
  if (ids.length === 0) return []
  const locking = isLocked ? 'FOR UPDATE SKIP LOCKED' : ''
  const question = `SELECT ${jobColumns} FROM {jobs by PRIMARY} WHERE {jobs}.id IN (?) ORDER BY {jobs}.id ${locking}`
  const rows = yield* wait(session.all<JobColumns>(question, [ids]))
  return rows.filter(({ state, linked }) => linked === 0 && state !== stateNumber.running)
}

function* memberRows(session: SqlSession, ids: readonly string[], isLocked: boolean): Steps<readonly JobColumns[]> {
  const question = `SELECT ${jobColumns} FROM {jobs by PRIMARY} WHERE {jobs}.id IN (?) ORDER BY {jobs}.id ${isLocked ? 'FOR UPDATE' : ''}`
  return yield* wait(session.all<JobColumns>(question, [[...ids].sort()]))
}

function* unpack(parts: TransferParts, revision: ScheduleRevision, parcel: Parcel): Steps<readonly Refusal[]> {
  const { database, uniqueKeys, time } = parts
  const lanes = yield* lanesOf(parts, parcel.units)
  const isLinked = parcel.units.some(({ jobs }) => jobs.length > 1 || jobs.some(({ links }) => links !== null))
  return yield* wait(
    database.transaction(function* (session) {
      if (isLinked) yield* lockMutex(session, 'links')
      if (parcel.schedules.length > 0) yield* revision.hold(session)
      const known = yield* receiptOf(session, parcel.id, time.now())
      if (known !== null) return known
      yield* pauseQueues(session, parcel.paused)
      yield* placeSchedules(session, parcel.schedules, revision, time.now())
      const { units, refusals } = yield* admit(session, parcel.units, uniqueKeys, time.now())
      yield* placeUnits(session, units, lanes, parts)
      yield* writeReceipt(session, parcel.id, refusals)
      return refusals
    }),
  )
}

function* pauseQueues(session: SqlSession, queues: readonly string[]): Steps<void> {
  if (queues.length === 0) return
  const rows = queues.map((queue) => ({ queue }))
  yield* wait(session.insertNew('paused', ['queue'], rows, 'queue'))
}

function* close(parts: TransferParts, id: string, returned: ReadonlySet<string>): Steps<void> {
  const { database } = parts
  const known = yield* wait(database.transaction((session) => storedParcel(session, id)))
  if (known === null) return
  const units = known.units.filter(({ jobs }) => returned.has(jobs[0]?.id as string))
  const lanes = yield* lanesOf(parts, units)
  yield* wait(
    database.transaction(function* (session) {
      if (units.length > 0) yield* lockMutex(session, 'links')
      if ((yield* storedParcel(session, id)) === null) return
      yield* freeReserved(
        session,
        known.units.flatMap(({ jobs }) => jobs),
      )
      yield* placeUnits(session, units, lanes, parts)
      yield* forgetParcel(session, id)
    }),
  )
}
