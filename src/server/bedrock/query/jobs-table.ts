import type { JobState } from '../../../queue/contract/job-state.ts'
import type { JobFilter, JobRecord, JobStore } from '../../../queue/contract/store.ts'
import { shownRunAt } from '../commands/job-fields.ts'
import { type WireState, wireJobOf } from '../jobs/format/wire-job.ts'
import { exactWireTime, wireTime } from '../jobs/format/wire-times.ts'
import { wireNameOf } from '../jobs/mock-jobs.ts'
import type { WireQueue } from '../jobs/wire-queue.ts'
import type { Narrowing } from './narrowing.ts'

/** A row of the table that a query sees, in column order. */
export type JobsRow = readonly [
  created: string,
  jobID: number,
  state: string,
  name: string,
  nextRun: string,
  lastRun: string | null,
  repeat: string,
  data: string,
  priority: number,
  parentJobID: number,
  retryAfter: string,
]

/** Maximum amount that one query may read. */
export interface CopyLimits {
  readonly jobs: number
  readonly bytes: number
}

/** Page sizes adapt so that a page holds about this much. */
const bytesPerPage = 1024 * 1024
const firstPage = 10
const largestPage = 1_000
/** If there are more names than this, read all jobs instead of those of each name. */
const mostNames = 100
const mostEndedOfNames = 10_000

/** States in which the protocol knows a job. */
const knownStates: readonly JobState[] = ['ready', 'scheduled', 'blocked', 'running', 'dead', 'cancelled']
/** States in which the protocol only knows children whose parents still exist. */
const endedStates: readonly JobState[] = ['succeeded', 'skipped']

const statesOf: Readonly<Record<WireState, readonly JobState[]>> = {
  QUEUED: ['ready', 'scheduled'],
  PAUSED: ['ready', 'scheduled', 'blocked'],
  RUNNING: ['running'],
  RUNQUEUED: ['running'],
  FAILED: ['dead'],
  FINISHED: ['succeeded'],
  CANCELLED: ['cancelled', 'skipped'],
}

/** The jobs that the protocol knows and the query asks for, one page at a time. Throws if there are too many for a query. */
export async function* readJobs(jobs: WireQueue, narrowing: Narrowing, limits: CopyLimits): AsyncGenerator<readonly JobsRow[]> {
  const most = narrowing.limit ?? Number.POSITIVE_INFINITY
  let read = 0
  let bytes = 0
  let found = 0
  for await (const page of most === 0 ? [] : pagesOf(jobs, narrowing)) {
    read += page.length
    if (read > limits.jobs) throw tooMuch(`it would read more than ${limits.jobs} jobs`)
    const rows = (await rowsOf(page, jobs)).filter((row) => isWanted(row, narrowing)).slice(0, most - found)
    bytes += rows.reduce((sum, row) => sum + bytesOf(row), 0)
    if (bytes > limits.bytes) throw tooMuch(`the jobs that it would read have more than ${limits.bytes} bytes`)
    if (rows.length > 0) yield rows
    found += rows.length
    if (found >= most) return
  }
}

function tooMuch(what: string): QueryTooLarge {
  return new QueryTooLarge(`${what}: narrow it by jobID, name or state`)
}

/** Thrown when a query exceeds its limits. */
export class QueryTooLarge extends Error {}

function isWanted([, number, state, name]: JobsRow, { numbers, states, names }: Narrowing): boolean {
  if (numbers !== null && !numbers.includes(number)) return false
  return (states === null || states.includes(state)) && names.every((test) => test(name))
}

async function* pagesOf(jobs: WireQueue, narrowing: Narrowing): AsyncGenerator<readonly JobRecord[]> {
  const { store } = jobs.deps.queue.backend
  const states = narrowing.states?.flatMap((state) => statesOf[state as WireState] ?? []) ?? [...knownStates, ...endedStates]
  const isMeant = (state: JobState) => states.includes(state)
  if (narrowing.numbers !== null) yield* byNumbers(narrowing.numbers, jobs)
  else {
    const names = narrowing.names.length === 0 ? null : await namesFor(narrowing, endedStates.filter(isMeant), store)
    if (names !== null) {
      for (const job of names) {
        for (const state of [...knownStates, ...endedStates].filter(isMeant)) yield* listed({ job, state }, store)
      }
    } else yield* all(isMeant, store)
  }
}

async function* byNumbers(numbers: readonly number[], { deps }: WireQueue): AsyncGenerator<readonly JobRecord[]> {
  const { store } = deps.queue.backend
  for (const id of await deps.numbers.idsOf(numbers)) {
    const record = id === null ? null : await store.get(id)
    if (record !== null) yield [record]
  }
}

/** The existing names that the query asks for; null if reading all jobs is cheaper. */
async function namesFor({ names }: Narrowing, ended: readonly JobState[], store: JobStore): Promise<readonly string[] | null> {
  const meant = (await store.counts()).filter(({ job }) => names.every((test) => test(wireNameOf(job))))
  const jobs = [...new Set(meant.map(({ job }) => job))]
  const endedJobs = meant.reduce((sum, { counts }) => sum + ended.reduce((count, state) => count + counts[state], 0), 0)
  return jobs.length > mostNames || endedJobs > mostEndedOfNames ? null : jobs
}

/** Ended children are found through their parents, all of which are in known states. */
async function* all(isMeant: (state: JobState) => boolean, store: JobStore): AsyncGenerator<readonly JobRecord[]> {
  const ended = endedStates.filter(isMeant)
  for (const state of knownStates.filter((each) => ended.length > 0 || isMeant(each))) {
    for await (const page of listed({ state }, store)) {
      yield page
      for (const { id, root } of page) {
        if (id !== root) continue
        for (const each of ended) yield* listed({ root, state: each }, store)
      }
    }
  }
}

async function* listed(filter: Omit<JobFilter, 'limit' | 'before'>, store: JobStore): AsyncGenerator<readonly JobRecord[]> {
  let limit = firstPage
  for (let before: string | undefined; ; ) {
    const page = await store.list({ ...filter, limit, ...(before !== undefined && { before }) })
    yield page
    if (page.length < limit) return
    before = page.at(-1)?.id
    const bytes = page.reduce((sum, { payload, result, progress }) => sum + sizeOf(payload, result, progress), 0)
    const fitting = Math.floor(bytesPerPage / Math.max(1, bytes / page.length))
    limit = Math.max(1, Math.min(largestPage, fitting, limit * 10))
  }
}

function sizeOf(...texts: readonly (string | null)[]): number {
  return texts.reduce((sum, text) => sum + (text?.length ?? 0), 0)
}

function bytesOf(row: JobsRow): number {
  return row.reduce<number>((sum, value) => sum + (typeof value === 'string' ? Buffer.byteLength(value) : 8), 0)
}

async function rowsOf(page: readonly JobRecord[], jobs: WireQueue): Promise<readonly JobsRow[]> {
  const known: JobRecord[] = []
  for (const record of page) if (await isKnown(record, jobs)) known.push(record)
  const parents = known.flatMap(({ parent }) => (parent === null ? [] : [parent]))
  const ids = [...new Set([...known.map(({ id }) => id), ...parents])]
  const numbers = ids.length === 0 ? [] : await jobs.deps.numbers.allOf(ids)
  const byId = new Map(ids.map((id, index) => [id, numbers[index] ?? null]))
  return known.flatMap((record) => rowOf(record, byId))
}

async function isKnown({ state, parent }: JobRecord, jobs: WireQueue): Promise<boolean> {
  return !endedStates.includes(state) || (parent !== null && (await jobs.byId(parent)) !== null)
}

function rowOf(record: JobRecord, numbers: ReadonlyMap<string, number | null>): readonly JobsRow[] {
  const job = wireJobOf(record)
  const number = numbers.get(record.id) ?? null
  if (job === null || number === null) return []
  const { state, lastRun, data, priority, meta } = job
  const parent = record.parent === null ? 0 : (numbers.get(record.parent) ?? 0)
  const row: JobsRow = [
    wireTime(record.createdAt),
    number,
    state,
    wireNameOf(record.job),
    exactWireTime(shownRunAt(job)),
    lastRun === null ? null : wireTime(lastRun),
    record.repeat ?? '',
    data,
    priority,
    parent,
    meta.retryAfter,
  ]
  return [row]
}
