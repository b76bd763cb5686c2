import type { UniqueKeys } from './keys/unique-keys.ts'
import type { Counts } from './lanes/counts.ts'
import type { Lanes } from './lanes/lanes.ts'
import type { Groups } from './limits/groups.ts'
import { Sending } from './sending.ts'
import type { SqlDatabase, SqlSession } from './session.ts'
import { Settling } from './settling.ts'
import type { Shortcuts } from './shortcuts.ts'
import { Units } from './units/units.ts'

/** The parts shared by all transactions. They remember nothing that a transaction could roll back. */
export interface SharedParts {
  readonly lanes: Lanes
  readonly counts: Counts
  readonly uniqueKeys: UniqueKeys
  readonly shortcuts: Shortcuts
}

/** The parts that write jobs and their ends, on the queue's own database or in a caller's transaction. */
export interface QueueParts {
  readonly units: Units
  readonly sending: Sending
  readonly settling: Settling
}

export function queueParts(database: SqlDatabase, groups: Groups, shared: SharedParts, beside?: SqlSession): QueueParts {
  const parts = { ...shared, database, groups, ...(beside === undefined ? {} : { beside }) }
  const units = new Units(database, parts)
  const sending = new Sending({ ...parts, units })
  const settling = new Settling({ ...parts, units })
  return { units, sending, settling }
}
