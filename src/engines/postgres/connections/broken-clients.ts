import type { PostgresClient } from './client.ts'
import { stateOf } from './failure.ts'

/**
 * Why each client broke. The server reports the reason once, as an error event; later statements only fail for lack of a
 * connection.
 */
const reasons = new WeakMap<object, Error>()

/** Without an error listener, an error between two statements would crash the process. Returns a function that removes it. */
export function listenTo(client: PostgresClient): () => void {
  const note = (error: Error) => {
    if (!reasons.has(client)) reasons.set(client, error)
  }
  client.on('error', note)
  return () => client.removeListener('error', note)
}

/**
 * The reason the connection broke, if that is why the statement failed; undefined if the connection is not known to be broken.
 */
export function reasonOf(client: object, thrown: unknown): Error | undefined {
  return stateOf(thrown) === undefined ? reasons.get(client) : undefined
}
