import type { Identity } from '../../envelope/envelope.ts'
import type { Lease } from '../../queue/contract/contract.ts'
import type { Outcome } from '../end/outcome.ts'

/** The trace of one attempt. */
export interface RunTrace {
  /** Calls the handler, so that everything it calls belongs to the attempt. */
  during<Answer>(work: () => Promise<Answer>): Promise<Answer>
  /** The attempt has ended, and its outcome is being stored. */
  settling(outcome: Outcome): void
  /** The outcome is stored. */
  settled(outcome: Outcome): void
}

export interface RunTracer {
  /** Starts the trace of a verified job, just before its handler is called. Null if it is not collected. */
  begin(lease: Lease, identity: Identity): RunTrace | null
}
