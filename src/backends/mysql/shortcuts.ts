import { CountChanges } from '../sql/counts.ts'
import { type PlainRow, plainColumns } from '../sql/sent-rows.ts'
import type { SqlDatabase, SqlSession } from '../sql/session.ts'
import type { DoneLease, Shortcuts } from '../sql/shortcuts.ts'
import { isRunning, stateNumber } from '../sql/tables.ts'
import { claim } from './claim.ts'
import type { MysqlDatabase } from './database.ts'
import { isDuplicate } from './failure.ts'

/** Each of them is one transaction of a few statements, over rows that are found by their primary keys alone. */
export function mysqlShortcuts(database: MysqlDatabase): Shortcuts {
  const store: Shortcuts['store'] = (given, rows) => (given === database ? storeQuickly(database, rows) : storeNew(given, rows))
  return { store, succeed, claim }
}

/** Nearly always all of them are new. Only where one is not it matters which they are. */
async function storeQuickly(database: MysqlDatabase, rows: readonly PlainRow[]): Promise<ReadonlySet<string> | null> {
  try {
    await database.attempt(async (session) => {
      await session.insert('jobs', plainColumns, rows)
      await count(session, rows)
    })
    return null
  } catch (thrown) {
    if (!isDuplicate(thrown)) throw thrown
  }
  return storeNew(database, rows)
}

function storeNew(database: SqlDatabase, rows: readonly PlainRow[]): Promise<ReadonlySet<string>> {
  return database.transaction(async (session) => {
    const written = await session.insertNew('jobs', plainColumns, rows, 'id')
    await count(
      session,
      rows.filter(({ id }) => written.has(id)),
    )
    return written
  })
}

async function count(session: SqlSession, rows: readonly PlainRow[]): Promise<void> {
  const changes = new CountChanges()
  for (const { lane, state } of rows) changes.add(lane, state, 1)
  await changes.insert(session)
}

const held = `SELECT id, token FROM {jobs by PRIMARY} WHERE id IN (?) AND ${isRunning} AND linked = 0 ORDER BY id FOR UPDATE`
const endedColumns = ['state', 'finished_at', 'lease_until', 'cancel', 'held_key', 'result'] as const

function succeed(database: SqlDatabase, done: readonly DoneLease[], now: number): Promise<ReadonlySet<string> | null> {
  const ids = done.map(({ id }) => id).sort()
  const ended = { state: stateNumber.succeeded, finished_at: now, lease_until: null, cancel: 0, held_key: null }
  return database.transaction(async (session) => {
    const rows = await session.all<{ id: string; token: string }>(held, [ids])
    const tokens = new Map(rows.map(({ id, token }) => [id, token]))
    const mine = done.filter(({ id, claim }) => tokens.get(id) === claim)
    await session.update(
      'jobs',
      ['id'],
      endedColumns,
      mine.map(({ id, result }) => ({ id, ...ended, result })),
    )
    const changes = new CountChanges()
    for (const { lane } of mine) changes.move(lane, stateNumber.running, stateNumber.succeeded)
    await changes.insert(session)
    return mine.length === done.length ? null : new Set(mine.map(({ id }) => id))
  })
}
