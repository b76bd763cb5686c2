import { pause, systemClock } from '../../../core/time/clock.ts'
import type { TableName } from '../../sql/rows/tables.ts'
import type { SqlRow, SqlSession } from '../../sql/session.ts'
import type { MysqlQueryable } from './client.ts'
import { isLocked } from './failure.ts'
import { MysqlSession, type MysqlSessionOptions } from './session.ts'

/** Additional options for a caller's transaction on MySQL (not MariaDB). */
export interface MeetingOptions extends MysqlSessionOptions {
  /** Another connection; null if acquiring one could deadlock with callers that also wait for one. */
  readonly beside: SqlSession | null
  /** Whether the transaction is READ COMMITTED: then looking up a missing key locks nothing. */
  readonly readsCommitted: boolean
}

/** The tables that hold unique keys, each with the only index that a lookup has to lock. */
const holding: Partial<Readonly<Record<TableName, string>>> = {
  jobs: '{jobs by jobs_unique}',
  unique_keys: '{unique_keys by PRIMARY}',
}

/** Locks belong to other programs, so their timing does not use the queue's clock. */
const clock = systemClock
/** How long to keep checking whether a lock is gone. */
const longestLookMs = 1_000
const longestPauseMs = 50
const ownAfterMs = 16

/**
 * A session in a transaction that others may have to wait for. If MySQL finds a key taken when it is inserted, it locks the key
 * and the gap before it until the caller's transaction ends. So this session looks for keys before it writes them.
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

  /** Returns the keys that others hold, after waiting for transactions that are about to take or free one. */
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
   * Waits for the lock on another connection, so that this transaction does not hold one afterwards: the job that holds the key
   * could not end before the caller's transaction does. A long wait may be a deadlock, which only the server can detect, so the
   * final attempt waits in this transaction.
   */
  async #isTaken(beside: SqlSession, from: string, key: string): Promise<boolean> {
    const giveUpAt = clock.now() + longestLookMs
    for (let pauseMs = 1; clock.now() < giveUpAt; pauseMs = Math.min(2 * pauseMs, longestPauseMs)) {
      const seen = await seenWithoutWait(beside, from, [key])
      if (seen !== null) return seen.has(key)
      // A lock that stays may be the caller's own, which it need not wait for. Checking that may leave a lock, so do not do it
      // right away.
      const own = pauseMs === ownAfterMs ? await seenWithoutWait(this, from, [key]) : null
      if (own !== null) return own.has(key)
      await pause(clock, pauseMs)
    }
    return (await heldOf(this, from, [key], 'FOR SHARE')).has(key)
  }
}

/** Null if another transaction has locked one of them. Outside a transaction, this leaves no locks behind. */
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
