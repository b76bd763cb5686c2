import { TreadleError } from '../../core/errors.ts'
import type { QueueBackend, WholeBackend } from '../../queue/contract/contract.ts'
import { CoordinatedBackend, type CoordinatedConfig } from './backend.ts'

export type { CoordinatedBackend } from './backend.ts'

/** Backends that are already open. They are closed together with the queue built from them. */
export interface CoordinatedOptions extends Omit<CoordinatedConfig, 'store'> {
  readonly store: QueueBackend
}

/**
 * Combines a broker with a coordination store. Throws `CONFIG_INVALID` if the broker needs no store, or the store cannot
 * coordinate.
 */
export function openCoordinated({ broker, store, ...rest }: CoordinatedOptions): CoordinatedBackend {
  if (broker.coordination !== undefined) {
    throw new TreadleError('CONFIG_INVALID', `${broker.kind} keeps its own state: coordination is for brokers, remove it`)
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
