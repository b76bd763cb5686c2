import { messageOf } from '../../../core/errors.ts'
import { loadDriver, type SqliteDatabase } from '../../../engines/sqlite/file/driver.ts'
import { watchParent } from '../../../isolation/parent-watch.ts'
import type { JobsRow } from './jobs-table.ts'
import type { QueryAnswer, ToQueryProcess } from './query-child.ts'

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
    const found: string[][] = []
    let headers: readonly string[] = []
    let bytes = 0
    const statement = database.prepare(sql)
    for (const each of statement.iterate?.() ?? statement.all()) {
      const row = each as Readonly<Record<string, unknown>>
      const cells = Object.values(row).map(cellOf)
      for (const cell of cells) bytes += cell.length
      if (found.length === 0) headers = Object.keys(row)
      if (found.push(cells) > mostRows) return { error: `the answer has more than ${mostRows} rows` }
      if (bytes > mostBytes) return { error: `the answer has more than ${mostBytes} bytes` }
    }
    return { headers, rows: found }
  } catch (thrown) {
    return { error: messageOf(thrown) }
  }
}

function cellOf(value: unknown): string {
  return value === null || value === undefined ? '' : String(value)
}

const opening = openCopy()

process.on('message', async (message: ToQueryProcess) => {
  // A query that does not end must not outlive the server that would stop it.
  if (message.kind === 'begin') watchParent({ parent: message.server, graceMs: 0, mostMemoryBytes: message.mostMemoryBytes })
  const database = await opening
  if (message.kind === 'rows') copy(message.rows, database)
  if (message.kind === 'ask') process.send?.(answer(message, database))
})
