import type { Replayed } from '../../../client/api/dead-shapes.ts'
import { parseDuration } from '../../../core/time/duration.ts'
import type { JobStore } from '../../../queue/contract/store.ts'
import type { HttpDeps } from '../deps.ts'
import type { Handlers } from '../route.ts'
import { invalidRequest } from '../wire/http-problem.ts'

const defaultLimit = 1_000
const pageSize = 500

/** Operations on many dead jobs at once. */
export function deadHandlers({ service: { queue: served } }: HttpDeps): Pick<Handlers, 'replayDead' | 'purgeDead'> {
  const { store } = served.backend
  const { clock } = served.settings
  return {
    replayDead: async ({ body: { all, limit = defaultLimit, ...filter } }) => {
      refuseUnsaid(all, filter)
      return { status: 200, body: await replay(store, filter, limit) }
    },

    purgeDead: async ({ body: { all, limit = defaultLimit, olderThan, ...filter } }) => {
      refuseUnsaid(all, { ...filter, ...(olderThan !== undefined && { olderThan }) })
      const age = olderThan === undefined ? {} : { finishedBefore: clock.now() - parseDuration(olderThan, 'olderThan') }
      const deleted = await store.remove({ state: 'dead', ...filter, ...age, limit })
      return { status: 200, body: { deleted, more: deleted === limit } }
    },
  }
}

/** An empty filter must not silently mean all jobs. */
function refuseUnsaid(all: boolean | undefined, filter: object): void {
  const isFiltered = Object.keys(filter).length > 0
  if (isFiltered || all === true) return
  throw invalidRequest([{ pointer: '/all', detail: 'must be true if no other member selects jobs' }])
}

/** Continues after the last job seen. A job that has died again in the meantime is newer, so it is not replayed twice. */
async function replay(
  store: JobStore,
  filter: { readonly queue?: string; readonly job?: string },
  limit: number,
): Promise<Replayed> {
  let replayed = 0
  let conflicts = 0
  let before: string | undefined
  for (let left = limit; left > 0; ) {
    const size = Math.min(pageSize, left)
    const page = await store.list({ ...filter, state: 'dead', limit: size, ...(before !== undefined && { before }) })
    const outcomes = await store.retry(page.map(({ id }) => id))
    replayed += outcomes.filter((outcome) => outcome === 'requeued').length
    conflicts += outcomes.filter((outcome) => outcome === 'conflict').length
    if (page.length < size) return { replayed, conflicts, more: false }
    before = page.at(-1)?.id
    left -= page.length
  }
  return { replayed, conflicts, more: true }
}
