import { TreadleError } from '../../core/errors.ts'
import type { Lease } from '../../queue/contract/contract.ts'

/** Why a run must stop before its handler has ended. */
export type StopReason = 'timeout' | 'cancelled' | 'shutdown' | 'lost'

/** The handler ignored its signal. */
export class AbandonedError extends Error {}

export function stopError(reason: StopReason, lease: Lease): TreadleError {
  const { job, id } = lease.envelope
  switch (reason) {
    case 'timeout':
      return new TreadleError('TIMEOUT', `Job "${job}" (${id}) was over its timeout`)
    case 'cancelled':
      return new TreadleError('STOPPED', `Job "${job}" (${id}) was cancelled`)
    case 'shutdown':
      return new TreadleError('STOPPED', `The worker shuts down: job "${job}" (${id}) goes back to its queue`)
    case 'lost':
      return new TreadleError('STOPPED', `The lease of job "${job}" (${id}) has passed to another worker`)
  }
}
