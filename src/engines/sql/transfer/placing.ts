import { type Steps, wait } from '../../../core/answer.ts'
import { randomToken } from '../../../core/id.ts'
import type { Envelope } from '../../../envelope/envelope.ts'
import { isFinal } from '../../../queue/contract/job-state.ts'
import type { GoneJobs, MovedEdge, MovedJob, MovedLinks, MovedUnit } from '../../../queue/contract/transfer.ts'
import { isSuccess } from '../../../queue/workflows/waiting.ts'
import type { QueueTime } from '../../servers/queue-time.ts'
import { type UniqueKeys, writeUntil } from '../keys/unique-keys.ts'
import { CountChanges, type Counts } from '../lanes/counts.ts'
import type { Lane, Lanes } from '../lanes/lanes.ts'
import type { Groups } from '../limits/groups.ts'
import { rowOf, sentColumns } from '../rows/sent-rows.ts'
import { type ColumnName, stateNumber } from '../rows/tables.ts'
import { writeTags } from '../rows/tags.ts'
import type { SqlRow, SqlSession } from '../session.ts'
import { childKey, doomOf, type Edge, newEdgeColumns, outcomeNumber, targetOf } from '../workflows/edges.ts'
import { logColumns, occurrenceColumns } from './reading.ts'
import { heldDigest, lastingDigest } from './removing.ts'

export interface PlacingParts {
  readonly lanes: Lanes
  readonly counts: Counts
  readonly groups: Groups
  readonly uniqueKeys: UniqueKeys
  readonly time: QueueTime
}

/** The lanes of jobs, by job id. */
export type LanesOfJobs = ReadonlyMap<string, Lane>

/** Missing lanes are created in transactions of their own. */
export function* lanesOf({ lanes }: PlacingParts, units: readonly MovedUnit[]): Steps<LanesOfJobs> {
  const found = new Map<string, Lane>()
  for (const isRecurring of [false, true]) {
    const jobs = units.flatMap((unit) => unit.jobs).filter(({ schedule }) => (schedule !== null) === isRecurring)
    if (jobs.length === 0) continue
    const places = yield* lanes.of(jobs, isRecurring)
    for (const [index, { id }] of jobs.entries()) found.set(id, places[index] as Lane)
  }
  return found
}

const jobColumns = [
  ...sentColumns,
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

type PlacedRow = SqlRow & { readonly id: string; readonly lane: number; readonly grp: string; readonly state: number }

/** Stores units with everything that belongs to their jobs. The caller has checked that there is room for them. */
export function* placeUnits(
  session: SqlSession,
  units: readonly MovedUnit[],
  lanes: LanesOfJobs,
  parts: PlacingParts,
): Steps<void> {
  const jobs = units.flatMap((unit) => unit.jobs)
  if (jobs.length === 0) return
  const awaited = new Set(jobs.flatMap(({ links }) => links?.edges.filter(({ end }) => end === null).map(({ id }) => id) ?? []))
  const claims = new Map(jobs.filter(({ onceKeys }) => onceKeys.length > 0).map(({ id }) => [id, randomToken()]))
  const rows = jobs.map((job) => rowFor(job, lanes.get(job.id) as Lane, parts.time, awaited, claims.get(job.id) ?? null))
  yield* wait(session.insert('jobs', jobColumns, rows))
  yield* arrive(session, rows, lanes, parts)
  yield* placeKeys(session, jobs, claims, parts)
  yield* placeOccurrences(session, jobs)
  yield* writeTags(session, jobs)
  yield* placeLogs(session, jobs)
  yield* placeLinks(session, jobs)
  yield* addGone(
    session,
    units.flatMap(({ gone }) => gone),
  )
}

function rowFor(job: MovedJob, lane: Lane, time: QueueTime, awaited: ReadonlySet<string>, token: string | null): PlacedRow {
  const plain: Envelope = { ...job, uniqueKey: null, links: null }
  const isWaiting = job.state === 'ready' || job.state === 'scheduled'
  const state = isWaiting ? (job.runAt <= time.now() ? stateNumber.ready : stateNumber.scheduled) : stateNumber[job.state]
  return {
    ...rowOf(plain, lane, time, job.schedule),
    state,
    run_at: job.runAt,
    unique_key: job.uniqueKey,
    unique_until: job.uniqueKey === null ? null : writeUntil(job.uniqueUntil),
    held_key: heldDigest(job),
    linked: +(job.links !== null || awaited.has(job.id)),
    attempts: job.attempts,
    rescues: job.rescues,
    token,
    owner: job.owner,
    started_at: job.startedAt,
    finished_at: job.finishedAt,
    result: job.result,
    seal: job.seal,
    progress: job.progress,
    reason: job.reason,
    errors: job.errors.length === 0 ? null : JSON.stringify(job.errors),
  }
}

function* arrive(
  session: SqlSession,
  rows: readonly PlacedRow[],
  lanes: LanesOfJobs,
  { counts, groups }: PlacingParts,
): Steps<void> {
  const changes = new CountChanges()
  for (const { lane, state } of rows) changes.add(lane, state, 1)
  yield* groups.arrive(
    session,
    rows.filter(({ id, state }) => state === stateNumber.ready && lanes.get(id)?.grouped === 1),
  )
  yield* changes.write(session, counts)
}

function* placeKeys(
  session: SqlSession,
  jobs: readonly MovedJob[],
  claims: ReadonlyMap<string, string>,
  { uniqueKeys, time }: PlacingParts,
): Steps<void> {
  const lasting = jobs.flatMap((job) => {
    const held_key = lastingDigest(job)
    return held_key === null ? [] : [{ held_key, job_id: job.id, until: writeUntil(job.uniqueUntil) }]
  })
  yield* uniqueKeys.take(session, lasting, time.now())
  const held = jobs.flatMap(({ id, onceKeys }) => {
    const claim = claims.get(id) as string
    return onceKeys.map((once_key) => ({ once_key, job_id: id, claimed_at: time.now(), seal: claim }))
  })
  if (held.length === 0) return
  yield* wait(session.insertNew('once', ['once_key', 'job_id', 'claimed_at', 'seal'], held, 'once_key'))
}

/** An occurrence that already exists is the job's own: it was copied before. */
function* placeOccurrences(session: SqlSession, jobs: readonly MovedJob[]): Steps<void> {
  const rows = jobs.flatMap(({ occurrence }) => (occurrence === null ? [] : [occurrenceRow(occurrence)]))
  if (rows.length === 0) return
  const changes = ['stored_at', 'outcome', 'started_at', 'finished_at'] as const
  yield* wait(session.upsert('occurrences', occurrenceColumns, rows, ['schedule', 'at'], changes))
}

export function occurrenceRow(occurrence: NonNullable<MovedJob['occurrence']>) {
  const { schedule, at, jobId, storedAt, outcome, startedAt, finishedAt } = occurrence
  const end = outcome === null ? null : stateNumber[outcome]
  return { schedule, at, job_id: jobId, stored_at: storedAt, outcome: end, started_at: startedAt, finished_at: finishedAt }
}

function* placeLogs(session: SqlSession, jobs: readonly MovedJob[]): Steps<void> {
  const rows = jobs.flatMap(({ id, log }) =>
    log.map(({ attempt, first, last, text, bytes }) => {
      return { job_id: id, first_line: first, last_line: last, attempt, bytes, body: text }
    }),
  )
  if (rows.length > 0) yield* wait(session.insertNew('logs', logColumns, rows, 'job_id'))
}

const linkColumns = ['id', 'root', 'parent', 'longest_wait_ms', 'pending', 'gives_up_at', 'doom', 'ending', 'stands_in'] as const
const edgeColumns = [...newEdgeColumns, 'waiting', 'outcome', 'result', 'seal', 'error'] as const

function* placeLinks(session: SqlSession, jobs: readonly MovedJob[]): Steps<void> {
  const linked = jobs.flatMap(({ id, links }) => (links === null ? [] : [{ id, links }]))
  if (linked.length === 0) return
  yield* wait(
    session.insert(
      'links',
      linkColumns,
      linked.map(({ id, links }) => linkRow(id, links)),
    ),
  )
  const edges = linked.flatMap(({ id, links }) => links.edges.map((edge) => ({ ...edgeRow(id, edge) })))
  yield* wait(session.insert('edges', edgeColumns, edges))
}

function linkRow(id: string, links: MovedLinks): SqlRow {
  return {
    id,
    root: links.root,
    parent: links.parent,
    longest_wait_ms: links.longestWaitMs,
    pending: links.edges.filter(({ waiting }) => waiting).length,
    gives_up_at: links.givesUpAt,
    doom: doomFor(id, links),
    ending: links.ending === null ? null : JSON.stringify(links.ending),
    stands_in: +links.edges.some(({ policy }) => policy === 'rescue'),
  }
}

function doomFor(id: string, { isDoomed, edges }: MovedLinks): string | null {
  const fatal = isDoomed ? edges.find(({ policy, end }) => isFatal(policy) && end !== null && !isSuccess(end)) : undefined
  return fatal === undefined ? null : JSON.stringify(doomOf({ ...edgeRow(id, fatal), edge: 0 }))
}

function isFatal(policy: MovedEdge['policy']): boolean {
  return policy === 'fail' || policy === 'skip'
}

function edgeRow(waiter: string, { id, job, key, policy, waiting, end }: MovedEdge): Omit<Edge, 'edge'> {
  return {
    waiter,
    ...targetOf(id),
    target_job: job,
    child_key: key === null ? null : childKey(key),
    child_name: key,
    policy,
    waiting: +waiting,
    outcome: end === null ? null : outcomeNumber(end),
    result: end?.result ?? null,
    seal: end?.seal ?? null,
    error: end?.error ?? null,
  }
}

function* addGone(session: SqlSession, gone: readonly GoneJobs[]): Steps<void> {
  if (gone.length === 0) return
  const roots = [...new Set(gone.map(({ root }) => root))]
  const question = 'SELECT root, state, jobs FROM {gone} WHERE root IN (?)'
  const known = yield* wait(session.all<{ root: string; state: number; jobs: number }>(question, [roots]))
  const before = new Map(known.map(({ root, state, jobs }) => [`${state}.${root}`, jobs]))
  const rows = gone.map(({ root, state, jobs }) => {
    const number = stateNumber[state]
    return { root, state: number, jobs: jobs + (before.get(`${number}.${root}`) ?? 0) }
  })
  yield* wait(session.upsert('gone', ['root', 'state', 'jobs'], rows, ['root', 'state'], ['jobs']))
}

/** Whether a job has neither begun nor ended. Otherwise it is more than a place in a schedule. */
export function isUnbegun({ state, startedAt }: MovedJob): boolean {
  return startedAt === null && !isFinal(state)
}
