import type { Coordination } from '../contract.ts'
import { Locks } from './locks.ts'
import { Once } from './once.ts'
import type { QueueTime } from './queue-time.ts'
import type { SqlDatabase } from './session.ts'
import type { UniqueKeys } from './unique-keys.ts'

export interface CoordinationParts {
  readonly database: SqlDatabase
  readonly uniqueKeys: UniqueKeys
  readonly time: QueueTime
}

/** What workers share. */
export function sqlCoordination({ database, uniqueKeys, time }: CoordinationParts): Coordination {
  const once = new Once(database)
  const locks = new Locks(database)
  return {
    claimOnce: (key, jobId) => once.claim(key, jobId, time),
    async sweepKeys(limit) {
      const now = time.now()
      return (await once.sweep(now, limit)) + (await uniqueKeys.sweep(database, now, limit))
    },
    lock: (name, holder, ttlMs) => locks.lock(name, holder, ttlMs, time),
    unlock: (name, owner) => locks.unlock(name, owner, time.now()),
  }
}
