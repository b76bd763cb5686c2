import type { QueueBackend } from '../contract.ts'
import { sqlBackend } from '../sql/backend.ts'
import { Migrating } from '../sql/migrating.ts'
import { TableNames } from '../sql/table-names.ts'
import { LocalWaker } from '../sql/waker.ts'
import type { OpenUpkeep } from '../upkeep.ts'
import { PostgresDatabase } from './database.ts'
import { openPool } from './driver.ts'
import { postgresMigrations } from './migrations.ts'
import { type PostgresConfig, type PostgresOptions, postgresConfig } from './options.ts'
import { postgresSchemaEngine } from './schema-engine.ts'
import { postgresShortcuts } from './shortcuts.ts'
import { PostgresStatements } from './statements.ts'

export type { PostgresClient, PostgresPool } from './client.ts'
export type { PostgresOptions } from './options.ts'

const kind = 'postgres'

/** Opens the queue in a PostgreSQL database, and brings its schema up to date. */
export async function openPostgres(options: PostgresOptions): Promise<QueueBackend> {
  const config = postgresConfig(options)
  const { database, statements, schema } = await connect(config)
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
    waker: new LocalWaker(),
    upkeep: { kind, schema },
    clock: config.clock,
  })
}

/** For those who look after the database. Its schema is not looked at before it is asked for. */
export async function openPostgresUpkeep(options: PostgresOptions): Promise<OpenUpkeep> {
  const { database, schema } = await connect(postgresConfig(options))
  return { kind, schema, [Symbol.asyncDispose]: () => database[Symbol.asyncDispose]() }
}

async function connect({ url, pool: given, schema, prepare }: PostgresConfig) {
  const names = new TableNames(`${schema}.`)
  const statements = new PostgresStatements(names)
  const pool = given ?? (await openPool({ url, isSession: prepare }))
  pool.on('error', () => {})
  const database = new PostgresDatabase(pool, { statements, prepare }, given === null)
  const engine = postgresSchemaEngine(database, schema, postgresMigrations)
  return { database, statements, schema: new Migrating(database, engine, names) }
}
