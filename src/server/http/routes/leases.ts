import { toJson } from '../../../core/text/json.ts'
import { takeBack } from '../../jobs/claiming/admission.ts'
import type { HttpDeps } from '../deps.ts'
import { endAttempts } from '../ending.ts'
import { leaseJson } from '../handing-out.ts'
import { seenLeases } from '../permission.ts'
import type { Handlers } from '../route.ts'
import { leaseMsOf } from '../waiting.ts'
import { HttpProblem } from '../wire/http-problem.ts'

type Names = 'lease' | 'settle' | 'settleMany' | 'extend' | 'reportProgress'

const maxProgressBytes = 64 * 1024

/** For workers that talk to this server and not to the database. */
export function leaseHandlers({ service, waiting }: HttpDeps): Pick<Handlers, Names> {
  const { backend } = service.queue
  const { store } = backend
  return {
    lease: async ({ body, exchange }) => {
      const admitted = await waiting.take(body, exchange)
      if (admitted.length === 0) return { status: 204, body: undefined }
      const leases = admitted.map(({ lease }) => lease)
      const told = admitted.map((each) => leaseJson(each, service.creating.definitionOf(each.lease.envelope.job), exchange.grant))
      return { status: 200, body: { leases: told }, undelivered: () => takeBack(leases, service) }
    },

    settle: async ({ params: { id }, body, exchange: { grant } }) => {
      const [receipt = 'lost'] = await endAttempts([{ ...body, id }], grant, service)
      if (receipt === 'lost') throw leaseLost(id)
      return { status: 200, body: { receipt } }
    },

    settleMany: async ({ body: { settlements }, exchange: { grant } }) => {
      return { status: 200, body: { receipts: await endAttempts(settlements, grant, service) } }
    },

    extend: async ({ body: { leases, lease }, exchange: { grant } }) => {
      const leaseMs = leaseMsOf(lease)
      const seen = grant.isLimited ? new Set((await seenLeases(leases, grant, service)).map(({ token }) => token)) : null
      const tokens = leases.map(({ token }) => token).filter((token) => seen?.has(token) ?? true)
      const receipts = await backend.extend(tokens, leaseMs)
      const held = new Set(tokens.filter((_, at) => receipts[at] !== 'lost'))
      const told = leases.map(async ({ id, token }) => {
        if (!held.has(token)) return 'lost'
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
  const detail = `The lease of job ${id} is no longer held: it expired, the job was ended, or another worker has it`
  return new HttpProblem('lease-lost', detail, { code: 'LEASE_LOST' })
}
