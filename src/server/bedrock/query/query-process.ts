import { messageOf } from '../../../core/errors.ts'
import { loadDriver, type SqliteDatabase, type SqliteStatement } from '../../../engines/sqlite/file/driver.ts'
import { watchParent } from '../../../isolation/parent-watch.ts'
import type { JobsRow } from './jobs-table.ts'
import type { QueryAnswer, ToQueryProcess } from './query-child.ts'
import { sqliteText } from './sqlite-text.ts'

type Ask = Extract<ToQueryProcess, { kind: 'ask' }>

/** Opens the in-memory copy of the jobs that one query runs on, so that it cannot reach anything else. */
async function openCopy(): Promise<SqliteDatabase> {
  const Database = await loadDriver()
  const database = new Database(':memory:')
  database.exec(`PRAGMA temp_store = MEMORY; PRAGMA hard_heap_limit = ${256 * 1024 * 1024};
    CREATE TABLE jobs (created TIMESTAMP NOT NULL, jobID INTEGER NOT NULL PRIMARY KEY, state TEXT NOT NULL,
    name TEXT NOT NULL, nextRun TIMESTAMP NOT NULL, lastRun TIMESTAMP, repeat TEXT NOT NULL, data TEXT NOT NULL,
    priority INTEGER NOT NULL DEFAULT 500, parentJobID INTEGER NOT NULL DEFAULT 0, retryAfter TEXT NOT NULL DEFAULT '')`)
  return database
}

/** A job that changes its state while the jobs are read may arrive twice. */
function copy(rows: readonly JobsRow[], database: SqliteDatabase): void {
  database.exec('BEGIN')
  const insert = database.prepare('INSERT OR REPLACE INTO jobs VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)')
  for (const row of rows) insert.run(...row)
  database.exec('COMMIT')
}

function answer({ sql, mostRows, mostBytes }: Ask, database: SqliteDatabase): QueryAnswer {
  database.exec('PRAGMA query_only = ON')
  try {
    const statement = database.prepare(sql)
    statement.setReadBigInts?.(true)
    const columns = namesIn(statement)
    const found: string[][] = []
    let headers = columns ?? []
    let bytes = 0
    for (const row of statement.iterate?.() ?? statement.all()) {
      const cells = Object.values(row as object).map(sqliteText)
      for (const cell of cells) bytes += cell.length
      if (columns === null && found.length === 0) headers = Object.keys(row as object)
      if (found.push(cells) > mostRows) return { error: `the answer has more than ${mostRows} rows` }
      if (bytes > mostBytes) return { error: `the answer has more than ${mostBytes} bytes` }
    }
    return { headers: found.length === 0 ? [] : headers, rows: found }
  } catch (thrown) {
    return { error: messageOf(thrown) }
  }
}

/**
 * The names of the columns, whose values then come as lists: several columns may have the same name. Null if the driver does not
 * know this, as that of Node before 22.16.
 */
function namesIn(statement: SqliteStatement): readonly string[] | null {
  const columns = statement.columns?.()
  if (columns === undefined || statement.setReturnArrays === undefined) return null
  statement.setReturnArrays(true)
  return columns.map(({ name }) => name)
}

const opening = openCopy()

process.on('message', async (message: ToQueryProcess) => {
  // A query that does not end must not outlive the server that would stop it.
  if (message.kind === 'begin') watchParent({ parent: message.server, graceMs: 0, mostMemoryBytes: message.mostMemoryBytes })
  const database = await opening
  if (message.kind === 'rows') copy(message.rows, database)
  if (message.kind === 'ask') process.send?.(answer(message, database))
})
