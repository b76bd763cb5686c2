import { stopwatch } from '../core/time/clock.ts'
import type { Envelope } from '../envelope/envelope.ts'
import type { QueueBackend, SendReceipt } from '../queue/contract/contract.ts'
import type { BackendCall, Observers } from './observer.ts'

/** Makes a call to a queue, and reports to the observers how long it took and whether it failed. */
export async function observedCall<Answer>(
  name: BackendCall,
  observers: Observers,
  call: () => Promise<Answer>,
): Promise<Answer> {
  const elapsedMs = stopwatch()
  try {
    const answer = await call()
    observers.called(name, elapsedMs(), false)
    return answer
  } catch (error) {
    observers.called(name, elapsedMs(), true)
    throw error
  }
}

/** A backend's `send` that reports to the observers what it stored. */
export function observedSend(backend: Pick<QueueBackend, 'send'>, observers: Observers): QueueBackend['send'] {
  const send = async (envelopes: readonly Envelope[]): Promise<readonly SendReceipt[]> => {
    const receipts = await observedCall('send', observers, () => backend.send(envelopes))
    observers.dispatched(envelopes, receipts)
    return receipts
  }
  return (envelopes) => (observers.isOn ? send(envelopes) : backend.send(envelopes))
}

/** A backend's `settle`, observed. */
export function observedSettle(backend: Pick<QueueBackend, 'settle'>, observers: Observers): QueueBackend['settle'] {
  return (settlements) =>
    observers.isOn ? observedCall('settle', observers, () => backend.settle(settlements)) : backend.settle(settlements)
}
