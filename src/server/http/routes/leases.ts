import { toJson } from '../../../core/json.ts'
import { giveBack } from '../../service/admission.ts'
import type { HttpDeps } from '../deps.ts'
import { endAttempts } from '../ending.ts'
import { HttpProblem } from '../http-problem.ts'
import type { Handlers } from '../route.ts'
import { leaseMsOf } from '../waiting.ts'

type Names = 'lease' | 'settle' | 'settleMany' | 'extend' | 'reportProgress'

const maxProgressBytes = 64 * 1024

/** Workers that talk to this server and not to the database. */
export function leaseHandlers({ service, waiting }: HttpDeps): Pick<Handlers, Names> {
  const { backend } = service.queue
  const { store } = backend
  return {
    lease: async ({ body, exchange }) => {
      const leases = await waiting.take(body, exchange)
      if (leases.length === 0) return { status: 204, body: undefined }
      const undelivered = () =>
        giveBack(
          leases.map(({ token }) => token),
          service.queue,
        )
      return { status: 200, body: { leases }, undelivered }
    },

    settle: async ({ params: { id }, body }) => {
      const [receipt = 'lost'] = await endAttempts([{ ...body, id }], service)
      if (receipt === 'lost') throw leaseLost(id)
      return { status: 200, body: { receipt } }
    },

    settleMany: async ({ body: { settlements } }) => {
      return { status: 200, body: { receipts: await endAttempts(settlements, service) } }
    },

    extend: async ({ body: { leases, lease } }) => {
      const leaseMs = leaseMsOf(lease)
      const receipts = await backend.extend(
        leases.map(({ token }) => token),
        leaseMs,
      )
      const told = leases.map(async ({ id }, at) => {
        if (receipts[at] === 'lost') return 'lost'
        return (await store.get(id))?.cancelRequested ? 'stop' : 'held'
      })
      return { status: 200, body: { leases: await Promise.all(told) } }
    },

    reportProgress: async ({ body: { token, progress } }) => {
      await store.report([{ token, progress: toJson(progress, { what: 'progress', maxBytes: maxProgressBytes }) }])
      return { status: 204, body: undefined }
    },
  }
}

function leaseLost(id: string): HttpProblem {
  const detail = `The lease of job ${id} is no longer held: it ran out, the job was ended, or another worker has it`
  return new HttpProblem('lease-lost', detail, { code: 'LEASE_LOST' })
}
