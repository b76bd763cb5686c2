import type { JobDefinition } from '../../definition/definition.ts'
import type { Identity } from '../../envelope/envelope.ts'
import { timeoutMsOf } from '../attempt-limits.ts'
import { abortGraceMs } from './active-run.ts'
import { longestHookMs } from './hooks.ts'

/**
 * How long a run can take from its claim to its end while its event loop is not blocked: its timeout, the grace period of a
 * handler that was told to stop or is killed, and its hooks. A longer one can only be ended from outside. Null means no limit.
 */
export function longestRunMs(identity: Pick<Identity, 'timeoutMs'>, definition: JobDefinition | undefined): number | null {
  const timeoutMs = timeoutMsOf(identity, definition)
  if (timeoutMs === null) return null
  const killGraceMs = definition?.fields.isolation?.graceMs ?? 0
  return timeoutMs + killGraceMs + abortGraceMs + hooksOf(definition) * longestHookMs
}

/** The number of hooks that may follow a handler. */
function hooksOf(definition: JobDefinition | undefined): number {
  if (definition === undefined) return 0
  const { onSuccess, onError, finally: always } = definition.fields
  return Math.max(onSuccess.length, onError.length) + always.length
}
