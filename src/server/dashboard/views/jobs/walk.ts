import { type Clock, stopwatchOf } from '../../../../core/time/clock.ts'
import type { JobFilter, JobRecord, JobStore } from '../../../../queue/contract/store.ts'
import type { Grant } from '../../../access/grant.ts'
import { SeenJobs } from '../../../http/seen-jobs.ts'
import { bookmarkOf, markedBy } from '../../../http/wire/bookmark.ts'
import { HttpProblem } from '../../../http/wire/http-problem.ts'
import type { Searched } from '../../shared/views/job.ts'

/** What one request may read at most; the first limit reached ends it. The result says how far it got. */
export interface Budget {
  readonly rows: number
  readonly bytes: number
  readonly ms: number
}

export const defaultBudget: Budget = { rows: 20_000, bytes: 32 * 1024 * 1024, ms: 250 }

export interface WalkRequest {
  readonly filter: Omit<JobFilter, 'limit' | 'before'>
  readonly grant: Grant
  readonly cursor: string | undefined
  /** Jobs older than this are not read. */
  readonly oldest?: number | null
  readonly budget?: Budget
  /** How many rows to read at a time. */
  readonly rowsAtOnce?: number
}

export interface Walk {
  readonly next: string | null
  readonly searched: Searched
}

/** Whether to stop or to continue. It receives jobs as this grant may see them, so that no filter finds hidden values. */
export type Visit = (record: JobRecord) => 'enough' | 'more'

/**
 * Goes through jobs, newest first, until the visitor has enough, there are no more or the budget is spent. `next` is
 * null only at the end.
 */
export async function walk(store: JobStore, clock: Clock, request: WalkRequest, visit: Visit): Promise<Walk> {
  const { grant, oldest = null, budget = defaultBudget, rowsAtOnce = 50 } = request
  const elapsed = stopwatchOf(clock)
  // A viewer limited to one queue should not wait for the jobs of others.
  const [only, ...others] = grant.queues ?? []
  const filter = only !== undefined && others.length === 0 ? { queue: only, ...request.filter } : request.filter
  const start = request.cursor === undefined ? null : await beginning(store, request.cursor)
  const seen = new SeenJobs(grant, store)
  const trail: string[] = []
  let before = start?.before
  let [read, bytes] = [0, 0]
  // What is told counts only jobs that the viewer may see.
  let [jobs, until] = [0, null as number | null]
  for (;;) {
    const rows = await store.list({ ...filter, limit: rowsAtOnce, ...(before !== undefined && { before }) })
    for (const row of rows) {
      before = row.id
      read++
      bytes += row.payload.length + (row.result?.length ?? 0)
      const isSeen = grant.sees(row)
      if (isSeen) {
        jobs++
        until = row.createdAt
      }
      trail.push(row.id)
      if (start !== null && row.id >= start.below) continue
      if (oldest !== null && row.createdAt < oldest) return { next: null, searched: { jobs, until } }
      if (isSeen && visit(await seen.of(row)) === 'enough') return { next: cursorOf(trail), searched: { jobs, until } }
    }
    if (rows.length < rowsAtOnce) return { next: null, searched: { jobs, until } }
    if (read >= budget.rows || bytes >= budget.bytes || elapsed() >= budget.ms) {
      return { next: cursorOf(trail), searched: { jobs, until } }
    }
  }
}

/**
 * Positions before the last job that the cursor remembers, in case the last jobs are deleted before the next page is
 * requested.
 */
const anchors = [0, 1, 5, 20, 40]

/** The cursor does not reveal ids of jobs that the viewer may not see. */
function cursorOf(trail: readonly string[]): string {
  const ids = anchors.flatMap((back) => trail[trail.length - 1 - back] ?? [])
  return bookmarkOf(ids.join(' '))
}

interface Beginning {
  readonly before?: string
  /** Ids at or above this one were shown already. */
  readonly below: string
}

/** Continues after the last job that still exists. If all are gone, starts over and skips what was shown. */
async function beginning(store: JobStore, cursor: string): Promise<Beginning> {
  const ids = markedBy(cursor)?.split(' ')
  const below = ids?.[0]
  if (ids === undefined || below === undefined) {
    throw new HttpProblem('invalid-request', 'The server has restarted since this page was opened: reload it')
  }
  for (const id of ids) if ((await store.get(id)) !== null) return { before: id, below }
  return { below }
}
