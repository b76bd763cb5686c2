import type { Identity } from '../../envelope/envelope.ts'
import type { Lease } from '../../queue/contract/contract.ts'
import type { Outcome } from '../end/outcome.ts'

/** The trace of one attempt. */
export interface RunTrace {
  /** Calls the handler, so that whatever it calls belongs to the attempt. */
  during<Answer>(work: () => Promise<Answer>): Promise<Answer>
  /** The attempt has ended, and that is being stored. */
  settling(outcome: Outcome): void
  /** What became of it is stored. */
  settled(outcome: Outcome): void
}

export interface RunTracer {
  /** Of a job that was verified, just before its handler is called. Null where nobody collects it. */
  begin(lease: Lease, identity: Identity): RunTrace | null
}
