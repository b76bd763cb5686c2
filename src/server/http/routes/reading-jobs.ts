import type { JobStore } from '../../../backends/store.ts'
import type { JobPage, JobSummary } from '../../../client/api/job-shapes.ts'
import { prefix } from '../../../client/api/operation.ts'
import type { Grant } from '../../access/grant.ts'
import type { HttpDeps } from '../deps.ts'
import { noSuchJob } from '../http-problem.ts'
import { isoOrNull, jobJson, summaryJson } from '../job-json.ts'
import type { Handlers } from '../route.ts'

/** Looking at jobs. */
export function readingJobs({ jobs, service }: HttpDeps): Pick<Handlers, 'listJobs' | 'listDead' | 'getJob' | 'explainJob'> {
  const { store } = service.queue.backend
  return {
    listJobs: async ({ query, exchange: { grant } }) => pageReply(await pageOf(store, '/jobs', query, {}, grant)),
    listDead: async ({ query, exchange: { grant } }) => pageReply(await pageOf(store, '/dead', query, { state: 'dead' }, grant)),

    getJob: async ({ params: { id } }) => {
      const record = await store.get(id)
      if (record === null) throw noSuchJob(id)
      return { status: 200, body: jobJson(record) }
    },

    explainJob: async ({ params }) => {
      const { id, job, state, reasons } = await jobs.why(params.id)
      const told = reasons.map(({ rule, message, until }) => ({ rule, message, until: isoOrNull(until?.getTime() ?? null) }))
      return { status: 200, body: { id, job, state, reasons: told } }
    },
  }
}

type Filter = Omit<Parameters<JobStore['list']>[0], 'limit' | 'root'> & { readonly limit?: number }

const defaultLimit = 50

/** Rows carry payloads, of which a page shows nothing: no more of them are in memory at once. */
const rowsAtOnce = 50
/** A token that is limited to a few jobs among very many gets a short page, and the address of the next. */
const mostRows = 5_000

/** One more is looked for than was asked for: whether there is a next page is known, not guessed. */
async function pageOf(store: JobStore, path: string, query: Filter, fixed: Filter, grant: Grant): Promise<JobPage> {
  const { limit = defaultLimit } = query
  await refuseUnknown(store, query.before)
  const jobs: JobSummary[] = []
  let { before } = query
  for (let looked = 0; looked < mostRows; looked += rowsAtOnce) {
    const size = grant.isLimited ? rowsAtOnce : Math.min(rowsAtOnce, limit + 1 - jobs.length)
    const rows = await store.list({ ...query, ...fixed, ...(before !== undefined && { before }), limit: size })
    for (const row of rows) {
      if (grant.sees(row) && jobs.length === limit) return { jobs, next: addressOf(path, { ...query, limit }, jobs.at(-1)?.id) }
      if (grant.sees(row)) jobs.push(summaryJson(row))
      before = row.id
    }
    if (rows.length < size) return { jobs, next: null }
  }
  return { jobs, next: addressOf(path, { ...query, limit }, before) }
}

/** Where it is gone, backends differ in where they go on: better none of that. */
async function refuseUnknown(store: JobStore, id: string | undefined): Promise<void> {
  if (id !== undefined && (await store.get(id)) === null) throw noSuchJob(id)
}

function addressOf(path: string, query: Filter, before = ''): string {
  const parameters = new URLSearchParams()
  for (const [name, value] of Object.entries({ ...query, before })) parameters.set(name, String(value))
  return `${prefix}${path}?${parameters}`
}

function pageReply(body: JobPage) {
  return { status: 200, body, headers: body.next === null ? {} : { link: `<${body.next}>; rel="next"` } } as const
}
