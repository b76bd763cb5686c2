import type { QueueBackend } from '../../queue/contract/contract.ts'
import type { OpenUpkeep } from '../../queue/contract/upkeep.ts'
import { openAgain } from '../servers/repeating.ts'
import { sqlBackend } from '../sql/backend.ts'
import { TableNames } from '../sql/rows/table-names.ts'
import { Migrating } from '../sql/upkeep/migrating.ts'
import { LocalWaker, type Waker } from '../sql/waking/waker.ts'
import { type PostgresDatabase, postgresDatabase } from './connections/database.ts'
import { type PoolMaker, poolMaker } from './connections/driver.ts'
import { isUndone } from './connections/failure.ts'
import { Preparing } from './connections/preparing.ts'
import { diagnosePostgres } from './diagnosing.ts'
import { type PostgresConfig, type PostgresOptions, postgresConfig } from './options.ts'
import { postgresMigrations } from './schema/migrations.ts'
import { postgresSchemaEngine } from './schema/schema-engine.ts'
import { sessionOn, workOn } from './shared-transactions.ts'
import { postgresShortcuts } from './shortcuts.ts'
import { PostgresStatements } from './statements.ts'
import { NotifyingWaker } from './waking/notifying.ts'

export type { PostgresClient, PostgresPool } from './connections/client.ts'
export type { PostgresOptions } from './options.ts'

const kind = 'postgres'

/** Opens the queue in a PostgreSQL database and migrates its schema. */
export async function openPostgres(options: PostgresOptions): Promise<QueueBackend> {
  const config = postgresConfig(options)
  return openAgain(() => openQueue(config))
}

async function openQueue(config: PostgresConfig): Promise<QueueBackend> {
  const { database, statements, schema, upkeep } = await connect(config)
  try {
    await schema.prepare(config.migrate)
  } catch (thrown) {
    await database[Symbol.asyncDispose]()
    throw thrown
  }
  return sqlBackend({
    kind,
    database,
    shortcuts: postgresShortcuts(statements),
    waker: wakerOf(config, database),
    upkeep,
    clock: config.clock,
    logger: config.logger,
    sharing: { sessionOn: (found) => sessionOn(found, statements), workOn, isTransient: isUndone },
  })
}

/** For maintenance commands. Does not check the schema until asked to. */
export async function openPostgresUpkeep(options: PostgresOptions): Promise<OpenUpkeep> {
  const { database, upkeep } = await connect(postgresConfig(options))
  return { ...upkeep, [Symbol.asyncDispose]: () => database[Symbol.asyncDispose]() }
}

async function connect(config: PostgresConfig) {
  const { pool: given, schema: place, prepare, clock } = config
  const names = new TableNames(`${place}.`)
  const statements = new PostgresStatements(names)
  const preparing = new Preparing(prepare ?? true)
  const onPooler = () => {
    if (prepare === null) preparing.giveUp()
  }
  const remake = given === null ? await poolMaker(config, onPooler) : null
  const pool = given ?? (remake as PoolMaker)()
  const database = postgresDatabase({ pool, remake, schema: place, statements, preparing, longestMs: config.queryTimeoutMs })
  const schema = new Migrating(database, postgresSchemaEngine(database, place, postgresMigrations), names)
  const diagnose = () => diagnosePostgres({ database, schema, clock, place, longestMs: config.queryTimeoutMs })
  return { database, statements, schema, upkeep: { kind, schema, diagnose } }
}

function wakerOf({ notify, schema, listenUrl, logger }: PostgresConfig, database: PostgresDatabase): Waker {
  return notify ? new NotifyingWaker({ database, schema, listenUrl, logger }) : new LocalWaker()
}
