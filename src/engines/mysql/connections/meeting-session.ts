import { pause, systemClock } from '../../../core/time/clock.ts'
import type { TableName } from '../../sql/rows/tables.ts'
import type { SqlRow, SqlSession } from '../../sql/session.ts'
import type { MysqlQueryable } from './client.ts'
import { isLocked } from './failure.ts'
import { MysqlSession, type MysqlSessionOptions } from './session.ts'

/** What else must be known in a transaction of a caller on MySQL itself. */
export interface MeetingOptions extends MysqlSessionOptions {
  /** Another connection; null where to wait for one could be to wait for callers that wait for one too. */
  readonly beside: SqlSession | null
  /** Whether the transaction is READ COMMITTED: then to look for what is not there locks nothing. */
  readonly readsCommitted: boolean
}

/** Where keys are held, each to be read by the index that alone has to be locked for it. */
const holding: Partial<Readonly<Record<TableName, string>>> = {
  jobs: '{jobs by jobs_unique}',
  unique_keys: '{unique_keys by PRIMARY}',
}

/** A lock is another program's, and its time is not the queue's clock. */
const clock = systemClock
/** So long it is looked again and again whether a lock is gone. */
const longestLookMs = 1_000
const longestPauseMs = 50
const ownAfterMs = 16

/**
 * A session in a transaction that others may wait for. MySQL locks the place of a key that it finds taken only when it writes it,
 * together with all places up to the key before, and that until the caller ends. So it looks for keys before it writes them.
 */
export class MeetingSession extends MysqlSession {
  readonly #beside: SqlSession | null
  readonly #readsCommitted: boolean

  constructor(client: MysqlQueryable, { beside, readsCommitted, ...options }: MeetingOptions) {
    super(client, options)
    this.#beside = beside
    this.#readsCommitted = readsCommitted
  }

  override async insertNew(
    table: TableName,
    columns: readonly string[],
    rows: readonly SqlRow[],
    key: string,
  ): Promise<ReadonlySet<string>> {
    const from = holding[table]
    const keys = rows.flatMap(({ held_key }) => (typeof held_key === 'string' ? held_key : []))
    const taken = from === undefined || keys.length === 0 ? new Set() : await this.#taken(from, keys)
    const free = rows.filter(({ held_key }) => !taken.has(held_key))
    return super.insertNew(table, columns, free, key)
  }

  /** Of these keys, those that others hold, after a wait for those that are about to take or to free one. */
  async #taken(from: string, keys: readonly string[]): Promise<ReadonlySet<unknown>> {
    if (this.#readsCommitted) return heldOf(this, from, keys, 'FOR SHARE')
    if (this.#beside === null) return new Set()
    const seen = await seenWithoutWait(this.#beside, from, keys)
    if (seen !== null) return seen
    const taken = new Set<unknown>()
    for (const key of [...keys].sort()) if (await this.#isTaken(this.#beside, from, key)) taken.add(key)
    return taken
  }

  /**
   * Waits beside the transaction for whoever has a lock, so that it has none itself afterwards: the job that holds the key could not
   * end before the caller does. Who waits for long may be waited for in turn, and only the server finds that out.
   */
  async #isTaken(beside: SqlSession, from: string, key: string): Promise<boolean> {
    const giveUpAt = clock.now() + longestLookMs
    for (let pauseMs = 1; clock.now() < giveUpAt; pauseMs = Math.min(2 * pauseMs, longestPauseMs)) {
      const seen = await seenWithoutWait(beside, from, [key])
      if (seen !== null) return seen.has(key)
      // What stays locked may be the caller's own, who need not wait for itself. To ask that may leave a lock, so not at once.
      const own = pauseMs === ownAfterMs ? await seenWithoutWait(this, from, [key]) : null
      if (own !== null) return own.has(key)
      await pause(clock, pauseMs)
    }
    return (await heldOf(this, from, [key], 'FOR SHARE')).has(key)
  }
}

/** Null where one of them is locked by another transaction. On a connection that is in none, nothing stays locked. */
async function seenWithoutWait(session: SqlSession, from: string, keys: readonly string[]): Promise<ReadonlySet<unknown> | null> {
  try {
    return await heldOf(session, from, keys, 'FOR SHARE NOWAIT')
  } catch (thrown) {
    if (isLocked(thrown)) return null
    throw thrown
  }
}

async function heldOf(session: SqlSession, from: string, keys: readonly string[], lock: string): Promise<ReadonlySet<unknown>> {
  const question = `SELECT held_key FROM ${from} WHERE held_key IN (?) ${lock}`
  const rows = await session.all<{ held_key: string }>(question, [keys])
  return new Set(rows.map(({ held_key }) => held_key))
}
