import type { JobFilter, JobRecord, JobStore } from '../../queue/contract/store.ts'
import { type FilterProblem, parseFilter } from '../dashboard/shared/filter.ts'
import { type Matching, matchingOf } from '../dashboard/views/jobs/matching.ts'
import { Redaction } from '../dashboard/views/jobs/redaction.ts'

export type StoredFilter = Omit<JobFilter, 'limit' | 'before'>

/** Which jobs to find: `stored` is the part that the store finds by its indexes, `matches` tests the jobs that it returns. */
export interface JobSearch extends Pick<Matching, 'matches' | 'oldest'> {
  readonly stored: StoredFilter
  /** False if the store finds all of it by itself. */
  readonly isSearch: boolean
}

/** Maximum number of jobs that one search examines: the newest of those that the store finds. */
export const mostExamined = 10_000

/**
 * A search in the syntax of the dashboard's filter, `error:"refused" payload.order:777 since:24h`, combined with the given
 * filter. `onProblems` throws.
 */
export function jobSearch(
  where: string | undefined,
  given: StoredFilter,
  now: number,
  onProblems: (problems: readonly FilterProblem[]) => never,
): JobSearch {
  if (where === undefined) return { stored: given, matches: () => true, oldest: null, isSearch: false }
  const parsed = parseFilter(where)
  if (parsed.problems !== undefined) return onProblems(parsed.problems)
  const { stored, matches, oldest } = matchingOf(parsed.terms, now, new Redaction())
  // A field that is in both must satisfy both: the store applies `given`, and `matches` tests the other.
  return { stored: { ...stored, ...given }, matches, oldest, isSearch: true }
}

export interface FoundJobs {
  readonly jobs: readonly JobRecord[]
  /** Number of jobs examined. */
  readonly examined: number
  /** False if there are older jobs that were not examined. */
  readonly isComplete: boolean
}

const rowsAtOnce = 200

/** The newest matching jobs among the newest `mostExamined`. */
export async function findJobs(store: JobStore, search: JobSearch, limit: number, before?: string): Promise<FoundJobs> {
  const jobs: JobRecord[] = []
  let examined = 0
  let last = before
  while (examined < mostExamined) {
    const size = Math.min(search.isSearch ? rowsAtOnce : limit, mostExamined - examined)
    const rows = await store.list({ ...search.stored, limit: size, ...(last !== undefined && { before: last }) })
    for (const row of rows) {
      if (search.oldest !== null && row.createdAt < search.oldest) return { jobs, examined, isComplete: true }
      examined++
      if (search.matches(row)) jobs.push(row)
      if (jobs.length === limit) return { jobs, examined, isComplete: false }
    }
    if (rows.length < size) return { jobs, examined, isComplete: true }
    last = rows.at(-1)?.id
  }
  return { jobs, examined, isComplete: false }
}
