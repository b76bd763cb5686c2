import { messageOf, TreadleError } from '../../core/errors.ts'
import type { SendReceipt } from '../../queue/contract/contract.ts'

/** Thrown when a list of jobs was stored in several transactions and some of them failed. */
export class IncompleteDispatchError extends TreadleError {
  /** The ids of the stored jobs, in the order of the payloads; null for each job that was not stored. */
  readonly ids: readonly (string | null)[]

  constructor(job: string, ids: readonly (string | null)[], cause: unknown) {
    const stored = ids.filter((id) => id !== null).length
    const message = `${stored} of ${ids.length} jobs of "${job}" were stored, the others were not: ${messageOf(cause)}. The error's ids say which: dispatch only the others again.`
    super('DISPATCH_INCOMPLETE', message, { cause })
    this.ids = ids
  }
}

export interface DispatchedPart {
  readonly size: number
  readonly sending: Promise<readonly SendReceipt[]>
}

/**
 * The receipts of a list whose parts were sent in order. If some parts failed, the error says which jobs are stored; if all
 * failed, the first failure is thrown. No part is still in progress when this settles.
 */
export async function receiptsOf(job: string, parts: readonly DispatchedPart[], count: number): Promise<readonly SendReceipt[]> {
  const answers = await Promise.allSettled(parts.map(({ sending }) => sending))
  const failed = answers.find((answer) => answer.status === 'rejected')
  if (failed === undefined) return answers.flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []))
  if (answers.every(({ status }) => status === 'rejected')) throw failed.reason
  const sent = answers.flatMap((answer, index) =>
    answer.status === 'fulfilled' ? answer.value.map(({ id }) => id) : Array<null>(parts[index]?.size ?? 0).fill(null),
  )
  const ids = Array.from({ length: count }, (_, index) => sent[index] ?? null)
  throw new IncompleteDispatchError(job, ids, failed.reason)
}
