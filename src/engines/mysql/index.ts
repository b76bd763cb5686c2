import type { QueueBackend } from '../../queue/contract/contract.ts'
import type { OpenUpkeep } from '../../queue/contract/upkeep.ts'
import { openAgain } from '../servers/repeating.ts'
import { sqlBackend } from '../sql/backend.ts'
import { Migrating } from '../sql/upkeep/migrating.ts'
import { LocalWaker } from '../sql/waking/waker.ts'
import { mysqlDatabase } from './connections/database.ts'
import { type PoolMaker, poolMaker } from './connections/driver.ts'
import { isTransient } from './connections/failure.ts'
import { lookAtServer } from './connections/server.ts'
import { diagnoseMysql } from './diagnosing.ts'
import { type MysqlConfig, type MysqlOptions, mysqlConfig } from './options.ts'
import { mysqlMigrations } from './schema/migrations.ts'
import { mysqlSchemaEngine } from './schema/schema-engine.ts'
import { sessionsOn, workOn } from './shared-transactions.ts'
import { mysqlShortcuts } from './shortcuts.ts'
import { MysqlStatements, mysqlNames } from './statements/statements.ts'

export type { MysqlConnection, MysqlPool } from './connections/client.ts'
export type { MysqlOptions } from './options.ts'

const kind = 'mysql'

/** Opens the queue in a MySQL or MariaDB database and migrates its schema. */
export async function openMysql(options: MysqlOptions): Promise<QueueBackend> {
  const config = mysqlConfig(options)
  return openAgain(() => openQueue(config))
}

async function openQueue(config: MysqlConfig): Promise<QueueBackend> {
  const { database, schema, session, isMariadb, upkeep } = await connect(config)
  try {
    await schema.prepare(config.migrate)
  } catch (thrown) {
    await database[Symbol.asyncDispose]()
    throw thrown
  }
  const { clock, logger, pool } = config
  // Callers may hold all connections of their own pool.
  const beside = pool === null ? database : null
  const sessionOn = sessionsOn({ session: { ...session, longestMs: null }, isMariadb, beside })
  return sqlBackend({
    kind,
    database,
    shortcuts: mysqlShortcuts(database),
    waker: new LocalWaker(),
    upkeep,
    clock,
    logger,
    sharing: { sessionOn, workOn, isTransient },
  })
}

/** For maintenance commands. Does not check the schema until asked to. */
export async function openMysqlUpkeep(options: MysqlOptions): Promise<OpenUpkeep> {
  const { database, upkeep } = await connect(mysqlConfig(options))
  return { ...upkeep, [Symbol.asyncDispose]: () => database[Symbol.asyncDispose]() }
}

async function connect(config: MysqlConfig) {
  const { pool: given, prefix, queryTimeoutMs: longestMs, clock } = config
  const names = mysqlNames(prefix)
  const remake = given === null ? await poolMaker(config) : null
  const pool = given ?? (remake as PoolMaker)()
  try {
    const { isMariadb, exactCollation, maxPacketBytes, canCombine } = await lookAtServer(pool, longestMs)
    const statements = new MysqlStatements(names, exactCollation)
    const session = { statements, maxPacketBytes, canCombine }
    const database = mysqlDatabase({ ...session, pool, remake, longestMs })
    const engine = mysqlSchemaEngine(database, prefix, mysqlMigrations(exactCollation))
    const schema = new Migrating(database, engine, names)
    const diagnose = () => diagnoseMysql({ database, schema, clock, prefix })
    return { database, session, isMariadb, schema, upkeep: { kind, schema, diagnose } }
  } catch (thrown) {
    if (remake !== null) await pool.end()
    throw thrown
  }
}
