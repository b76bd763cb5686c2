// Stands in for the SQLite driver: tells what a connection was set to, when it is closed.
import { appendFileSync } from 'node:fs'
import { isMainThread } from 'node:worker_threads'

const real = await import('node:sqlite').catch(() => import('@photostructure/sqlite'))

export class DatabaseSync extends real.DatabaseSync {
  close() {
    const ask = (sql) => Object.values(this.prepare(sql).get())[0]
    const seen = {
      isMainThread,
      journalMode: ask('PRAGMA journal_mode'),
      synchronous: ask('PRAGMA synchronous'),
      changes: ask('SELECT total_changes()'),
    }
    appendFileSync(process.env.CONNECTIONS_LOG, `${JSON.stringify(seen)}\n`)
    super.close()
  }
}
