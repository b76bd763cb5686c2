import { BedrockRefusal } from '../client/bedrock-refusal.ts'
import { TreadleError } from '../core/errors.ts'

/** Whether the same may be asked again later: the server can not be reached, or has trouble of its own. */
export function isOutage(thrown: unknown): boolean {
  if (thrown instanceof BedrockRefusal) return thrown.status >= 500
  return thrown instanceof TreadleError && thrown.code === 'SERVER_UNREACHABLE'
}
