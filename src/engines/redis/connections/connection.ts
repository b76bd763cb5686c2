import { TreadleError } from '../../../core/errors.ts'
import { pause, systemClock } from '../../../core/time/clock.ts'
import type { RedisClient } from './client.ts'

/**
 * Resolves when a client is ready; rejects after the timeout, or at the first failure if the client has never been connected:
 * then there may never have been a server.
 */
export async function whenReady(client: RedisClient, timeoutMs: number, place: string, isFirst = false): Promise<void> {
  if (client.status === 'ready') return
  let failure: unknown
  const heard = new AbortController()
  const onReady = () => heard.abort()
  const onError = (thrown: unknown) => {
    failure = thrown
    // Another try would be denied as well.
    if ((isFirst && !isReply(thrown)) || isDenied(thrown)) heard.abort()
  }
  const waiters = waitersOf(client)
  const waiter = { onReady, onError }
  waiters.add(waiter)
  try {
    // A client that has given up, or has never been started, does not connect by itself.
    if (client.status === 'wait' || client.status === 'end') client.connect().catch(onError)
    await pause(systemClock, timeoutMs, heard.signal)
  } finally {
    waiters.remove(waiter)
  }
  if ((client.status as string) === 'ready') return
  const cause = failure === undefined ? {} : { cause: failure }
  const heardOf = failure instanceof Error && failure.message !== '' ? `: ${failure.message}` : ''
  if (isDenied(failure)) throw new TreadleError('DATABASE_DENIED', `Redis at ${place} denies access${heardOf}`, cause)
  // The driver asks a server that is loading until it has loaded, and tells nobody.
  const why = client.status === 'connect' ? ': it accepts connections, and is still loading its data' : heardOf
  throw new TreadleError('DATABASE_UNREACHABLE', `Redis at ${place} cannot be reached${why}`, cause)
}

interface Waiter {
  readonly onReady: () => void
  readonly onError: (thrown: unknown) => void
}

/** Those who wait for the same client, which share its listeners: Node warns of a leak from the eleventh on. */
class Waiters {
  readonly #client: RedisClient
  readonly #all = new Set<Waiter>()

  constructor(client: RedisClient) {
    this.#client = client
  }

  add(waiter: Waiter): void {
    if (this.#all.size === 0) {
      this.#client.on('ready', this.#onReady)
      this.#client.on('error', this.#onError)
    }
    this.#all.add(waiter)
  }

  remove(waiter: Waiter): void {
    this.#all.delete(waiter)
    if (this.#all.size > 0) return
    this.#client.off('ready', this.#onReady)
    this.#client.off('error', this.#onError)
  }

  readonly #onReady = () => {
    for (const { onReady } of this.#all) onReady()
  }

  readonly #onError = (thrown: unknown) => {
    for (const { onError } of this.#all) onError(thrown)
  }
}

const waitersByClient = new WeakMap<RedisClient, Waiters>()

function waitersOf(client: RedisClient): Waiters {
  const known = waitersByClient.get(client)
  if (known !== undefined) return known
  const made = new Waiters(client)
  waitersByClient.set(client, made)
  return made
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

/** Whether a server has replied with an error. */
export function isReply(thrown: unknown): boolean {
  return (thrown as { name?: unknown } | null)?.name === 'ReplyError'
}

/** What replies to a command inside a script that the user has no right to contain: of Redis before 7.2, and of others. */
export const deniedInScript = ["The user executing the script can't", 'ACL failure in script'] as const

/** Whether the server refuses the user or the password, or gives the user too few rights. */
export function isDenied(thrown: unknown): boolean {
  if (!(thrown instanceof Error)) return false
  const { message } = thrown
  return /^(NOAUTH|WRONGPASS|NOPERM)/.test(message) || deniedInScript.some((text) => message.includes(text))
}

/**
 * If a server refuses the database of the queue to a new connection, the driver goes on with database 0. Such a connection is left.
 * Not before the queue is open, when the number may be wrong.
 */
export function leaveOtherDatabases(client: RedisClient): void {
  client.on('error', (thrown) => {
    const { command } = Object(thrown) as { readonly command?: { readonly name?: unknown } }
    if (command?.name === 'select') client.disconnect(true)
  })
}
