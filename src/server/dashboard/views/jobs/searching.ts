import type { JobCount, JobRecord } from '../../../../queue/contract/store.ts'
import { SeenJobs } from '../../../http/seen-jobs.ts'
import { HttpProblem } from '../../../http/wire/http-problem.ts'
import type { Viewer } from '../../access/viewer.ts'
import type { ViewDeps } from '../../deps.ts'
import { parseFilter, type Term } from '../../shared/filter.ts'
import type { BulkPreview } from '../../shared/views/bulk.ts'
import type { JobPage } from '../../shared/views/job.ts'
import { rowOf } from './job-row.ts'
import { type Matching, matchingOf } from './matching.ts'
import { defaultBudget, walk } from './walk.ts'

const pageSize = 50
const mostCounted = 10_000
const samples = 3

export interface SearchRequest {
  readonly filter: string
  readonly cursor: string | undefined
}

/** A page of jobs that match a filter. */
export async function searchJobs(deps: ViewDeps, viewer: Viewer, { filter, cursor }: SearchRequest): Promise<JobPage> {
  const { store, clock, redaction } = deps
  const terms = termsOf(filter)
  const matching = matchingOf(terms, clock.now(), redaction)
  const whole = wholeId(terms)
  if (whole !== null && cursor === undefined) return pageOfOne(deps, viewer, whole)
  const found: JobRecord[] = []
  const { next, searched } = await walk(
    store,
    clock,
    { filter: matching.stored, grant: viewer.grant, cursor, oldest: matching.oldest },
    (record) => {
      if (matching.matches(record)) found.push(record)
      return found.length === pageSize ? 'enough' : 'more'
    },
  )
  const jobs = found.map((record) => rowOf(record, redaction))
  return { jobs, next, searched, total: await countedTotal(deps, viewer, matching) }
}

/** How many jobs match a filter, and some of them. */
export async function previewOf(deps: ViewDeps, viewer: Viewer, filter: string): Promise<BulkPreview> {
  const { store, clock, redaction } = deps
  const matching = matchingOf(termsOf(filter), clock.now(), redaction)
  const first: JobRecord[] = []
  let count = 0
  const budget = { ...defaultBudget, ms: 2_000 }
  const total = await countedTotal(deps, viewer, matching)
  const { next, searched } = await walk(
    store,
    clock,
    { filter: matching.stored, grant: viewer.grant, cursor: undefined, oldest: matching.oldest, budget, rowsAtOnce: 200 },
    (record) => {
      if (!matching.matches(record)) return 'more'
      if (first.length < samples) first.push(record)
      count++
      return count === mostCounted || (total !== null && first.length === samples) ? 'enough' : 'more'
    },
  )
  const rows = first.map((record) => rowOf(record, redaction))
  return { count: total ?? count, exact: total !== null || next === null, samples: rows, searched }
}

/** The conditions of a filter; throws if it contains an unknown word. */
export function termsOf(filter: string): readonly Term[] {
  const parsed = parseFilter(filter)
  if (parsed.problems === undefined) return parsed.terms
  const said = parsed.problems.map(({ message }) => message).join('; ')
  throw new HttpProblem('invalid-request', said, {
    errors: parsed.problems.map(({ word, message }) => ({ pointer: word, detail: message })),
  })
}

const uuid = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

/** A pasted id means exactly that job. */
function wholeId(terms: readonly Term[]): string | null {
  const [only] = terms
  if (terms.length !== 1 || only === undefined || only.negated || !['text', 'id'].includes(only.key)) return null
  const id = (only.values[0] ?? '').trim().toLowerCase()
  return uuid.test(id) ? id : null
}

async function pageOfOne({ store, redaction }: ViewDeps, { grant }: Viewer, id: string): Promise<JobPage> {
  const record = await store.get(id)
  const isSeen = record !== null && grant.sees(record)
  const jobs = isSeen ? [rowOf(await new SeenJobs(grant, store).of(record), redaction)] : []
  return { jobs, next: null, searched: { jobs: jobs.length, until: jobs[0]?.createdAt ?? null }, total: jobs.length }
}

/** From the maintained counters, if they know it. */
async function countedTotal({ snapshots }: ViewDeps, { grant }: Viewer, { counted }: Matching): Promise<number | null> {
  if (counted === null) return null
  const names = (key: 'queue' | 'job') => counted.terms.filter((term) => term.key === key).map(({ values }) => new Set(values))
  const [queues, jobs] = [names('queue'), names('job')]
  const isMeant = ({ queue, job }: JobCount) =>
    grant.sees({ queue, job }) && queues.every((each) => each.has(queue)) && jobs.every((each) => each.has(job))
  const states = counted.terms.filter(({ key }) => key === 'state').length > 1 ? null : counted.states
  if (states === null && counted.states !== null) return null
  return (await snapshots.counts())
    .filter(isMeant)
    .reduce(
      (sum, { counts }) =>
        sum + (states ?? Object.keys(counts)).reduce((total, state) => total + counts[state as keyof typeof counts], 0),
      0,
    )
}
