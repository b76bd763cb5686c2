import type { BedrockLimits } from '../limits.ts'
import type { GeneralHeaders } from '../wire/general-headers.ts'

export const never = Number.POSITIVE_INFINITY
/** A client that was told all is given this time to close its side: to cut it off could take the last reply from it. */
export const lingerMs = 1_000
/**
 * Who has nothing more to say closes its sending side behind its request and reads on, as `nc -N` does. Whoever closes it later is
 * most often gone altogether, and nobody can know before something is sent.
 */
export const lastWordMs = 1_000

/** A request that waits looks after its own time; what it does after its wait gets the usual time. */
export function answeredBefore({ connection, timeoutMs }: GeneralHeaders, now: number, { requestMs }: BedrockLimits): number {
  if (connection !== 'wait') return now + (timeoutMs ?? requestMs)
  return timeoutMs === undefined ? never : now + timeoutMs + requestMs
}

/** To send a little from time to time keeps a request alive, but not forever, and not without a token. */
export function arrivesBefore(
  since: number | undefined,
  isStranger: boolean,
  now: number,
  { stalledMs, arrivalMs, strangerMs }: BedrockLimits,
): number {
  const begunAt = since ?? now
  return isStranger ? begunAt + strangerMs : Math.min(now + stalledMs, begunAt + arrivalMs)
}
