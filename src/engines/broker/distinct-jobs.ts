import type { Envelope } from '../../envelope/envelope.ts'
import type { SendReceipt } from '../../queue/contract/contract.ts'

/** What to send of a batch, and what to answer: of several jobs with one id, the first is sent. */
export function distinctJobs(envelopes: readonly Envelope[]): {
  readonly jobs: readonly Envelope[]
  readonly receipts: readonly SendReceipt[]
} {
  const jobs = new Map<string, Envelope>()
  const receipts = envelopes.map((envelope) => {
    const stored = !jobs.has(envelope.id)
    if (stored) jobs.set(envelope.id, envelope)
    return { id: envelope.id, stored }
  })
  return { jobs: [...jobs.values()], receipts }
}
