import type { BedrockLimits } from '../limits.ts'
import type { GeneralHeaders } from '../wire/general-headers.ts'

export const never = Number.POSITIVE_INFINITY
/** How long to wait for the client to close its side after the last reply. Closing earlier could lose that reply. */
export const lingerMs = 1_000
/**
 * A client that has nothing more to send closes its sending side right after its request and keeps reading, as `nc -N` does. A
 * client that closes it later than this has most likely gone, which cannot be known until something is sent.
 */
export const lastWordMs = 1_000

/** When the reply is due. A request that waits keeps track of its own time; work after the wait gets the usual time. */
export function answeredBefore({ connection, timeoutMs }: GeneralHeaders, now: number, { requestMs }: BedrockLimits): number {
  if (connection !== 'wait') return now + (timeoutMs ?? requestMs)
  return timeoutMs === undefined ? never : now + timeoutMs + requestMs
}

/**
 * When the request must have arrived. Sending a little from time to time extends this, but not forever, and not without a token.
 */
export function arrivesBefore(
  since: number | undefined,
  isStranger: boolean,
  now: number,
  { stalledMs, arrivalMs, strangerMs }: BedrockLimits,
): number {
  const begunAt = since ?? now
  return isStranger ? begunAt + strangerMs : Math.min(now + stalledMs, begunAt + arrivalMs)
}
