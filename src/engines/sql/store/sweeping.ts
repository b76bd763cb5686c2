import type { Steps } from '../../../core/answer.ts'
import type { SweepReport, SweepRequest } from '../../../queue/contract/store.ts'
import type { Rollups } from '../../../queue/statistics/rollups.ts'
import type { QueueTime } from '../../servers/queue-time.ts'
import { Once } from '../keys/once.ts'
import type { UniqueKeys } from '../keys/unique-keys.ts'
import { forgetOccurrences } from '../schedules/occurrences.ts'
import type { SqlDatabase } from '../session.ts'
import type { Mending } from '../workflows/mending.ts'
import type { Logs } from './logs.ts'

export interface SweepingParts {
  readonly database: SqlDatabase
  readonly mending: Mending
  readonly uniqueKeys: UniqueKeys
  readonly logs: Logs
  readonly rollups: Rollups
  readonly time: QueueTime
  /** Call this after something may have become ready. */
  readonly wake: () => void
}

/** Cleans up in bounded steps. */
export class Sweeping {
  readonly #parts: SweepingParts
  readonly #once: Once

  constructor(parts: SweepingParts) {
    this.#parts = parts
    this.#once = new Once(parts.database)
  }

  *sweep(request: SweepRequest): Steps<SweepReport> {
    const { limit } = request
    const { mending, logs, rollups, database, time, wake } = this.#parts
    switch (request.part) {
      case 'waits': {
        const { looked, mended } = yield* mending.mend(limit, time)
        if (mended > 0) wake()
        return { looked, changed: mended }
      }
      case 'keys':
        return allOf(yield* this.#keys(limit))
      case 'logs':
        return yield* logs.sweep(limit)
      case 'rollups':
        return allOf(yield* rollups.sweep(time.now()))
      case 'occurrences':
        return allOf(yield* forgetOccurrences(database, request.before, limit))
    }
  }

  *#keys(limit: number): Steps<number> {
    const { database, uniqueKeys, time } = this.#parts
    const now = time.now()
    return (yield* this.#once.sweep(now, limit)) + (yield* uniqueKeys.sweep(database, now, limit))
  }
}

/** Where everything that is looked at is deleted. */
function allOf(swept: number): SweepReport {
  return { looked: swept, changed: swept }
}
