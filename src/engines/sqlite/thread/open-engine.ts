import { Connection } from '../file/connection.ts'
import type { SqliteDatabase, SqliteDriver } from '../file/driver.ts'
import { checkSchema, migrate } from '../schema/migrating.ts'
import type { EngineOptions, LocalEngine } from './engine.ts'
import { FileEngine } from './file-engine.ts'

export function openEngine(Driver: SqliteDriver, options: EngineOptions): LocalEngine {
  const connection = Connection.open(Driver, options)
  try {
    checkSchema(connection, options.path, options.migrate)
    connection.makeDurable()
    migrate(connection, options.path)
    connection.setBusyMs(options.busyMs)
    connection.watchFile(options.identity)
    return new FileEngine(connection, options)
  } catch (thrown) {
    connection.close()
    throw thrown
  }
}

/** For a caller's connection. Use it only while that connection is in a transaction. */
export function joiningEngine(database: SqliteDatabase, path: string, fastPaths: boolean): LocalEngine {
  const connection = Connection.joining(database, path)
  checkSchema(connection, path, false)
  return new FileEngine(connection, { fastPaths })
}
