import { type Steps, wait } from '../../../../core/answer.ts'
import type { Envelope } from '../../../../envelope/envelope.ts'
import { scopedKey } from '../../../../queue/model/unique-key.ts'
import type { StoredJob } from '../../../../queue/rules/jobs/job.ts'
import { holdsByState, type LastingKey } from '../../../../queue/rules/keys/unique-keys.ts'
import type { StoredOccurrence } from '../../../../queue/rules/schedules/timeline.ts'
import type { QueueTime } from '../../../servers/queue-time.ts'
import { type UniqueKeys, writeUntil } from '../../keys/unique-keys.ts'
import { CountChanges, type Counts } from '../../lanes/counts.ts'
import { crowdOf } from '../../lanes/lane-numbers.ts'
import type { Lane, Lanes } from '../../lanes/lanes.ts'
import type { Groups } from '../../limits/groups.ts'
import { type JobChange, type JobRow, rowEnded } from '../../rows/job-row.ts'
import { logColumns } from '../../rows/log-row.ts'
import { type Changes, writeChanges } from '../../rows/row-changes.ts'
import { plainRowOf, type SentRow, sentColumns } from '../../rows/sent-rows.ts'
import { type ColumnName, stateNumber } from '../../rows/tables.ts'
import { rewriteTags, writeTags } from '../../rows/tags.ts'
import type { SqlSession } from '../../session.ts'
import { addGone, forgetPlaces } from '../../workflows/deleted-jobs.ts'
import type { LoadedJob } from '../loaded/loaded-job.ts'
import type { LoadedQueue } from '../loaded/loaded-queue.ts'
import { type OnceClaims, onceClaims, writeHeldOnce, writeOnceMarks } from './once-writes.ts'
import { writeAway, writeOccurrences, writeSchedules } from './schedule-writes.ts'
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
  if (queue.hasOnlyNewJobs) return yield* writeNewJobs(queue, parts, inserted, laneOf, time)
  const claims = onceClaims(queue)
  const isLater = inserted.some(hasBegunOrEnded)
  const rows = inserted.map((job) => {
    const row = insertion(queue, job, laneOf, time)
    return isLater ? Object.assign(row, laterColumnsOf(job, claims)) : row
  })
  if (!(yield* insertAll(queue, parts, rows, isLater ? [...sentColumns, ...laterColumns] : sentColumns))) return null
  const changed = [...queue.loaded.values()].flatMap((job) => changedJob(queue, parts, job, laneOf) ?? [])
  const changes: Changes = new Map()
  for (const { after, change, isRemoved } of changed) if (!isRemoved) changes.set(after.id, change)
  yield* writeChanges(session, 'jobs', changes)
  const released = yield* writeConsequences(queue, parts, changed, rows)
  yield* writeOnceMarks(queue)
  yield* writeHeldOnce(queue, claims)
  yield* writeSchedules(queue)
  yield* writeOccurrences(queue)
  yield* writeAway(queue)
  yield* writePlaces(queue)
  yield* writeEdges(queue)
  yield* addGone(
    session,
    queue.gone.map((gone) => ({ ...gone, state: stateNumber[gone.state] })),
  )
  yield* wait(session.insertNew('logs', logColumns, queue.logs.restored, 'job_id'))
  yield* writeTags(session, rows)
  yield* rewriteTags(session, identitiesIn(changed))
  yield* removeAll(
    session,
    changed.filter(({ isRemoved }) => isRemoved).map(({ before, after }) => ({ ...before, state: after.state })),
  )
  return { released }
}

function* writeNewJobs(
  queue: LoadedQueue,
  parts: WritesParts,
  jobs: readonly StoredJob[],
  laneOf: LaneOf,
  time: QueueTime,
): Steps<Written | null> {
  const rows = jobs.map((job) => insertion(queue, job, laneOf, time))
  if (!(yield* insertAll(queue, parts, rows, sentColumns))) return null
  const released = yield* writeConsequences(queue, parts, [], rows)
  yield* writeTags(queue.rows.session, rows)
  return { released }
}

/** Keys and jobs that others may store at the same moment come first: what was written before a conflict is taken back. */
function* insertAll(
  queue: LoadedQueue,
  { uniqueKeys }: WritesParts,
  rows: readonly SentRow[],
  columns: readonly ColumnName<'jobs'>[],
): Steps<boolean> {
  const { session } = queue.rows
  const { taken, freed } = lastingKeys(queue)
  yield* uniqueKeys.free(session, freed)
  const got = yield* uniqueKeys.take(session, taken, queue.now)
  const written = rows.length === 0 ? new Set<string>() : yield* wait(session.insertNew('jobs', columns, rows, 'id'))
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
    freed: changes.flatMap(([, before]) => (before === undefined ? [] : [row(before)])),
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
  const keys = { unique_key, unique_until, held_key: heldKeyOf(job) }
  const linked = +(job.links !== null || queue.edges.isNewTarget(id))
  return Object.assign(plain, { state, grp: group ?? '', ...keys, schedule: occurrence?.schedule ?? null, linked })
}

/** The digest of a job's unique key while its state holds the key: its entry in the unique index. */
function heldKeyOf(job: StoredJob): string | null {
  return holdsByState(job) ? job.keyIndex : null
}

/** The columns in which a job that was just stored differs from others only if it ended at once, or comes from another queue. */
const laterColumns = [
  'attempts',
  'rescues',
  'token',
  'owner',
  'started_at',
  'finished_at',
  'result',
  'seal',
  'progress',
  'reason',
  'errors',
] as const satisfies readonly ColumnName<'jobs'>[]

function hasBegunOrEnded({ startedAt, finishedAt, attempts, rescues, ...job }: StoredJob): boolean {
  const isUntouched = attempts === 0 && rescues === 0 && job.owner === null && job.progress === null && job.errors.length === 0
  return !(isUntouched && startedAt === null && finishedAt === null)
}

function laterColumnsOf(job: StoredJob, claims: OnceClaims) {
  const { attempts, rescues, owner, startedAt, finishedAt, result, seal, progress, reason, errors } = job
  return {
    ...{ attempts, rescues, owner, result, seal, progress, reason },
    token: claims.get(job.envelope.id) ?? null,
    started_at: startedAt,
    finished_at: finishedAt,
    errors: errors.length === 0 ? null : JSON.stringify(errors),
  }
}

function changedJob(queue: LoadedQueue, { lanes }: WritesParts, job: LoadedJob, laneOf: LaneOf): ChangedJob | undefined {
  const { row: before } = job
  const isRemoved = queue.byId.get(before.id) === undefined
  const isLinked = before.linked === 1 || queue.places.has(before.id) || queue.edges.isNewTarget(before.id)
  const change: JobChange = { ...job.changed(laneOf), ...(isLinked && before.linked !== 1 ? { linked: 1 } : {}) }
  if (!isRemoved && Object.keys(change).length === 0) return undefined
  const after = { ...before, ...change }
  const held_key = heldKeyOf(job)
  const lane = after.lane === before.lane ? {} : { crowd: crowdOf(lanes.get(after.lane)) }
  const key = held_key === before.held_key ? {} : { held_key }
  return { before, after: { ...after, held_key }, change: { ...change, ...lane, ...key }, isRemoved }
}

function* writeConsequences(
  { rows: { session }, byId, loaded, occurrences }: LoadedQueue,
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
  const arrivalOf = ({ id }: Pick<JobRow, 'id'>) => byId.get(id)?.arrival ?? 0
  const arrived = [
    ...inserted.filter(isReady),
    ...changed.filter((each) => isMoved(each) && !each.isRemoved && isReady(each.after)).map(({ after }) => after),
  ].sort((a, b) => arrivalOf(a) - arrivalOf(b))
  const left = changed.filter((each) => isReady(each.before) && (isMoved(each) || each.isRemoved)).map(({ before }) => before)
  const isGrouped = ({ lane }: Pick<JobRow, 'lane'>) => lanes.get(lane).grouped === 1
  const removed = changed.filter(({ isRemoved }) => isRemoved).map(({ before }) => before)
  yield* groups.leave(session, left.filter(isGrouped), [...arrived, ...removed].filter(isGrouped))
  // Occurrences that the rules have loaded have followed their jobs.
  const followed = new Set<StoredOccurrence | null | undefined>([...occurrences.loaded].map(({ occurrence }) => occurrence))
  const isUnfollowed = ({ before, after }: ChangedJob) =>
    after.state !== before.state && after.schedule !== null && !followed.has(loaded.get(after.id)?.occurrence)
  yield* writeOutcomes(
    session,
    changed.filter(isUnfollowed).map(({ after }) => after),
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

/** Deletes the log lines and tags of deleted jobs. Most jobs have neither and cost only one lookup. */
function* forgetBeside(session: SqlSession, ids: readonly string[]): Steps<void> {
  const found = yield* wait(
    session.all<{ kind: string }>(
      `SELECT 'logs' AS kind FROM {logs} WHERE job_id IN (?) UNION SELECT 'tags' AS kind FROM {tags} WHERE job_id IN (?)`,
      [ids, ids],
    ),
  )
  for (const { kind } of found)
    yield* wait(
      session.run(kind === 'logs' ? 'DELETE FROM {logs} WHERE job_id IN (?)' : 'DELETE FROM {tags} WHERE job_id IN (?)', [ids]),
    )
}

/**
 * Writes how occurrences of schedules ended, after the states of their jobs have changed. An outcome outlives its job, and is
 * cleared when the job is put back.
 */
function* writeOutcomes(session: SqlSession, jobs: readonly JobRow[]): Steps<void> {
  const rows = jobs.map((job) =>
    rowEnded(job)
      ? { job_id: job.id, outcome: job.state, started_at: job.started_at, finished_at: job.finished_at }
      : { job_id: job.id, outcome: null, started_at: null, finished_at: null },
  )
  yield* wait(session.update('occurrences', ['job_id'], ['outcome', 'started_at', 'finished_at'], rows))
}
