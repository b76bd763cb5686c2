import type { Clock } from '../../core/time/clock.ts'
import type { QueueBackend } from '../../queue/contract/contract.ts'
import { openMemory } from '../memory/index.ts'

/**
 * A queue for programs that run each job where it is dispatched. It delays nothing: delayed jobs and retries are due immediately.
 * Only a handler that snoozes really waits.
 */
export function openSync({ clock }: { readonly clock: Clock }): QueueBackend {
  const memory = openMemory({ clock })
  return {
    kind: 'sync',
    store: memory.store,
    coordination: memory.coordination,
    send: (envelopes) =>
      memory.send(envelopes.map((envelope) => ({ ...envelope, runAt: Math.min(envelope.runAt, clock.now()) }))),
    lease: (request) => memory.lease(request),
    settle: (settlements) =>
      memory.settle(settlements.map((settlement) => (settlement.kind === 'retry' ? { ...settlement, delayMs: 0 } : settlement))),
    begin: (tokens) => memory.begin(tokens),
    extend: (tokens, leaseMs, alone) => memory.extend(tokens, leaseMs, alone),
    reap: (maxRescues) => memory.reap(maxRescues),
    watch: (wake) => memory.watch(wake),
    [Symbol.asyncDispose]: () => memory[Symbol.asyncDispose](),
  }
}
