import { createPool, type Pool } from 'mysql2/promise'
import { type MysqlDatabase, mysqlDatabase } from '../../../src/backends/mysql/database.ts'
import { poolMaker } from '../../../src/backends/mysql/driver.ts'
import { mysqlMigrations } from '../../../src/backends/mysql/migrations.ts'
import { mysqlSchemaEngine } from '../../../src/backends/mysql/schema-engine.ts'
import { lookAtServer } from '../../../src/backends/mysql/server.ts'
import { MysqlStatements, mysqlNames } from '../../../src/backends/mysql/statements.ts'
import { Migrating } from '../../../src/backends/sql/migrating.ts'
import { type FreshDatabase, freshDatabase, mysqlUrl } from '../../services.ts'

/** MySQL itself is not everywhere. */
export const mysqlEngines = mysqlUrl() === null ? (['mariadb'] as const) : (['mariadb', 'mysql'] as const)

/** The tables of a queue in a database of their own, and a plain pool beside it to look at them and to be in the way. */
export interface MysqlGround extends AsyncDisposable {
  readonly database: MysqlDatabase
  readonly fresh: FreshDatabase
  readonly plain: Pool
}

const longestMs = 30_000

export async function mysqlGround(engine: (typeof mysqlEngines)[number]): Promise<MysqlGround> {
  const fresh = await freshDatabase(engine)
  const remake = await poolMaker({ url: fresh.url, connections: 5, queryTimeoutMs: 10_000 })
  const pool = remake()
  const { exactCollation, ...limits } = await lookAtServer(pool, longestMs)
  const names = mysqlNames('treadle_')
  const statements = new MysqlStatements(names, exactCollation)
  const database = mysqlDatabase({ pool, remake, statements, ...limits, longestMs })
  const keeping = mysqlSchemaEngine(database, 'treadle_', mysqlMigrations(exactCollation))
  await new Migrating(database, keeping, names).migrate()
  const plain = createPool(fresh.url)
  return {
    database,
    fresh,
    plain,
    async [Symbol.asyncDispose]() {
      await plain.end()
      await database[Symbol.asyncDispose]()
      await fresh.dispose()
    },
  }
}

/** The same queue through somebody else's pool. */
export async function databaseOn(pool: Pool): Promise<MysqlDatabase> {
  const { exactCollation, ...limits } = await lookAtServer(pool, longestMs)
  const statements = new MysqlStatements(mysqlNames('treadle_'), exactCollation)
  return mysqlDatabase({ pool, remake: null, statements, ...limits, longestMs })
}
