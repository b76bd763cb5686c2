import type { JobDefinition } from '../definition/definition.ts'
import type { Identity } from '../envelope/envelope.ts'

/** Maximum number of attempts: as set by the dispatch, otherwise by the definition that runs it. */
export function maxAttemptsOf({ maxRetries }: Pick<Identity, 'maxRetries'>, definition: JobDefinition): number {
  return (maxRetries ?? definition.maxRetries) + 1
}

/** How long an attempt may take before it fails; null means no limit. */
export function timeoutMsOf({ timeoutMs }: Pick<Identity, 'timeoutMs'>, definition: JobDefinition | undefined): number | null {
  if (timeoutMs === null) return definition?.deadlineMs ?? null
  return timeoutMs === 0 ? null : timeoutMs
}
