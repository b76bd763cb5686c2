import type { Coordination } from '../../../queue/contract/contract.ts'
import type { QueueTime } from '../../servers/queue-time.ts'
import { Once } from '../keys/once.ts'
import type { SqlDatabase } from '../session.ts'
import type { Stepped } from '../stepped.ts'
import { Locks } from './locks.ts'

export interface CoordinationParts {
  readonly database: SqlDatabase
  readonly time: QueueTime
}

/** What workers share. */
export function sqlCoordination({ database, time }: CoordinationParts): Stepped<Coordination> {
  const once = new Once(database)
  const locks = new Locks(database)
  return {
    claimOnce: (key, jobId) => once.claim(key, jobId, time),
    lock: (name, holder, ttlMs) => locks.lock(name, holder, ttlMs, time),
    unlock: (name, owner) => locks.unlock(name, owner, time.now()),
  }
}
