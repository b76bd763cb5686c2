import { BedrockRefusal } from '../client/bedrock-refusal.ts'
import { TreadleError } from '../core/errors.ts'

/** Whether the same may be told again later: the server cannot be reached, or could not look at what it was told. */
export function isOutage(thrown: unknown): boolean {
  if (!(thrown instanceof BedrockRefusal)) return thrown instanceof TreadleError && thrown.code === 'SERVER_UNREACHABLE'
  const { status, reason } = thrown
  return timeouts.includes(status) || (status === 500 && troubles.includes(reason))
}

/** Whether jobs may be asked for again later. That changes nothing, so all trouble of the server is worth another try. */
export function mayAskAgain(thrown: unknown): boolean {
  return isOutage(thrown) || (thrown instanceof BedrockRefusal && thrown.status >= 500)
}

/** It took too long, or the copies of the server did not hear of it. */
const timeouts: readonly number[] = [555, 556]
/** The other reasons of a 500 are refusals: they would be the same the next time. */
const troubles: readonly string[] = ['Refused', 'Unhandled Exception']
