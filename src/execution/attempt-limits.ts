import type { JobDefinition } from '../definition/definition.ts'
import type { Identity } from '../envelope/envelope.ts'

/** How often a job is begun at most: as its dispatch said, else as the definition says by which it is run. */
export function maxAttemptsOf({ maxRetries }: Pick<Identity, 'maxRetries'>, definition: JobDefinition): number {
  return (maxRetries ?? definition.maxRetries) + 1
}

/** After so much time an attempt has failed; null is no limit. */
export function timeoutMsOf({ timeoutMs }: Pick<Identity, 'timeoutMs'>, definition: JobDefinition | undefined): number | null {
  if (timeoutMs === null) return definition?.deadlineMs ?? null
  return timeoutMs === 0 ? null : timeoutMs
}
