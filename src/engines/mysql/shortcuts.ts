import { type Answer, wait } from '../../core/answer.ts'
import { CountChanges } from '../sql/lanes/counts.ts'
import { columnsOf, type PlainRow } from '../sql/rows/sent-rows.ts'
import type { SqlDatabase } from '../sql/session.ts'
import type { Shortcuts } from '../sql/shortcuts.ts'
import { claim } from './claim.ts'
import type { MysqlDatabase } from './connections/database.ts'
import { isDuplicate } from './connections/failure.ts'
import { succeed, succeedQuickly } from './succeeding.ts'

/** Each shortcut is one transaction of a few statements, on rows found by primary key only. */
export function mysqlShortcuts(database: MysqlDatabase): Shortcuts {
  const store: Shortcuts['store'] = (given, rows) => (given === database ? storeQuickly(database, rows) : storeNew(given, rows))
  return {
    store,
    succeed: (given, done, time) => (given === database ? succeedQuickly : succeed)(given, done, time),
    claim,
    heedsPauses: false,
  }
}

/** Almost always, all of them are new. Which ones are new only matters if some are not. */
async function storeQuickly(database: MysqlDatabase, rows: readonly PlainRow[]): Promise<ReadonlySet<string> | null> {
  try {
    await database.attempt(function* (session) {
      yield* wait(session.insert('jobs', columnsOf(rows), rows))
      const changes = new CountChanges()
      for (const { lane, state } of rows) changes.add(lane, state, 1)
      yield* changes.insert(session)
    })
    return null
  } catch (thrown) {
    if (!isDuplicate(thrown)) throw thrown
  }
  return storeNew(database, rows)
}

function storeNew(database: SqlDatabase, rows: readonly PlainRow[]): Answer<ReadonlySet<string>> {
  return database.transaction(function* (session) {
    const written = yield* wait(session.insertNew('jobs', columnsOf(rows), rows, 'id'))
    const changes = new CountChanges()
    changes.addWritten(rows, written)
    yield* changes.insert(session)
    return written
  })
}
