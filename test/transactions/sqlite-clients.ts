import type { SqliteConnection } from 'treadle'
import { connect } from '../processes/database.ts'
import { requireClient } from './installed-clients.ts'

/** An open file, whichever driver opened it. */
export type OpenFile = SqliteConnection & {
  exec(sql: string): unknown
  prepare(sql: string): { all(): unknown[] }
  close(): unknown
}

/** The drivers of SQLite that a program may have its own connection by: Node's own (or the package that brings it), and another. */
export async function clientsOf(): Promise<readonly (readonly [name: string, open: (path: string) => OpenFile])[]> {
  const Database = requireClient('better-sqlite3') as new (path: string) => OpenFile
  return [
    ['DatabaseSync', (path) => connect(path) as OpenFile],
    ['better-sqlite3', (path) => new Database(path)],
  ]
}
