import { writtenReason } from '../../core/text/reason.ts'
import { type Seal, sealOf } from '../../envelope/envelope.ts'
import type { AttemptError } from '../../queue/contract/contract.ts'
import type { Rejection } from '../../queue/contract/store.ts'

/** The rejection of a waiting job whose envelope was refused on inspection. It was not attempted. */
export function rejectionOf(
  job: Seal & { readonly id: string; readonly attempts?: number },
  error: unknown,
  now: number,
): Rejection {
  return { id: job.id, expected: sealOf(job), error: writtenError(error, job.attempts ?? 0, now) }
}

export function writtenError(error: unknown, attempt: number, at: number): AttemptError {
  return { attempt, at, ...writtenReason(error) }
}
