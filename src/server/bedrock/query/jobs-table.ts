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

/** All jobs that the protocol knows; null where there are more than that. */
export async function readJobs(jobs: WireQueue, mostJobs: number): Promise<readonly JobsRow[] | null> {
  const { store } = jobs.deps.queue.backend
  const records: JobRecord[] = []
  let before: string | undefined
  for (;;) {
    const page = await store.list({ limit: rowsPerLook, ...(before !== undefined && { before }) })
    records.push(...page.filter((record) => wireJobOf(record) !== null))
    if (records.length > mostJobs) return null
    if (page.length < rowsPerLook) break
    before = page.at(-1)?.id
  }
  const numbers = await store.numbers.assign(records.map(({ id }) => id))
  const byId = new Map(records.map(({ id }, index) => [id, numbers[index] ?? null]))
  return records.flatMap((record) => rowOf(record, byId)).sort((a, b) => a[1] - b[1])
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
