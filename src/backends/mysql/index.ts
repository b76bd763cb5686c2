import type { QueueBackend } from '../contract.ts'
import { sqlBackend } from '../sql/backend.ts'
import { Migrating } from '../sql/migrating.ts'
import { LocalWaker } from '../sql/waker.ts'
import type { OpenUpkeep } from '../upkeep.ts'
import { MysqlDatabase } from './database.ts'
import { openPool } from './driver.ts'
import { isTransient } from './failure.ts'
import { mysqlMigrations } from './migrations.ts'
import { type MysqlConfig, type MysqlOptions, mysqlConfig } from './options.ts'
import { mysqlSchemaEngine } from './schema-engine.ts'
import { lookAtServer } from './server.ts'
import { sessionOn, workOn } from './shared-transactions.ts'
import { mysqlShortcuts } from './shortcuts.ts'
import { MysqlStatements, mysqlNames } from './statements.ts'

export type { MysqlConnection, MysqlPool } from './client.ts'
export type { MysqlOptions } from './options.ts'

const kind = 'mysql'

/** Opens the queue in a MySQL or MariaDB database, and brings its schema up to date. */
export async function openMysql(options: MysqlOptions): Promise<QueueBackend> {
  const config = mysqlConfig(options)
  const { database, schema, session } = await connect(config)
  try {
    await schema.prepare(config.migrate)
  } catch (thrown) {
    await database[Symbol.asyncDispose]()
    throw thrown
  }
  const { clock } = config
  return sqlBackend({
    kind,
    database,
    shortcuts: mysqlShortcuts(database),
    waker: new LocalWaker(),
    upkeep: { kind, schema },
    clock,
    sharing: { sessionOn: (found) => sessionOn(found, session), workOn, isTransient },
  })
}

/** For those who look after the database. Its schema is not looked at before it is asked for. */
export async function openMysqlUpkeep(options: MysqlOptions): Promise<OpenUpkeep> {
  const { database, schema } = await connect(mysqlConfig(options))
  return { kind, schema, [Symbol.asyncDispose]: () => database[Symbol.asyncDispose]() }
}

async function connect({ url, pool: given, prefix }: MysqlConfig) {
  const names = mysqlNames(prefix)
  const pool = given ?? (await openPool(url))
  const ownsPool = given === null
  try {
    const { exactCollation, maxPacketBytes, canCombine } = await lookAtServer(pool)
    const statements = new MysqlStatements(names, exactCollation)
    const session = { statements, maxPacketBytes, canCombine }
    const database = new MysqlDatabase(pool, { ...session, ownsPool })
    const engine = mysqlSchemaEngine(database, prefix, mysqlMigrations(exactCollation))
    return { database, session, schema: new Migrating(database, engine, names) }
  } catch (thrown) {
    if (ownsPool) await pool.end()
    throw thrown
  }
}
