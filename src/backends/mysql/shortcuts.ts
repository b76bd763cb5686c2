import { CountChanges } from '../sql/counts.ts'
import { hasNumbers, numberedColumns, type PlainRow, plainColumns } from '../sql/sent-rows.ts'
import type { SqlDatabase, SqlSession } from '../sql/session.ts'
import type { Shortcuts } from '../sql/shortcuts.ts'
import { claim } from './claim.ts'
import type { MysqlDatabase } from './database.ts'
import { isDuplicate } from './failure.ts'
import { succeed, succeedQuickly } from './succeeding.ts'

/** Each of them is one transaction of a few statements, over rows that are found by their primary keys alone. */
export function mysqlShortcuts(database: MysqlDatabase): Shortcuts {
  const store: Shortcuts['store'] = (given, rows) => (given === database ? storeQuickly(database, rows) : storeNew(given, rows))
  return {
    store,
    succeed: (given, done, time) => (given === database ? succeedQuickly : succeed)(given, done, time),
    claim,
    heedsPauses: false,
  }
}

/** Nearly always all of them are new. Only where one is not it matters which they are. */
async function storeQuickly(database: MysqlDatabase, rows: readonly PlainRow[]): Promise<ReadonlySet<string> | null> {
  try {
    await database.attempt(async (session) => {
      await session.insert('jobs', columnsOf(rows), rows)
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
    const written = await session.insertNew('jobs', columnsOf(rows), rows, 'id')
    await count(
      session,
      rows.filter(({ id }) => written.has(id)),
    )
    return written
  })
}

function columnsOf(rows: readonly PlainRow[]): typeof plainColumns | typeof numberedColumns {
  return hasNumbers(rows) ? numberedColumns : plainColumns
}

async function count(session: SqlSession, rows: readonly PlainRow[]): Promise<void> {
  const changes = new CountChanges()
  for (const { lane, state } of rows) changes.add(lane, state, 1)
  await changes.insert(session)
}
