import type { PostgresClient } from './client.ts'
import { stateOf } from './failure.ts'

/** Why they broke. The server says so once, to whoever listens; a statement after that only hears that there is no connection. */
const reasons = new WeakMap<object, Error>()

/** Without a listener, an error between two statements would end the program. Gives the way to end listening. */
export function listenTo(client: PostgresClient): () => void {
  const note = (error: Error) => {
    if (!reasons.has(client)) reasons.set(client, error)
  }
  client.on('error', note)
  return () => client.removeListener('error', note)
}

/** Why a statement failed so, where that is why; undefined where the connection is not known to be broken. */
export function reasonOf(client: object, thrown: unknown): Error | undefined {
  return stateOf(thrown) === undefined ? reasons.get(client) : undefined
}
