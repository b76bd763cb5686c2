import { BedrockRefusal } from '../client/bedrock/refusal.ts'
import { TreadleError } from '../core/errors.ts'

/** Whether the same report may be sent again later: the server was unreachable, or could not process the report. */
export function isOutage(thrown: unknown): boolean {
  if (!(thrown instanceof BedrockRefusal)) return thrown instanceof TreadleError && thrown.code === 'SERVER_UNREACHABLE'
  const { status, reason } = thrown
  return timeouts.includes(status) || (status === 500 && troubles.includes(reason))
}

/** Whether to ask for jobs again later. Asking changes nothing, so any server error is worth a retry. */
export function mayAskAgain(thrown: unknown): boolean {
  return isOutage(thrown) || (thrown instanceof BedrockRefusal && thrown.status >= 500)
}

/** The request timed out, or the server's replicas did not confirm it. */
const timeouts: readonly number[] = [555, 556]
/** Any other reason for a 500 is a refusal, which would be the same the next time. */
const troubles: readonly string[] = ['Refused', 'Unhandled Exception']
