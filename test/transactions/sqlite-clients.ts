import type { SqliteConnection } from 'treadle'
import type { SqliteDriverName } from '../../src/engines/sqlite/driver-names.ts'
import { usual } from '../processes/database.ts'
import { requireClient } from './installed-clients.ts'

/** An open file, whichever driver opened it. */
export type OpenFile = SqliteConnection & {
  exec(sql: string): unknown
  prepare(sql: string): { all(): unknown[] }
  close(): unknown
}

export type OpenFileDriver = new (path: string) => OpenFile

export const BetterSqlite = requireClient('better-sqlite3') as OpenFileDriver

/** The drivers of SQLite that a program may have its own connection by: Node's own (or the package that brings it), and another. */
export const clients: readonly (readonly [name: SqliteDriverName, Driver: OpenFileDriver])[] = [
  [usual.name, usual.Driver as OpenFileDriver],
  ['better-sqlite3', BetterSqlite],
]
