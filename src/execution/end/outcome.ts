import { isThrown, messageOf, PermanentError, TreadleError } from '../../core/errors.ts'
import { longestDurationMs } from '../../core/time/duration.ts'
import type { JobDefinition, Keep } from '../../definition/definition.ts'
import { retryDelayMs } from '../../definition/policies/retry.ts'
import type { Envelope } from '../../envelope/envelope.ts'
import type { DeadReason, OnceMark, Settlement } from '../../queue/contract/contract.ts'
import { writtenError } from '../admit/refusing.ts'

/** How a run ended, and what must happen to its job. */
export type Outcome =
  /** With an envelope if it is to run again. */
  | { readonly kind: 'done'; readonly result: string | null; readonly once: OnceMark | null; readonly again: Envelope | null }
  | { readonly kind: 'retry'; readonly delayMs: number; readonly error: unknown }
  | { readonly kind: 'snooze'; readonly delayMs: number; readonly why?: string }
  /** Waits for its children: it runs again, or ends, when they have ended. */
  | { readonly kind: 'wait' }
  | { readonly kind: 'release' }
  | { readonly kind: 'dead'; readonly reason: DeadReason; readonly error: unknown }
  | { readonly kind: 'cancelled' }
  /**
   * The result is that of a run that did the same work. `missedBy` names the schedule if none of its schedulers saw this run fall
   * due.
   */
  | {
      readonly kind: 'skipped'
      readonly why: string
      readonly result?: string
      readonly encrypted?: true
      /** The result was accepted without a signature, and gets none. */
      readonly unsigned?: true
      readonly missedBy?: string
    }
  /** Another worker has the job now: there is nothing left to settle. */
  | { readonly kind: 'lost' }

/** The name of each kind of outcome in reports and metrics. */
export const outcomeWords = {
  done: 'succeeded',
  retry: 'retried',
  snooze: 'snoozed',
  wait: 'waiting',
  release: 'released',
  dead: 'dead',
  cancelled: 'cancelled',
  skipped: 'skipped',
  lost: 'lost',
} as const satisfies Record<Outcome['kind'], string>

export type OutcomeWord = (typeof outcomeWords)[Outcome['kind']]

export interface FailedAttempt {
  readonly definition: JobDefinition
  readonly attempt: number
  readonly maxAttempts: number
  readonly random: () => number
  /** Called if a function of the policy fails. */
  readonly warn?: (problem: string) => void
}

/** Another attempt, or the end: the only place where that is decided. */
export function outcomeOfFailure(error: unknown, { definition, attempt, maxAttempts, random, warn }: FailedAttempt): Outcome {
  const { retry, retryIf } = definition.fields
  if (isForged(error)) return { kind: 'dead', reason: 'rejected', error }
  if (isThrown(error, PermanentError) || isRefused(error, retryIf, warn)) return { kind: 'dead', reason: 'permanent', error }
  if (attempt >= maxAttempts) return { kind: 'dead', reason: 'exhausted', error }
  return { kind: 'retry', delayMs: retryDelayMs(retry, attempt, random, error, warn), error }
}

/** What other jobs passed to this run was tampered with. Another attempt would find the same. */
export function isForged(error: unknown): boolean {
  return isThrown(error, TreadleError) && error.code === 'RESULT_FORGED'
}

/** If the decision itself throws, the error is retried as if there were no `retryIf`. */
function isRefused(error: unknown, retryIf: JobDefinition['fields']['retryIf'], warn: FailedAttempt['warn']): boolean {
  try {
    return retryIf?.(error) === false
  } catch (thrown) {
    warn?.(`its retryIf function failed, so the error is retried: ${messageOf(thrown)}`)
    return false
  }
}

/** The settlement for the backend; null if there is nothing to settle. */
export function settlementOf(outcome: Outcome, token: string, attempt: number, now: number, keep: Keep): Settlement | null {
  switch (outcome.kind) {
    case 'done': {
      if (outcome.again !== null) return { token, kind: 'again', envelope: outcome.again }
      const settled = { token, kind: 'done', result: outcome.result, keep: keep.succeeded > 0 } as const
      return outcome.once === null ? settled : { ...settled, once: outcome.once }
    }
    case 'retry':
      return { token, kind: 'retry', delayMs: soundDelayMs(outcome.delayMs), error: writtenError(outcome.error, attempt, now) }
    case 'snooze':
      return { token, kind: 'snooze', delayMs: soundDelayMs(outcome.delayMs) }
    case 'wait':
      return { token, kind: 'wait' }
    case 'release':
      return { token, kind: 'snooze', delayMs: 0 }
    case 'dead': {
      const error = writtenError(outcome.error, attempt, now)
      return { token, kind: 'dead', reason: outcome.reason, error, keep: keep.dead > 0 }
    }
    case 'cancelled':
      return { token, kind: 'cancelled', keep: keep.cancelled > 0 }
    case 'skipped': {
      const settled = { token, kind: 'skipped', why: outcome.why, keep: keep.skipped > 0 } as const
      if (outcome.result === undefined) return settled
      const { result, encrypted, unsigned } = outcome
      return { ...settled, result, ...(encrypted && { encrypted }), ...(unsigned && { unsigned }) }
    }
    case 'lost':
      return null
  }
}

/** Used if a delay is not a number: long enough to avoid a busy loop, and short enough to be noticed. */
const unknownDelayMs = 60_000

/** Bounds any delay from a policy, an isolate or a client, so that it leads to an instant that can be stored. */
function soundDelayMs(delayMs: number): number {
  if (typeof delayMs !== 'number' || Number.isNaN(delayMs)) return unknownDelayMs
  return Math.min(Math.max(Math.round(delayMs), 0), longestDurationMs)
}
