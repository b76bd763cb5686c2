// Stands in for the SQLite driver: tells what a connection was set to, when it is closed, and while it stored jobs.
import { appendFileSync } from 'node:fs'
import { isMainThread } from 'node:worker_threads'

const real = await import('node:sqlite').catch(() => import('@photostructure/sqlite'))

export class DatabaseSync extends real.DatabaseSync {
  #storedWith = new Set()

  prepare(sql) {
    const statement = super.prepare(sql)
    if (!/^\s*INSERT( OR FAIL)? INTO treadle_jobs\b/i.test(sql)) return statement
    const watched = (target, name) => {
      if (typeof target[name] !== 'function') return target[name]
      return (...values) => {
        this.#storedWith.add(this.#ask('PRAGMA synchronous'))
        return target[name](...values)
      }
    }
    return new Proxy(statement, { get: watched })
  }

  close() {
    const seen = {
      isMainThread,
      journalMode: this.#ask('PRAGMA journal_mode'),
      storedWith: [...this.#storedWith],
      changes: this.#ask('SELECT total_changes()'),
    }
    appendFileSync(process.env.CONNECTIONS_LOG, `${JSON.stringify(seen)}\n`)
    super.close()
  }

  #ask(sql) {
    return Object.values(super.prepare(sql).get())[0]
  }
}
