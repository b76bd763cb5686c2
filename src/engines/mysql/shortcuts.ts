import { wait } from '../../core/answer.ts'
import { CountChanges } from '../sql/lanes/counts.ts'
import { claimFirst, storeNew, succeedHeld } from '../sql/portable-shortcuts.ts'
import { columnsOf, type PlainRow } from '../sql/rows/sent-rows.ts'
import type { Shortcuts } from '../sql/shortcuts.ts'
import type { MysqlDatabase } from './connections/database.ts'
import { isDuplicate } from './connections/failure.ts'
import { succeedQuickly } from './succeeding.ts'

/** Each shortcut is one transaction of a few statements, on rows found by primary key only. */
export function mysqlShortcuts(database: MysqlDatabase): Shortcuts {
  const store: Shortcuts['store'] = (given, rows) => (given === database ? storeQuickly(database, rows) : storeNew(given, rows))
  return {
    store,
    succeed: (given, done, time) => (given === database ? succeedQuickly : succeedHeld)(given, done, time),
    claim: claimFirst,
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
