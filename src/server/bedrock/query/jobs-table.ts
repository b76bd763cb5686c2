import type { JobRecord } from '../../../backends/store.ts'
import { shownRunAt } from '../commands/job-fields.ts'
import { wireNameOf } from '../rules/mock-jobs.ts'
import { wireJobOf } from '../rules/wire-job.ts'
import type { WireQueue } from '../rules/wire-queue.ts'
import { exactWireTime, wireTime } from '../rules/wire-times.ts'

/** A row of the table that a query sees, in the order of its columns. */
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

const rowsPerLook = 1_000

/** In these the protocol knows a job; of those that have succeeded only children whose parents are still there. */
const knownStates = ['ready', 'scheduled', 'blocked', 'running', 'dead', 'cancelled'] as const

/** All jobs that the protocol knows; null where there are more than that, or nobody wants to know any more. */
export async function readJobs(jobs: WireQueue, mostJobs: number, signal: AbortSignal): Promise<readonly JobsRow[] | null> {
  const { store } = jobs.deps.queue.backend
  const records = new Map<string, JobRecord>()
  for (const state of knownStates) {
    let before: string | undefined
    for (;;) {
      const page = await store.list({ state, limit: rowsPerLook, ...(before !== undefined && { before }) })
      for (const record of page) records.set(record.id, record)
      if (records.size > mostJobs || signal.aborted) return null
      if (page.length < rowsPerLook) break
      before = page.at(-1)?.id
    }
  }
  for (const { id, root } of [...records.values()]) {
    if (id !== root) continue
    for (const { record } of await jobs.children(id)) records.set(record.id, record)
    if (signal.aborted) return null
  }
  const numbers = await store.numbers.assign([...records.keys()])
  const byId = new Map([...records.keys()].map((id, index) => [id, numbers[index] ?? null]))
  return [...records.values()].flatMap((record) => rowOf(record, byId)).sort((a, b) => a[1] - b[1])
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
