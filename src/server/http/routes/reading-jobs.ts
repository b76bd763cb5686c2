import { readJobLog } from '../../../app/handles/job-log.ts'
import { whyOf } from '../../../app/handles/why.ts'
import type { JobPage, JobSummary } from '../../../client/api/job-shapes.ts'
import { prefix } from '../../../client/api/operation.ts'
import type { Json } from '../../../core/text/json.ts'
import type { JobStore } from '../../../queue/contract/store.ts'
import type { Grant } from '../../access/grant.ts'
import type { FilterProblem } from '../../dashboard/shared/filter.ts'
import { jobSearch } from '../../jobs/job-search.ts'
import type { HttpDeps } from '../deps.ts'
import type { Handlers } from '../route.ts'
import { SeenJobs } from '../seen-jobs.ts'
import { bookmarkOf, markedBy } from '../wire/bookmark.ts'
import { invalidRequest, noSuchJob } from '../wire/http-problem.ts'
import { iso, isoOrNull, jobJson, summaryJson } from '../wire/job-json.ts'

/** Reads jobs. */
export function readingJobs({
  service: { queue },
}: HttpDeps): Pick<Handlers, 'listJobs' | 'listDead' | 'getJob' | 'getJobLog' | 'explainJob'> {
  const { store } = queue.backend
  return {
    listJobs: async ({ query, exchange: { grant } }) => {
      return pageReply(await pageOf(store, '/jobs', { query, fixed: {}, now: queue.settings.clock.now() }, grant))
    },
    listDead: async ({ query, exchange: { grant } }) => {
      const asked = { query, fixed: { state: 'dead' } as const, now: queue.settings.clock.now() }
      return pageReply(await pageOf(store, '/dead', asked, grant))
    },

    getJob: async ({ params: { id }, exchange: { grant } }) => {
      const record = await store.get(id)
      if (record === null) throw noSuchJob(id)
      return { status: 200, body: jobJson(await new SeenJobs(grant, store).of(record)) }
    },

    getJobLog: async ({ params: { id }, query: { after = 0 } }) => {
      if ((await store.get(id)) === null) throw noSuchJob(id)
      // As with payloads, encrypted data is not shown.
      const { lines, dropped, last } = await readJobLog(store.logs, id, { after }, null)
      const shown = lines.map(({ fields, at, ...line }) => ({
        ...line,
        at: iso(at),
        ...(fields && { fields: fields as Fields }),
      }))
      return { status: 200, body: { lines: shown, dropped, last } }
    },

    explainJob: async ({ params, exchange: { grant } }) => {
      const { id, job, state, reasons } = await whyOf(params.id, new SeenJobs(grant, store).whyStore, queue)
      const told = reasons.map(({ rule, message, until }) => ({ rule, message, until: isoOrNull(until?.getTime() ?? null) }))
      return { status: 200, body: { id, job, state, reasons: told } }
    },
  }
}

type Fields = Readonly<Record<string, Json>>

type Filter = Omit<Parameters<JobStore['list']>[0], 'limit' | 'root'> & { readonly limit?: number; readonly where?: string }

interface AskedPage {
  readonly query: Filter
  readonly fixed: Filter
  readonly now: number
}

const defaultLimit = 50

/** Rows to read at once. They include payloads, which a page does not show, so keep few of them in memory. */
const rowsAtOnce = 50
/**
 * Maximum number of rows to read for a page. A token limited to a few jobs among very many gets a short page and the address of
 * the next one.
 */
const mostRows = 5_000

/** Reads one more job than requested, to know whether there is a next page. */
async function pageOf(store: JobStore, path: string, { query, fixed, now }: AskedPage, grant: Grant): Promise<JobPage> {
  const { limit = defaultLimit, where, before: _, ...given } = query
  const { stored, matches, oldest } = jobSearch(where, { ...given, ...fixed }, now, refuseFilter)
  // A search stops after `mostRows` and returns what it has found.
  const isSearched = grant.isLimited || where !== undefined
  let before = beginningOf(query.before)
  const jobs: JobSummary[] = []
  const seen = new SeenJobs(grant, store)
  let examined = 0
  const told = (searched: number) => (where === undefined ? {} : { searched })
  for (let looked = 0; looked < mostRows; looked += rowsAtOnce) {
    const size = isSearched ? rowsAtOnce : Math.min(rowsAtOnce, limit + 1 - jobs.length)
    const rows = await store.list({ ...stored, ...(before !== undefined && { before }), limit: size })
    for (const row of rows) {
      if (oldest !== null && row.createdAt < oldest) return { jobs, next: null, ...told(examined) }
      before = row.id
      if (!grant.sees(row)) continue
      examined++
      // Filter only what the token may see, so that a filter cannot reveal hidden data.
      const record = await seen.of(row)
      if (!matches(record)) continue
      if (jobs.length === limit) {
        return { jobs, next: addressOf(path, { ...query, limit }, jobs.at(-1)?.id), ...told(examined) }
      }
      jobs.push(summaryJson(record))
    }
    if (rows.length < size) return { jobs, next: null, ...told(examined) }
  }
  return {
    jobs,
    ...told(examined),
    next: addressOf(path, { ...query, limit }, before === undefined || !grant.isLimited ? before : bookmarkOf(before)),
  }
}

function refuseFilter(problems: readonly FilterProblem[]): never {
  throw invalidRequest(problems.map(({ message }) => ({ pointer: 'where', detail: message })))
}

/**
 * Where the list continues. The job itself need not exist: retention may have deleted it since the previous page was read, and
 * lists are ordered by id. So the reply does not reveal whether the job exists.
 */
function beginningOf(before: string | undefined): string | undefined {
  if (before === undefined) return undefined
  const id = markedBy(before) ?? before
  if (!uuid.test(id)) throw noSuchJob(before)
  return id.toLowerCase()
}

const uuid = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i

function addressOf(path: string, query: Filter, before = ''): string {
  const parameters = new URLSearchParams()
  for (const [name, value] of Object.entries({ ...query, before })) parameters.set(name, String(value))
  return `${prefix}${path}?${parameters}`
}

function pageReply(body: JobPage) {
  return { status: 200, body, headers: body.next === null ? {} : { link: `<${body.next}>; rel="next"` } } as const
}
