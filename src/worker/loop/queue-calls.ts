import type { QueueBackend } from '../../queue/contract/contract.ts'
import { observedCall } from '../../telemetry/observed-calls.ts'
import type { BackendCall, Observers } from '../../telemetry/observer.ts'
import type { Breaker } from '../health/breaker/breaker.ts'

/** The calls that a worker depends on. */
export type QueueCalls = Pick<QueueBackend, 'lease' | 'settle' | 'extend'>

/** The same calls, with each outcome reported to the breaker. */
export function countedCalls(backend: QueueCalls, breaker: Breaker, observers: Observers): QueueCalls {
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
  const observed = <Answer>(name: BackendCall, call: () => Promise<Answer>) =>
    counted(observers.isOn ? () => observedCall(name, observers, call) : call)
  return {
    lease: (request) => observed('lease', () => backend.lease(request)),
    settle: (settlements) => observed('settle', () => backend.settle(settlements)),
    extend: (tokens, leaseMs) => observed('extend', () => backend.extend(tokens, leaseMs)),
  }
}
