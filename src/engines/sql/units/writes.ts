import { type Steps, wait } from '../../../core/answer.ts'
import type { Envelope } from '../../../envelope/envelope.ts'
import type { StoredJob } from '../../../queue/rules/jobs/job.ts'
import type { LastingKey } from '../../../queue/rules/keys/unique-keys.ts'
import type { QueueTime } from '../../servers/queue-time.ts'
import { writeOnceMarks } from '../keys/once-marks.ts'
import { type UniqueKeys, writeUntil } from '../keys/unique-keys.ts'
import { CountChanges, type Counts } from '../lanes/counts.ts'
import { crowdOf } from '../lanes/lane-numbers.ts'
import type { Lane, Lanes } from '../lanes/lanes.ts'
import type { Groups } from '../limits/groups.ts'
import { forgetBeside } from '../rows/beside.ts'
import { heldKeyOf, type JobChange, type JobRow, scopedKey } from '../rows/job-row.ts'
import { type Changes, writeChanges } from '../rows/row-changes.ts'
import { plainRowOf, type SentRow, sentColumns } from '../rows/sent-rows.ts'
import { stateNumber } from '../rows/tables.ts'
import { rewriteTags, writeTags } from '../rows/tags.ts'
import type { SqlSession } from '../session.ts'
import { forgetPlaces } from '../workflows/deleted-jobs.ts'
import type { LoadedJob } from './loaded-job.ts'
import type { LoadedQueue } from './loaded-queue.ts'
import { writeOutcomes } from './outcomes.ts'
import { writeEdges, writePlaces } from './workflow-writes.ts'

export interface WritesParts {
  readonly lanes: Lanes
  readonly counts: Counts
  readonly groups: Groups
  readonly uniqueKeys: UniqueKeys
}

/** Finds the lane for an envelope that a rule stores or gives to a job. */
export type LaneOf = (envelope: Envelope, isRecurring: boolean) => Lane

/** What a unit has written: whether a job has become ready. Null if somebody else has stored the same job or key: nothing was written. */
export interface Written {
  readonly released: boolean
}

interface ChangedJob {
  readonly before: JobRow
  readonly after: JobRow
  readonly change: JobChange
  readonly isRemoved: boolean
}

/** Writes everything that the rules have changed in the loaded data, and everything that depends on it. */
export function* writeUnit(queue: LoadedQueue, parts: WritesParts, laneOf: LaneOf, time: QueueTime): Steps<Written | null> {
  const { session } = queue.rows
  const inserted = [...queue.byId].flatMap(([id, job]) => (queue.loaded.has(id) ? [] : [job]))
  const rows = inserted.map((job) => insertion(queue, job, laneOf, time))
  if (!(yield* insertAll(queue, parts, rows))) return null
  const changed = [...queue.loaded.values()].flatMap((job) => changedJob(queue, parts, job, laneOf) ?? [])
  const changes: Changes = new Map(inserted.flatMap((job) => laterColumns(job)))
  for (const { after, change, isRemoved } of changed) if (!isRemoved) changes.set(after.id, change)
  yield* writeChanges(session, 'jobs', changes)
  const released = yield* writeConsequences(session, parts, changed, rows)
  yield* writeOnceMarks(session, [...queue.marks.values()])
  yield* writePlaces(queue)
  yield* writeEdges(queue)
  yield* writeTags(session, rows)
  yield* rewriteTags(session, identitiesIn(changed))
  yield* removeAll(
    session,
    changed.filter(({ isRemoved }) => isRemoved).map(({ before, after }) => ({ ...before, state: after.state })),
  )
  return { released }
}

/** Keys and jobs that others may store at the same moment come first: what was written before a conflict is taken back. */
function* insertAll(queue: LoadedQueue, { uniqueKeys }: WritesParts, rows: readonly SentRow[]): Steps<boolean> {
  const { session } = queue.rows
  const { taken, freed } = lastingKeys(queue)
  yield* uniqueKeys.free(session, freed)
  const got = yield* uniqueKeys.take(session, taken, queue.now)
  const written = rows.length === 0 ? new Set<string>() : yield* wait(session.insertNew('jobs', sentColumns, rows, 'id'))
  if (got.size === taken.length && written.size === rows.length) return true
  if (written.size > 0) yield* wait(session.run('DELETE FROM {jobs} WHERE id IN (?)', [[...written]]))
  yield* uniqueKeys.free(
    session,
    taken.filter(({ held_key }) => got.has(held_key)),
  )
  return false
}

function lastingKeys(queue: LoadedQueue) {
  const changes = queue.lasting.changes().filter(([, before, after]) => !isSameKey(before, after))
  const row = ({ index, jobId, expiresAt }: LastingKey) => ({
    held_key: index,
    job_id: jobId,
    until: writeUntil(Number.isFinite(expiresAt) ? expiresAt : 'ever'),
  })
  return {
    taken: changes.flatMap(([, , after]) => (after === undefined ? [] : [row(after)])),
    freed: changes.flatMap(([, before, after]) => (before === undefined || after !== undefined ? [] : [row(before)])),
  }
}

function isSameKey(before: LastingKey | undefined, after: LastingKey | undefined): boolean {
  return before?.jobId === after?.jobId && before?.expiresAt === after?.expiresAt
}

function insertion(queue: LoadedQueue, job: StoredJob, laneOf: LaneOf, time: QueueTime): SentRow {
  const { envelope, occurrence } = job
  const plain = plainRowOf(envelope, laneOf(envelope, occurrence !== null), time, job.runAt)
  const { uniqueKey, uniqueUntil, group, id } = envelope
  const unique_key = uniqueKey === null ? null : scopedKey(job.sentAs, uniqueKey)
  const unique_until = uniqueKey === null ? null : writeUntil(uniqueUntil)
  const state = stateNumber[job.state]
  const keys = { unique_key, unique_until, held_key: heldKeyOf({ state, unique_key, unique_until, started_at: null }) }
  const linked = +(job.links !== null || queue.edges.isNewTarget(id))
  return Object.assign(plain, { state, grp: group ?? '', ...keys, schedule: occurrence?.schedule ?? null, linked })
}

/** What a job that has ended as soon as it was stored has besides. */
function laterColumns(job: StoredJob): readonly (readonly [string, JobChange])[] {
  const { finishedAt, reason, errors } = job
  if (finishedAt === null) return []
  return [[job.envelope.id, { finished_at: finishedAt, reason, errors: errors.length === 0 ? null : JSON.stringify(errors) }]]
}

function changedJob(queue: LoadedQueue, { lanes }: WritesParts, job: LoadedJob, laneOf: LaneOf): ChangedJob | undefined {
  const { row: before } = job
  const isRemoved = queue.byId.get(before.id) === undefined
  const isLinked = before.linked === 1 || queue.places.has(before.id) || queue.edges.isNewTarget(before.id)
  const change: JobChange = { ...job.changed(laneOf), ...(isLinked && before.linked !== 1 ? { linked: 1 } : {}) }
  if (!isRemoved && Object.keys(change).length === 0) return undefined
  const after = { ...before, ...change }
  const held_key = heldKeyOf(after)
  const lane = after.lane === before.lane ? {} : { crowd: crowdOf(lanes.get(after.lane)) }
  const key = held_key === before.held_key ? {} : { held_key }
  return { before, after: { ...after, held_key }, change: { ...change, ...lane, ...key }, isRemoved }
}

function* writeConsequences(
  session: SqlSession,
  { counts, groups, lanes }: WritesParts,
  changed: readonly ChangedJob[],
  inserted: readonly SentRow[],
): Steps<boolean> {
  const changes = new CountChanges()
  for (const { lane, state } of inserted) changes.add(lane, state, 1)
  for (const { before, after, isRemoved } of changed) {
    changes.add(before.lane, before.state, -1)
    if (!isRemoved) changes.add(after.lane, after.state, 1)
  }
  const isMoved = ({ before, after }: ChangedJob) =>
    after.state !== before.state || after.lane !== before.lane || after.grp !== before.grp
  const isReady = ({ state }: Pick<JobRow, 'state'>) => state === stateNumber.ready
  const arrived = [
    ...inserted.filter(isReady),
    ...changed.filter((each) => isMoved(each) && !each.isRemoved && isReady(each.after)).map(({ after }) => after),
  ]
  const left = changed.filter((each) => isReady(each.before) && (isMoved(each) || each.isRemoved)).map(({ before }) => before)
  const isGrouped = ({ lane }: Pick<JobRow, 'lane'>) => lanes.get(lane).grouped === 1
  yield* groups.leave(session, left.filter(isGrouped))
  yield* writeOutcomes(
    session,
    changed.filter(({ before, after }) => after.state !== before.state && after.schedule !== null).map(({ after }) => after),
  )
  yield* groups.arrive(session, arrived.filter(isGrouped))
  yield* changes.write(session, counts)
  return arrived.length > 0
}

function identitiesIn(changed: readonly ChangedJob[]): ReadonlyMap<string, string> {
  return new Map(
    changed.flatMap(({ after: { id }, change: { identity }, isRemoved }) =>
      identity === undefined || isRemoved ? [] : [[id, identity] as const],
    ),
  )
}

function* removeAll(session: SqlSession, removed: readonly JobRow[]): Steps<void> {
  if (removed.length === 0) return
  const ids = removed.map(({ id }) => id)
  yield* forgetPlaces(
    session,
    removed.filter(({ linked }) => linked === 1),
  )
  yield* forgetBeside(session, ids)
  yield* wait(session.run('DELETE FROM {jobs} WHERE id IN (?)', [ids]))
}
