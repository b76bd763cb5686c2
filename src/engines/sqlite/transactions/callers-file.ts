import { statSync } from 'node:fs'
import { TreadleError } from '../../../core/errors.ts'
import type { SqliteConnection } from '../../../definition/transactions/caller-transaction.ts'
import { fileOf } from '../file/connection.ts'
import type { SqliteDatabase, SqliteStatement, SqliteValue } from '../file/driver.ts'

/** Connections tell whether they are in a transaction by one of these names; some of Node 22 do not tell. */
type TellingConnection = SqliteConnection & { readonly inTransaction?: boolean; readonly isTransaction?: boolean }

/** Undefined where the driver does not tell. */
export function isInTransaction(connection: SqliteConnection): boolean | undefined {
  try {
    const { inTransaction, isTransaction } = connection as TellingConnection
    return inTransaction ?? isTransaction
  } catch {
    // It was closed, and with it whatever was open.
    return false
  }
}

/** Without a transaction each statement would be kept by itself, at once, whatever the caller does next. */
export function refuseOutside(connection: SqliteConnection): void {
  if (isInTransaction(connection) ?? !begins(connection)) return
  const message =
    'The SQLite connection is in no transaction, so there is nothing to join. Begin one first: BEGIN IMMEDIATE, or transaction() of better-sqlite3'
  throw new TreadleError('TRANSACTION_INVALID', message)
}

/** A transaction cannot begin inside of another one. */
function begins(connection: SqliteConnection): boolean {
  try {
    connection.exec('BEGIN')
  } catch {
    return false
  }
  connection.exec('ROLLBACK')
  return true
}

/** Refuses a connection to another file than the queue is in. */
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

/** The caller's connection as the queue wants to use it, whatever answers it was told to give. */
export function asDatabase(connection: SqliteConnection): SqliteDatabase {
  const isNamed = 'pragma' in connection
  return {
    exec: (sql) => void connection.exec(sql),
    prepare(sql) {
      const statement = connection.prepare(sql) as SqliteStatement & AnswerSettings
      statement.safeIntegers?.(false)
      statement.setReadBigInts?.(false)
      statement.setReturnArrays?.(false)
      return isNamed && /\?\d/.test(sql) ? withNumbers(statement) : statement
    },
    close() {},
  }
}

/** What statements of the drivers can be told of their answers. */
interface AnswerSettings {
  safeIntegers?(on: boolean): unknown
  setReadBigInts?(on: boolean): unknown
  setReturnArrays?(on: boolean): unknown
}

/** `better-sqlite3` takes the number of a value for its name. */
function withNumbers(statement: SqliteStatement): SqliteStatement {
  const named = (values: readonly SqliteValue[]) =>
    Object.fromEntries(values.map((value, index) => [index + 1, value])) as unknown as SqliteValue
  return {
    run: (...values) => statement.run(named(values)),
    get: (...values) => statement.get(named(values)),
    all: (...values) => statement.all(named(values)),
  }
}
