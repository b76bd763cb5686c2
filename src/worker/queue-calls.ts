import type { QueueBackend } from '../backends/contract.ts'
import type { Breaker } from './breaker.ts'

/** The calls by which a worker lives. */
export type QueueCalls = Pick<QueueBackend, 'lease' | 'settle' | 'extend'>

/** The same calls; the breaker hears how each of them went. */
export function countedCalls(backend: QueueCalls, breaker: Breaker): QueueCalls {
  async function counted<Answer>(call: () => Promise<Answer>): Promise<Answer> {
    try {
      const answer = await call()
      breaker.succeeded()
      return answer
    } catch (error) {
      breaker.failed(error)
      throw error
    }
  }
  return {
    lease: (request) => counted(() => backend.lease(request)),
    settle: (settlements) => counted(() => backend.settle(settlements)),
    extend: (tokens, leaseMs) => counted(() => backend.extend(tokens, leaseMs)),
  }
}
