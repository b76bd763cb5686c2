import { statSync } from 'node:fs'
import { TreadleError } from '../../../core/errors.ts'
import type { SqliteConnection } from '../../../definition/transactions/caller-transaction.ts'
import { AdaptedDatabase, isBetter } from '../file/better-sqlite.ts'
import { fileOf } from '../file/connection.ts'
import type { SqliteDatabase, SqliteStatement } from '../file/driver.ts'
import type { ChosenDriver } from '../file/driver-choice.ts'

/** Drivers report under one of these names whether they are in a transaction; some versions of Node 22 do not. */
type TellingConnection = SqliteConnection & { readonly inTransaction?: boolean; readonly isTransaction?: boolean }

/** Undefined if the driver does not report it. */
export function isInTransaction(connection: SqliteConnection): boolean | undefined {
  try {
    const { inTransaction, isTransaction } = connection as TellingConnection
    return inTransaction ?? isTransaction
  } catch {
    // The connection was closed, which ended any open transaction.
    return false
  }
}

/** Without a transaction, each statement would be committed immediately, whatever the caller does next. */
export function refuseOutside(connection: SqliteConnection): void {
  if (isInTransaction(connection) ?? !begins(connection)) return
  const message =
    'The SQLite connection is in no transaction, so there is nothing to join. Begin one first: BEGIN IMMEDIATE, or transaction() of better-sqlite3'
  throw new TreadleError('TRANSACTION_INVALID', message)
}

/** Whether a transaction can be begun, which is impossible inside another one. */
function begins(connection: SqliteConnection): boolean {
  try {
    connection.exec('BEGIN')
  } catch {
    return false
  }
  connection.exec('ROLLBACK')
  return true
}

/** Refuses a connection to a file other than the queue's. */
export function refuseOtherFile(database: SqliteDatabase, path: string): void {
  const file = fileOf(database)
  if (file !== '' && isSameFile(file, path)) return
  const what = file === '' ? 'a database in memory' : file
  const message = `The transaction is one of ${what}, and the queue is in ${path}. Open that file for both, or dispatch without in()`
  throw new TreadleError('TRANSACTION_INVALID', message)
}

function isSameFile(one: string, other: string): boolean {
  const [a, b] = [one, other].map((path) => statSync(path, { bigint: true, throwIfNoEntry: false }))
  return a !== undefined && a.ino === b?.ino && a.dev === b.dev
}

/** The caller's connection in the form the queue needs, whatever result format it was configured for. */
export function asDatabase(connection: SqliteConnection): SqliteDatabase {
  if (isBetter(connection)) return new AdaptedDatabase(connection)
  return {
    exec: (sql) => void connection.exec(sql),
    prepare(sql) {
      const statement = connection.prepare(sql) as SqliteStatement
      statement.setReadBigInts?.(false)
      statement.setReturnArrays?.(false)
      return statement
    },
    close() {},
  }
}

/** Two copies of SQLite in one process do not see each other's locks, and destroy the file that both have open. */
export function refuseOtherCopy(connection: SqliteConnection, driver: ChosenDriver): void {
  if (driver.hasOpened(connection)) return
  const { name } = driver.choice
  const advice = isBetter(connection)
    ? "Import better-sqlite3 before the queue is opened, or set the option sqliteDriver: 'better-sqlite3'"
    : `Open the file with ${name}, or set the option sqliteDriver to the driver that you use`
  const message = `The transaction is one of another copy of SQLite than the queue's, which is that of ${name}: in one process, they would destroy the file. ${advice}`
  throw new TreadleError('TRANSACTION_INVALID', message)
}
