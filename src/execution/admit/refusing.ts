import { writtenReason } from '../../core/text/reason.ts'
import { type Seal, sealOf } from '../../envelope/envelope.ts'
import type { AttemptError } from '../../queue/contract/contract.ts'
import type { Rejection } from '../../queue/contract/store.ts'

/** How a job ends that waits, and whose envelope was refused when somebody looked at it. It was not attempted. */
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
