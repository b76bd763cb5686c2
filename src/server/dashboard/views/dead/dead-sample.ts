import { type Clock, stopwatchOf } from '../../../../core/time/clock.ts'
import type { JobCount, JobRecord, JobStore } from '../../../../queue/contract/store.ts'
import type { Grant } from '../../../access/grant.ts'
import { SeenJobs } from '../../../http/seen-jobs.ts'

/** Some of the dead jobs, and how many there are by the maintained counters. */
export interface DeadSample {
  readonly records: readonly JobRecord[]
  readonly total: number
  /** How many dead jobs this one stands for: more than 1 if not all of its name and queue were read. */
  readonly weightOf: (record: JobRecord) => number
}

/** What is read: all, if they are few; else the newest of all, and the newest of each of the names that have the most. */
const few = 500
const newestOfAll = 100
const mostNames = 32
const newestOfName = 32
/** Nothing more is read after this. */
const patienceMs = 1_000
const mostBytes = 16 * 1024 * 1024
const rowsAtOnce = 50

/** Costs the same however many dead jobs there are. `counts` are those that the viewer may see. */
export async function readDeadSample(
  store: JobStore,
  clock: Clock,
  grant: Grant,
  counts: readonly JobCount[],
): Promise<DeadSample> {
  const elapsed = stopwatchOf(clock)
  const names = counts.filter((each) => each.counts.dead > 0).toSorted((a, b) => b.counts.dead - a.counts.dead)
  const found = new Map<string, JobRecord>()
  const read = new Map<string, number>()
  const readOf = (each: Named) => read.get(nameOf(each)) ?? 0
  let bytes = 0
  const isEnough = () => elapsed() > patienceMs || bytes > mostBytes
  const add = (records: readonly JobRecord[]) => {
    for (const record of records) {
      bytes += record.payload.length + (record.result?.length ?? 0)
      if (found.has(record.id) || !grant.sees(record)) continue
      found.set(record.id, record)
      read.set(nameOf(record), readOf(record) + 1)
    }
  }
  const total = names.reduce((sum, each) => sum + each.counts.dead, 0)
  const wanted = total === 0 ? 0 : total <= few ? few : newestOfAll
  for (let [from, before] = [0, undefined as string | undefined]; from < wanted && !isEnough(); from += rowsAtOnce) {
    const records = await store.list({ state: 'dead', limit: rowsAtOnce, ...(before !== undefined && { before }) })
    add(records)
    before = records.at(-1)?.id
    if (records.length < rowsAtOnce) break
  }
  for (const { job, queue, counts: states } of names.slice(0, mostNames)) {
    if (isEnough()) break
    if (readOf({ job, queue }) < Math.min(states.dead, newestOfName))
      add(await store.list({ state: 'dead', job, queue, limit: newestOfName }))
  }
  const deadOf = new Map(names.map((each) => [nameOf(each), each.counts.dead]))
  const seen = new SeenJobs(grant, store)
  return {
    records: await Promise.all([...found.values()].map((record) => seen.of(record))),
    total,
    weightOf: (record) => Math.max(1, (deadOf.get(nameOf(record)) ?? 0) / Math.max(1, readOf(record))),
  }
}

type Named = Pick<JobRecord, 'job' | 'queue'>

function nameOf({ job, queue }: Named): string {
  return `${queue}\n${job}`
}
