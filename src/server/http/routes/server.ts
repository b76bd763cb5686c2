import type { HttpDeps } from '../deps.ts'
import type { Handlers } from '../route.ts'
import { HttpProblem } from '../wire/http-problem.ts'
import { openApiDocument } from '../wire/openapi.ts'

export function serverHandlers({ service: { queue } }: HttpDeps): Pick<Handlers, 'health' | 'ready' | 'openApi'> {
  const document = openApiDocument()
  return {
    health: async () => ({ status: 200, body: { status: 'alive' } }),

    ready: async () => {
      try {
        ;(await queue.backend.store.paused()).queues
      } catch {
        throw new HttpProblem('unavailable', 'The database does not respond', { headers: { 'retry-after': '1' } })
      }
      return { status: 200, body: { status: 'ready' } }
    },

    openApi: async () => ({ status: 200, body: document }),
  }
}
