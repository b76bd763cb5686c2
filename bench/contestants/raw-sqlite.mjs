// The ceiling: the driver that Treadle uses, on one connection, with the fewest statements that a durable queue could do with.
import { join } from 'node:path'
import { loadDriver } from '../../build/engines/sqlite/file/driver.js'

const batch = 500

/** @type {import('./contestant.mjs').Open} */
export async function openRawSqlite(folder) {
  const Driver = await loadDriver()
  const database = new Driver(join(folder, 'raw.db'))
  database.exec('PRAGMA journal_mode = WAL')
  database.exec('PRAGMA synchronous = FULL')
  database.exec(
    'CREATE TABLE IF NOT EXISTS jobs (id INTEGER PRIMARY KEY, payload TEXT NOT NULL, state INTEGER NOT NULL DEFAULT 0)',
  )
  database.exec('CREATE INDEX IF NOT EXISTS jobs_ready ON jobs (id) WHERE state = 0')
  const insert = database.prepare('INSERT INTO jobs (payload) VALUES (?)')
  const lease = database.prepare(
    `UPDATE jobs SET state = 1 WHERE id IN (SELECT id FROM jobs WHERE state = 0 ORDER BY id LIMIT ${batch}) RETURNING id, payload`,
  )
  const remove = database.prepare('DELETE FROM jobs WHERE id = ?')

  function transaction(work) {
    database.exec('BEGIN IMMEDIATE')
    const answer = work()
    database.exec('COMMIT')
    return answer
  }

  return {
    add: (payload) => insert.run(JSON.stringify(payload)),
    addMany(payloads) {
      transaction(() => {
        for (const payload of payloads) insert.run(JSON.stringify(payload))
      })
    },
    // Two commits for each batch: the lease must be on disk before a handler runs, the end after it.
    async drain(_concurrency, count) {
      for (let left = count; left > 0; ) {
        const leased = transaction(() => lease.all())
        if (leased.length === 0) throw new Error(`The plain driver found ${left} jobs too few`)
        transaction(() => {
          for (const { id } of leased) remove.run(id)
        })
        left -= leased.length
      }
    },
    close: () => database.close(),
  }
}
