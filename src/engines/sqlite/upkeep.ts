import { existsSync } from 'node:fs'
import type { OpenUpkeep } from '../../queue/contract/upkeep.ts'
import { noSchema } from '../../queue/upkeep/migration.ts'
import { diagnoseSqlite, objectNames } from './diagnosing.ts'
import type { SqliteDriverName } from './driver-names.ts'
import { Connection } from './file/connection.ts'
import type { SqliteDriver } from './file/driver.ts'
import { chooseDriver } from './file/driver-choice.ts'
import { latestVersion, migrate, plan, schemaState } from './schema/migrating.ts'

/** How long to wait for a lock: another process may be writing. */
const patienceMs = 30_000

/** Maintains a file. A missing file is created only by a migration. */
export async function openSqliteUpkeep(path: string, driver?: SqliteDriverName): Promise<OpenUpkeep> {
  const { Driver } = await chooseDriver(driver)
  return {
    kind: 'sqlite',
    schema: {
      latest: latestVersion,
      state: async () => (existsSync(path) ? using(Driver, path, schemaState) : noSchema),
      plan: async (to) => using(Driver, existsSync(path) ? path : ':memory:', (connection) => plan(connection, path, to)),
      migrate: async (to) =>
        using(Driver, path, (connection) => {
          connection.makeDurable()
          migrate(connection, path, to)
          return schemaState(connection)
        }),
    },
    diagnose: () =>
      diagnoseSqlite(
        path,
        (work) => using(Driver, path, work),
        () => expectedNames(Driver),
      ),
    [Symbol.asyncDispose]: async () => {},
  }
}

/** The tables and indexes of a newly created database. */
function expectedNames(Driver: SqliteDriver): readonly string[] {
  return using(Driver, ':memory:', (connection) => {
    migrate(connection, ':memory:')
    return objectNames(connection)
  })
}

/** Upkeep is rare, so each task opens the file itself, and no connection stays open beside a running program's. */
function using<Answer>(Driver: SqliteDriver, path: string, work: (connection: Connection) => Answer): Answer {
  const connection = Connection.open(Driver, { path, busyMs: patienceMs })
  try {
    return work(connection)
  } finally {
    connection.close()
  }
}
