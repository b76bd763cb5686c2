import { TreadleError } from '../../../core/errors.ts'
import { pause, systemClock } from '../../../core/time/clock.ts'
import type { RedisClient } from './client.ts'

/** Resolves when a client is ready; rejects after the timeout. */
export async function whenReady(client: RedisClient, timeoutMs: number, place: string): Promise<void> {
  if (client.status === 'ready') return
  let failure: unknown
  const heard = new AbortController()
  const onReady = () => heard.abort()
  const onError = (thrown: unknown) => {
    failure = thrown
    // Another try would be denied as well.
    if (isDenied(thrown)) heard.abort()
  }
  client.on('ready', onReady)
  client.on('error', onError)
  try {
    // A client that has given up, or has never been started, does not connect by itself.
    if (client.status === 'wait' || client.status === 'end') client.connect().catch(onError)
    await pause(systemClock, timeoutMs, heard.signal)
  } finally {
    client.off('ready', onReady)
    client.off('error', onError)
  }
  if ((client.status as string) === 'ready') return
  const cause = failure === undefined ? {} : { cause: failure }
  const why = failure instanceof Error && failure.message !== '' ? `: ${failure.message}` : ''
  if (isDenied(failure)) throw new TreadleError('DATABASE_DENIED', `Redis at ${place} denies access${why}`, cause)
  throw new TreadleError('DATABASE_UNREACHABLE', `Redis at ${place} cannot be reached${why}`, cause)
}

/** What `ioredis` does not declare: the socket of its connection, and the timer before the next try to connect. */
interface ClientParts {
  readonly stream?: { unref?: () => unknown }
  readonly reconnectTimeout?: { unref?: () => unknown } | null
}

/**
 * Lets the process exit while nothing waits for an answer. Each call has a timer of its own that keeps the process alive, so its
 * connection need not. A cluster client has connections and timers that cannot be reached: it has to be closed.
 */
export function letProcessExit(client: RedisClient & ClientParts): void {
  client.on('connect', () => client.stream?.unref?.())
  client.on('reconnecting', () => client.reconnectTimeout?.unref?.())
}

/** Whether the server refuses the user or the password, or gives the user too few rights. */
export function isDenied(thrown: unknown): boolean {
  return thrown instanceof Error && /^(NOAUTH|WRONGPASS|NOPERM)/.test(thrown.message)
}
