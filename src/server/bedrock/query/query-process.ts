import { loadDriver } from '../../../backends/sqlite/driver.ts'
import { messageOf } from '../../../core/errors.ts'
import { watchParent } from '../../../isolation/parent-watch.ts'
import type { QueryAnswer, Question } from './query.ts'

/** One query on a copy of the jobs in memory: whatever it says, it can reach nothing else. */
async function answer({ sql, rows, mostRows, mostBytes }: Question): Promise<QueryAnswer> {
  const Database = await loadDriver()
  const database = new Database(':memory:')
  database.exec(`CREATE TABLE jobs (created TIMESTAMP NOT NULL, jobID INTEGER NOT NULL PRIMARY KEY, state TEXT NOT NULL,
    name TEXT NOT NULL, nextRun TIMESTAMP NOT NULL, lastRun TIMESTAMP, repeat TEXT NOT NULL, data TEXT NOT NULL,
    priority INTEGER NOT NULL DEFAULT 500, parentJobID INTEGER NOT NULL DEFAULT 0, retryAfter TEXT NOT NULL DEFAULT '');
    BEGIN`)
  const insert = database.prepare('INSERT INTO jobs VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)')
  for (const row of rows) insert.run(...row)
  database.exec('COMMIT; PRAGMA query_only = ON')
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
  } finally {
    database.close()
  }
}

function cellOf(value: unknown): string {
  return value === null || value === undefined ? '' : String(value)
}

process.once('message', async (question: Question) => {
  // A query that does not end must not outlive the server that would end it.
  watchParent({ parent: question.server, graceMs: 0 })
  process.send?.(await answer(question))
})
