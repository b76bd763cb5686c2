import type { JobStore } from '../../../backends/store.ts'
import type { JobPage } from '../../../client/api/job-shapes.ts'
import { prefix } from '../../../client/api/operation.ts'
import type { HttpDeps } from '../deps.ts'
import { noSuchJob } from '../http-problem.ts'
import { isoOrNull, jobJson, summaryJson } from '../job-json.ts'
import type { Handlers } from '../route.ts'

/** Looking at jobs. */
export function readingJobs({ jobs, service }: HttpDeps): Pick<Handlers, 'listJobs' | 'listDead' | 'getJob' | 'explainJob'> {
  const { store } = service.queue.backend
  return {
    listJobs: async ({ query }) => pageReply(await pageOf(store, '/jobs', query, {})),
    listDead: async ({ query }) => pageReply(await pageOf(store, '/dead', query, { state: 'dead' })),

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

/** One more is looked for than was asked for: whether there is a next page is known, not guessed. */
async function pageOf(store: JobStore, path: string, query: Filter, fixed: Filter): Promise<JobPage> {
  const { limit = defaultLimit, before } = query
  // Where it is gone, backends differ in where they go on: better none of that.
  if (before !== undefined && (await store.get(before)) === null) throw noSuchJob(before)
  const found = await store.list({ ...query, ...fixed, limit: limit + 1 })
  const page = found.slice(0, limit)
  const last = page.at(-1)
  const isLast = found.length <= limit || last === undefined
  return { jobs: page.map(summaryJson), next: isLast ? null : addressOf(path, { ...query, limit, before: last.id }) }
}

function addressOf(path: string, query: Filter): string {
  const parameters = new URLSearchParams()
  for (const [name, value] of Object.entries(query)) parameters.set(name, String(value))
  return `${prefix}${path}?${parameters}`
}

function pageReply(body: JobPage) {
  return { status: 200, body, headers: body.next === null ? {} : { link: `<${body.next}>; rel="next"` } } as const
}
