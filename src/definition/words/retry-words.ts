import { countProblem, functionProblem, refuse } from '../names.ts'
import { type Backoff, backoffOf } from '../policies/retry.ts'
import { type SaidOfJob, subjectOf, type WordTable } from './word-table.ts'

/** What becomes of a job whose attempt fails. */
export interface RetryWords<Result> {
  /** So many more attempts after the first one failed, with a pause before each; null is as the program says. */
  retries(retries: number | null, backoff?: Backoff): this
  /** Another word for `retries`. */
  maxRetries(retries: number | null): this
  /** The same counted from the other end: the first attempt included. */
  maxAttempts(attempts: number | null): this
  /**
   * The pause before another attempt: options, or a function of the attempt that failed and its error. The default doubles from one
   * second to one minute, with full jitter.
   */
  backoff(backoff: Backoff): this
  /** Errors for which this is false end the job at once. */
  retryIf(decide: (error: unknown) => boolean): this
  /** A run that gives such a result has failed, as if it had thrown. */
  failWhen(isFailure: (result: Awaited<Result>) => boolean): this
}

export const retryWords = {
  retries: (said, retries: number | null, backoff?: Backoff) => ({
    ...attempts(said, retries),
    ...(backoff !== undefined && { retry: backoffOf(backoff) }),
  }),
  maxRetries: (said, retries: number | null) => attempts(said, retries),
  maxAttempts: (_, maxAttempts: number | null) => ({ maxAttempts: maxAttempts ?? undefined }),
  backoff: (_, backoff: Backoff) => ({ retry: backoffOf(backoff) }),
  retryIf: (said, retryIf: (error: unknown) => boolean) => {
    refuse(subjectOf(said), [functionProblem(retryIf, 'retryIf')])
    return { retryIf }
  },
  failWhen: (said, isFailure: (result: never) => boolean) => {
    refuse(subjectOf(said), [functionProblem(isFailure, 'failWhen')])
    return { failWhen: [...(said.failWhen ?? []), isFailure] }
  },
} as const satisfies WordTable<RetryWords<never>>

function attempts(said: SaidOfJob, retries: number | null) {
  if (retries === null) return { maxAttempts: undefined }
  refuse(subjectOf(said), [countProblem(retries, 'retries')])
  return { maxAttempts: retries + 1 }
}
