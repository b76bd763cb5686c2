import { isThrown, PermanentError, TreadleError } from '../../core/errors.ts'
import { longestDurationMs } from '../../core/time/duration.ts'
import type { JobDefinition, Keep } from '../../definition/definition.ts'
import { retryDelayMs } from '../../definition/policies/retry.ts'
import type { Envelope } from '../../envelope/envelope.ts'
import type { DeadReason, OnceMark, Settlement } from '../../queue/contract/contract.ts'
import { writtenError } from '../admit/refusing.ts'

/** How a run ended, and what must happen to its job. */
export type Outcome =
  /** With an envelope where it is to be done again. */
  | { readonly kind: 'done'; readonly result: string | null; readonly once: OnceMark | null; readonly again: Envelope | null }
  | { readonly kind: 'retry'; readonly delayMs: number; readonly error: unknown }
  | { readonly kind: 'snooze'; readonly delayMs: number; readonly why?: string }
  /** For its children: to be run again, or to end, when they have ended. */
  | { readonly kind: 'wait' }
  | { readonly kind: 'release' }
  | { readonly kind: 'dead'; readonly reason: DeadReason; readonly error: unknown }
  | { readonly kind: 'cancelled' }
  /** The result is that of a run that did the same work. A missed one is the run of this schedule that nobody saw fall due. */
  | {
      readonly kind: 'skipped'
      readonly why: string
      readonly result?: string
      readonly encrypted?: true
      readonly missedBy?: string
    }
  /** Another worker has the job now: there is nothing left to settle. */
  | { readonly kind: 'lost' }

/** What each kind of outcome is called in reports and metrics. */
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
}

/** Another attempt, or the end: the only place where that is decided. */
export function outcomeOfFailure(error: unknown, { definition, attempt, maxAttempts, random }: FailedAttempt): Outcome {
  const { retry, retryIf } = definition.fields
  if (isForged(error)) return { kind: 'dead', reason: 'rejected', error }
  if (isThrown(error, PermanentError) || isRefused(error, retryIf)) return { kind: 'dead', reason: 'permanent', error }
  if (attempt >= maxAttempts) return { kind: 'dead', reason: 'exhausted', error }
  return { kind: 'retry', delayMs: retryDelayMs(retry, attempt, random, error), error }
}

/** What a run was given by others is no longer what they have left: no other attempt finds anything else. */
export function isForged(error: unknown): boolean {
  return isThrown(error, TreadleError) && error.code === 'RESULT_FORGED'
}

/** A decision that throws is none: the error is retried as if nobody had been asked. */
function isRefused(error: unknown, retryIf: JobDefinition['fields']['retryIf']): boolean {
  try {
    return retryIf?.(error) === false
  } catch {
    return false
  }
}

/** What the backend is told; null when it must be told nothing. */
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
      return { ...settled, result: outcome.result, ...(outcome.encrypted && { encrypted: true }) }
    }
    case 'lost':
      return null
  }
}

/** For a delay that is no number: long enough for nothing to run in a circle, and short enough to be noticed. */
const unknownDelayMs = 60_000

/** Whatever a policy, an isolate or a client said, it leads to an instant that can be stored. */
function soundDelayMs(delayMs: number): number {
  if (typeof delayMs !== 'number' || Number.isNaN(delayMs)) return unknownDelayMs
  return Math.min(Math.max(Math.round(delayMs), 0), longestDurationMs)
}
