import { type Steps, wait } from '../../../core/answer.ts'
import { type FinalState, isFinal, jobStates } from '../../../queue/contract/job-state.ts'
import type { PlacedLogChunk } from '../../../queue/contract/log-store.ts'
import type { GoneJobs, MovedEdge, MovedJob, MovedLinks, MovedOccurrence, MovedUnit } from '../../../queue/contract/transfer.ts'
import { readEnding, readErrors, readOutcome } from '../../../queue/model/spoilt.ts'
import { isLasting, readUntil } from '../keys/unique-keys.ts'
import type { Lane, Lanes } from '../lanes/lanes.ts'
import { digestOfKey } from '../rows/job-row.ts'
import { type RecordRow, recordColumns } from '../rows/record.ts'
import { stateNumber } from '../rows/tables.ts'
import type { SqlSession } from '../session.ts'
import { type Edge, edgeColumns, linkOf } from '../workflows/edges.ts'
import type { WorkflowPlace } from '../workflows/places.ts'

/** All columns of a job that are moved. */
export type JobColumns = Omit<RecordRow, 'parent' | 'root'> & {
  readonly unique_until: number | null
  readonly linked: number
}

export const jobColumns = [...recordColumns, 'unique_until', 'linked'].map((column) => `{jobs}.${column}`).join(', ')

const waiterColumns = 'id, root, parent, longest_wait_ms, pending, gives_up_at, doom, ending, stands_in'

/** What is stored about jobs besides their rows, by job id. */
interface Beside {
  readonly lanes: ReadonlyMap<number, Lane>
  readonly places: ReadonlyMap<string, WorkflowPlace>
  readonly edges: ReadonlyMap<string, readonly Edge[]>
  readonly occurrences: ReadonlyMap<string, MovedOccurrence>
  readonly onceKeys: ReadonlyMap<string, readonly string[]>
  readonly logs: ReadonlyMap<string, readonly PlacedLogChunk[]>
  /** The jobs that hold their keys for a time or forever. */
  readonly lasting: ReadonlySet<string>
}

/** Locked jobs with everything stored about them, in the same sets. */
export function* readUnits(
  session: SqlSession,
  lanes: Lanes,
  sets: readonly (readonly JobColumns[])[],
): Steps<readonly MovedUnit[]> {
  const rows = sets.flat()
  if (rows.length === 0) return []
  const beside = yield* readBeside(session, lanes, rows)
  const roots = new Set([...beside.places.values()].map(({ root }) => root))
  const gone = yield* readGone(session, [...roots])
  return sets.map((set) => {
    const own = new Set(set.flatMap(({ id }) => beside.places.get(id)?.root ?? []))
    return { jobs: set.map((row) => movedJob(row, beside)), gone: gone.filter(({ root }) => own.has(root)) }
  })
}

function* readBeside(session: SqlSession, lanes: Lanes, rows: readonly JobColumns[]): Steps<Beside> {
  const linked = rows.filter((row) => row.linked === 1).map(({ id }) => id)
  const recurring = rows.filter(({ schedule }) => schedule !== null).map(({ id }) => id)
  const numbers = [...new Set(rows.map(({ lane }) => lane))]
  const known = yield* lanes.numbered(session, numbers)
  const places =
    linked.length === 0
      ? []
      : yield* wait(session.all<WorkflowPlace>(`SELECT ${waiterColumns} FROM {links} WHERE id IN (?)`, [linked]))
  const ending = places.filter((place) => place.ending !== null).map(({ id }) => id)
  return {
    lanes: new Map(known.map((lane) => [lane.lane, lane])),
    places: new Map(places.map((place) => [place.id, place])),
    edges: yield* readEdges(session, linked),
    occurrences: new Map((yield* readOccurrences(session, recurring)).map((each) => [each.jobId, each])),
    onceKeys: yield* readOnceKeys(session, ending),
    logs: yield* readLogs(
      session,
      rows.map(({ id }) => id),
    ),
    lasting: yield* readLasting(session, rows),
  }
}

function* readEdges(session: SqlSession, ids: readonly string[]): Steps<ReadonlyMap<string, readonly Edge[]>> {
  const edges = new Map<string, Edge[]>()
  if (ids.length === 0) return edges
  const question = `SELECT ${edgeColumns.join(', ')} FROM {edges} WHERE waiter IN (?) ORDER BY edge`
  for (const edge of yield* wait(session.all<Edge>(question, [ids]))) {
    edges.set(edge.waiter, [...(edges.get(edge.waiter) ?? []), edge])
  }
  return edges
}

interface OccurrenceColumns {
  readonly schedule: string
  readonly at: number
  readonly job_id: string
  readonly stored_at: number
  readonly outcome: number | null
  readonly started_at: number | null
  readonly finished_at: number | null
}

export const occurrenceColumns = ['schedule', 'at', 'job_id', 'stored_at', 'outcome', 'started_at', 'finished_at'] as const

export function movedOccurrence(row: OccurrenceColumns): MovedOccurrence {
  const { schedule, at, job_id, stored_at, outcome, started_at, finished_at } = row
  return {
    schedule,
    at,
    jobId: job_id,
    storedAt: stored_at,
    outcome: readOutcome(outcome),
    startedAt: started_at,
    finishedAt: finished_at,
  }
}

export function* occurrencesWhere(
  session: SqlSession,
  where: string,
  values: readonly (string | number | readonly string[])[],
): Steps<readonly MovedOccurrence[]> {
  const question = `SELECT ${occurrenceColumns.join(', ')} FROM {occurrences} WHERE ${where}`
  return (yield* wait(session.all<OccurrenceColumns>(question, values))).map(movedOccurrence)
}

function* readOccurrences(session: SqlSession, ids: readonly string[]): Steps<readonly MovedOccurrence[]> {
  return ids.length === 0 ? [] : yield* occurrencesWhere(session, 'job_id IN (?)', [ids])
}

function* readOnceKeys(session: SqlSession, ids: readonly string[]): Steps<ReadonlyMap<string, readonly string[]>> {
  const keys = new Map<string, string[]>()
  if (ids.length === 0) return keys
  const held = 'SELECT once_key, job_id FROM {once} WHERE done_until IS NULL AND job_id IN (?) ORDER BY once_key'
  for (const { once_key, job_id } of yield* wait(session.all<{ once_key: string; job_id: string }>(held, [ids]))) {
    keys.set(job_id, [...(keys.get(job_id) ?? []), once_key])
  }
  return keys
}

interface LogColumns {
  readonly job_id: string
  readonly first_line: number
  readonly last_line: number
  readonly attempt: number
  readonly bytes: number
  readonly body: string
}

export const logColumns = ['job_id', 'first_line', 'last_line', 'attempt', 'bytes', 'body'] as const

function* readLogs(session: SqlSession, ids: readonly string[]): Steps<ReadonlyMap<string, readonly PlacedLogChunk[]>> {
  const logs = new Map<string, PlacedLogChunk[]>()
  const question = `SELECT ${logColumns.join(', ')} FROM {logs} WHERE job_id IN (?) ORDER BY job_id, first_line`
  for (const { job_id, first_line, last_line, attempt, bytes, body } of yield* wait(session.all<LogColumns>(question, [ids]))) {
    const chunk = { attempt, first: first_line, last: last_line, text: body, bytes }
    const known = logs.get(job_id)
    if (known === undefined) logs.set(job_id, [chunk])
    else known.push(chunk)
  }
  return logs
}

function* readLasting(session: SqlSession, rows: readonly JobColumns[]): Steps<ReadonlySet<string>> {
  const keyed = rows.filter(({ unique_key, unique_until }) => typeof unique_key === 'string' && isLasting(unique_until))
  if (keyed.length === 0) return new Set()
  const digests = keyed.map(({ unique_key }) => digestOfKey(unique_key as string))
  const held = yield* wait(session.all<{ job_id: string }>('SELECT job_id FROM {unique_keys} WHERE held_key IN (?)', [digests]))
  return new Set(held.map(({ job_id }) => job_id))
}

function* readGone(session: SqlSession, roots: readonly string[]): Steps<readonly GoneJobs[]> {
  if (roots.length === 0) return []
  const question = 'SELECT root, state, jobs FROM {gone} WHERE root IN (?) ORDER BY root, state'
  const rows = yield* wait(session.all<{ root: string; state: number; jobs: number }>(question, [roots]))
  return rows.flatMap(({ root, state, jobs }) => {
    const end = jobStates[state]
    return end !== undefined && isFinal(end) ? [{ root, state: end, jobs }] : []
  })
}

function movedJob(row: JobColumns, beside: Beside): MovedJob {
  const { queue, job, priority, single, grouped } = beside.lanes.get(row.lane) as Lane
  const place = beside.places.get(row.id)
  return {
    id: row.id,
    number: row.number,
    job,
    queue,
    priority,
    singleInstance: single === 1,
    group: grouped === 1 ? row.grp : null,
    identity: row.identity,
    payload: row.payload,
    signature: row.signature,
    createdAt: row.created_at,
    runAt: row.run_at,
    uniqueKey: row.unique_key,
    uniqueUntil: readUntil(row.unique_until),
    holdsLastingKey: beside.lasting.has(row.id),
    state: jobStates[row.state] as MovedJob['state'],
    attempts: row.attempts,
    rescues: row.rescues,
    startedAt: row.started_at,
    finishedAt: row.finished_at,
    owner: row.owner,
    result: row.result,
    seal: row.seal,
    progress: row.progress,
    reason: row.reason,
    errors: readErrors(row.errors),
    schedule: row.schedule,
    occurrence: beside.occurrences.get(row.id) ?? null,
    onceKeys: beside.onceKeys.get(row.id) ?? [],
    log: beside.logs.get(row.id) ?? [],
    links: place === undefined ? null : movedLinks(place, beside.edges.get(row.id) ?? []),
  }
}

function movedLinks(place: WorkflowPlace, edges: readonly Edge[]): MovedLinks {
  const { root, parent, longest_wait_ms, gives_up_at, ending, doom } = place
  return {
    root,
    parent,
    longestWaitMs: longest_wait_ms,
    givesUpAt: gives_up_at,
    ending: ending === null ? null : readEnding(ending),
    isDoomed: doom !== null,
    edges: edges.map(movedEdge),
  }
}

function movedEdge(edge: Edge): MovedEdge {
  const { id, job, key, onFailure, waiting, state, result, seal, error } = linkOf(edge, null)
  const end = edge.outcome === null ? null : { state: state as FinalState | 'missing', result, seal, error }
  return { id, job, key, policy: onFailure, waiting, end }
}

/** Whether everything that is moved can be read: something else may have been written to the table. */
export function isReadable(row: JobColumns): boolean {
  const texts = [row.identity, row.payload]
  const numbers = [row.created_at, row.run_at, row.attempts, row.rescues]
  const mayBeNull = [row.signature, row.unique_key, row.owner, row.result, row.seal, row.progress, row.reason, row.schedule]
  return (
    texts.every((each) => typeof each === 'string') &&
    numbers.every(Number.isSafeInteger) &&
    mayBeNull.every((each) => each === null || typeof each === 'string') &&
    jobStates[row.state] !== undefined &&
    row.state !== stateNumber.running
  )
}
