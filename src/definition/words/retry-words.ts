import { countProblem, functionProblem, refuse } from '../names.ts'
import { type Backoff, backoffOf } from '../policies/retry.ts'
import { type SaidOfJob, subjectOf, type WordTable } from './word-table.ts'

/** Builder methods for failed attempts. */
export interface RetryWords<Result> {
  /** Maximum number of further attempts after the first one fails, and the delay before each. Null uses the program's default. */
  retries(retries: number | null, backoff?: Backoff): this
  /** Alias of `retries`. */
  maxRetries(retries: number | null): this
  /** Maximum number of attempts, including the first. */
  maxAttempts(attempts: number | null): this
  /**
   * The delay before the next attempt: options, or a function of the failed attempt and its error. By default it doubles from one
   * second to one minute, with full jitter.
   */
  backoff(backoff: Backoff): this
  /** Errors for which this returns false end the job without another attempt. */
  retryIf(decide: (error: unknown) => boolean): this
  /** A run whose result matches counts as failed, as if it had thrown. */
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
