import { type Answer, type Steps, wait } from '../../../core/answer.ts'
import type { UniqueUntil } from '../../../envelope/envelope.ts'
import { untilNumber } from '../rows/job-row.ts'
import type { SqlRow, SqlSession } from '../session.ts'

/** The jobs that hold one key. */
export interface HeldKeys {
  readonly living?: string
  readonly lasting?: { readonly jobId: string; readonly expiresAt: number }
}

interface HeldAndThere {
  /** By digest. */
  readonly held: ReadonlyMap<string, HeldKeys>
  readonly there: readonly string[]
}

/**
 * Unique keys that are held for a time or forever, whatever happens to their jobs, have rows of their own. Keys held by the state
 * of a job are in that job's row, under a unique index.
 */
export class UniqueKeys {
  /**
   * Who holds these keys by a job's state, and who for longer, even if that time is over; and which of these jobs exist. One
   * statement, because each dispatch with a key needs both.
   */
  *held(session: SqlSession, digests: readonly string[], ids: readonly string[] = []): Steps<HeldAndThere> {
    const questions = [...(digests.length === 0 ? [] : [heldBy]), ...(ids.length === 0 ? [] : [thereOf])]
    const names = [...(digests.length === 0 ? [] : [digests, digests]), ...(ids.length === 0 ? [] : [ids])]
    const rows = yield* wait(session.all<HeldRow>(questions.join(' UNION ALL '), names))
    const held = new Map<string, HeldKeys>()
    const there: string[] = []
    for (const { held_key, id, is_lasting, until } of rows) {
      const lasting = { jobId: id, expiresAt: until ?? Number.POSITIVE_INFINITY }
      if (held_key === null) there.push(id)
      else held.set(held_key, { ...held.get(held_key), ...(is_lasting === 1 ? { lasting } : { living: id }) })
    }
    return { held, there }
  }

  /** Holds keys for a time or forever, unless they are already held. Returns the digests of the keys it got. */
  *take(session: SqlSession, keys: readonly LastingKey[], now: number): Steps<ReadonlySet<string>> {
    if (keys.length === 0) return new Set()
    const rows = keys.map(({ held_key, job_id, until }) => ({
      held_key,
      job_id,
      until: until === untilNumber.ever ? null : until,
    }))
    const got = yield* wait(insert(session, rows))
    const missed = rows.filter(({ held_key }) => !got.has(held_key))
    if (missed.length === 0 || !(yield* this.#forget(session, missed, now))) return got
    return new Set([...got, ...(yield* wait(insert(session, missed)))])
  }

  /**
   * Deletes keys whose time is over. It looks for them first, because deleting a row that does not exist may lock the gap where
   * it would be.
   */
  *#forget(session: SqlSession, keys: readonly Pick<LastingKey, 'held_key'>[], now: number): Steps<boolean> {
    const digests = keys.map(({ held_key }) => held_key).sort()
    const over = yield* wait(
      session.all<{ held_key: string }>('SELECT held_key FROM {unique_keys} WHERE held_key IN (?) AND until <= ?', [
        digests,
        now,
      ]),
    )
    if (over.length === 0) return false
    yield* wait(
      session.run('DELETE FROM {unique_keys} WHERE held_key IN (?) AND until <= ?', [over.map(({ held_key }) => held_key), now]),
    )
    return true
  }

  /** For jobs that turned out not to be stored, and for those that ended without ever being claimed. */
  *free(session: SqlSession, keys: readonly Pick<LastingKey, 'held_key' | 'job_id'>[]): Steps<void> {
    for (const { held_key, job_id } of keys) {
      yield* wait(session.run('DELETE FROM {unique_keys} WHERE held_key = ? AND job_id = ?', [held_key, job_id]))
    }
  }

  *sweep(session: SqlSession, now: number, limit: number): Steps<number> {
    const rows = yield* wait(
      session.all<{ held_key: string }>('SELECT held_key FROM {unique_keys} WHERE until <= ? LIMIT ?', [now, limit]),
    )
    if (rows.length === 0) return 0
    const keys = rows.map(({ held_key }) => held_key)
    return yield* wait(session.run('DELETE FROM {unique_keys} WHERE held_key IN (?) AND until <= ?', [keys, now]))
  }
}

interface HeldRow {
  readonly held_key: string | null
  readonly id: string
  readonly is_lasting: number
  readonly until: number | null
}

const heldBy = `SELECT held_key, id, 0 AS is_lasting, 0 AS until FROM {jobs} WHERE held_key IN (?)
  UNION ALL SELECT held_key, job_id AS id, 1 AS is_lasting, until FROM {unique_keys} WHERE held_key IN (?)`
const thereOf = 'SELECT NULL AS held_key, id, 0 AS is_lasting, 0 AS until FROM {jobs} WHERE id IN (?)'

function insert(session: SqlSession, rows: readonly SqlRow[]): Answer<ReadonlySet<string>> {
  return session.insertNew('unique_keys', ['held_key', 'job_id', 'until'], rows, 'held_key')
}

export interface LastingKey {
  readonly held_key: string
  readonly job_id: string
  readonly until: number
}

/** Whether the key is held whatever happens to the job. */
export function isLasting(until: number | null): until is number {
  return until !== null && until !== untilNumber.ended && until !== untilNumber.started
}

/** An instant so early that it would be mistaken for one of the special numbers has passed anyway. */
export function writeUntil(until: UniqueUntil): number {
  return typeof until === 'number' ? Math.max(until, untilNumber.ever + 1) : untilNumber[until]
}

export function readUntil(until: number | null): UniqueUntil {
  switch (until) {
    case null:
    case untilNumber.ended:
      return 'ended'
    case untilNumber.started:
      return 'started'
    case untilNumber.ever:
      return 'ever'
    default:
      return until
  }
}
