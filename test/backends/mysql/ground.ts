import { createPool, type Pool } from 'mysql2/promise'
import { wait } from '../../../src/core/answer.ts'
import { type MysqlDatabase, mysqlDatabase } from '../../../src/engines/mysql/connections/database.ts'
import { poolMaker } from '../../../src/engines/mysql/connections/driver.ts'
import { lookAtServer } from '../../../src/engines/mysql/connections/server.ts'
import { mysqlMigrations } from '../../../src/engines/mysql/schema/migrations.ts'
import { mysqlSchemaEngine } from '../../../src/engines/mysql/schema/schema-engine.ts'
import { MysqlStatements, mysqlNames } from '../../../src/engines/mysql/statements/statements.ts'
import type { SqlSession } from '../../../src/engines/sql/session.ts'
import { Migrating } from '../../../src/engines/sql/upkeep/migrating.ts'
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

/** A transaction of a test, which may wait for more than its statements. */
export function inTransaction<Value>(database: MysqlDatabase, work: (session: SqlSession) => Promise<Value>): Promise<Value> {
  return database.transaction((session) => wait(work(session)))
}
