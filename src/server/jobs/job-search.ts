import type { JobFilter, JobRecord, JobStore } from '../../queue/contract/store.ts'
import { type FilterProblem, parseFilter } from '../dashboard/shared/filter.ts'
import { type Matching, matchingOf } from '../dashboard/views/matching.ts'
import { Redaction } from '../dashboard/views/redaction.ts'

export type StoredFilter = Omit<JobFilter, 'limit' | 'before'>

/** Which jobs are meant: what the store finds by its indexes, and what is looked for in those that it gives. */
export interface JobSearch extends Pick<Matching, 'matches' | 'oldest'> {
  readonly stored: StoredFilter
  /** False where the store finds all of it by itself. */
  readonly isSearch: boolean
}

/** So many jobs one search looks at, the newest of those that the store finds. */
export const mostExamined = 10_000

/**
 * A search in the words of the dashboard's filter, `error:"refused" payload.order:777 since:24h`, beside what was said otherwise.
 * `onProblems` throws.
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
  // What is said in both is tested in both.
  return { stored: { ...stored, ...given }, matches, oldest, isSearch: true }
}

export interface FoundJobs {
  readonly jobs: readonly JobRecord[]
  /** How many jobs were looked at. */
  readonly examined: number
  /** False where there are more, older ones that were not looked at. */
  readonly isComplete: boolean
}

const rowsAtOnce = 200

/** The newest jobs that are meant, among the newest `mostExamined`. */
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
