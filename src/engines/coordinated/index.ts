import { TreadleError } from '../../core/errors.ts'
import type { QueueBackend, WholeBackend } from '../../queue/contract/contract.ts'
import { CoordinatedBackend, type CoordinatedConfig } from './backend.ts'

export type { CoordinatedBackend } from './backend.ts'

/** What is open already, and is closed with the queue that is made of it. */
export interface CoordinatedOptions extends Omit<CoordinatedConfig, 'store'> {
  readonly store: QueueBackend
}

/** Puts a coordination store beside a broker. Throws `CONFIG_INVALID` where the one has no need of the other, or is none. */
export function openCoordinated({ broker, store, ...rest }: CoordinatedOptions): CoordinatedBackend {
  if (broker.coordination !== undefined) {
    throw new TreadleError('CONFIG_INVALID', `${broker.kind} keeps its own state: coordination is for brokers, leave it out`)
  }
  if (!isWhole(store)) {
    const message = `${store.kind} cannot coordinate workers, it keeps no state itself: give the URL of a database, such as ${example}`
    throw new TreadleError('CONFIG_INVALID', message)
  }
  return new CoordinatedBackend({ broker, store, ...rest })
}

const example = 'sqlite:coordination.db or redis://…'

function isWhole(backend: QueueBackend): backend is WholeBackend {
  return backend.store !== undefined && backend.coordination !== undefined
}
