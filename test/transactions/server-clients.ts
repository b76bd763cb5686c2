import { sql } from 'drizzle-orm'
import { drizzle as drizzleMysql } from 'drizzle-orm/mysql2'
import { drizzle as drizzlePg } from 'drizzle-orm/node-postgres'
import knex from 'knex'
import { CamelCasePlugin, CompiledQuery, Kysely, MysqlDialect, PostgresDialect } from 'kysely'
import { createPool as createCallbackPool, createConnection } from 'mysql2'
import { createPool } from 'mysql2/promise'
import pg from 'pg'
import type { CallerTransaction } from 'treadle'
import { fromDrizzle, fromStatements } from 'treadle/transactions'
import type { SqlEngine } from '../services.ts'
import { type PrismaClient, prismaOnMysql, prismaOnPostgres } from './prisma-client.ts'

/** What a test does in a transaction: with what the client gives as one, and with its own way to run a statement in it. */
export type Work = (tx: CallerTransaction, execute: (sql: string) => Promise<unknown>) => Promise<void>

/** A client of a database, as a program would use it. */
export interface Client {
  /** Commits when the work has ended, and rolls back when it throws. */
  transaction(work: Work): Promise<void>
  close(): Promise<unknown>
}

export type OpenClient = (url: string) => Promise<Client>

const onMysql: Readonly<Record<string, OpenClient>> = {
  'a pool of mysql2/promise': mysqlPool,
  'a connection of mysql2 with callbacks': mysqlConnection,
  Knex: (url) => onKnex(knex({ client: 'mysql2', connection: url, pool: { min: 0, max: 2 } })),
  Kysely: async (url) => onKysely(new Kysely({ dialect: mysqlDialect(url), plugins: [new CamelCasePlugin()] })),
  'Kysely, ended by hand': async (url) => byHand(new Kysely({ dialect: mysqlDialect(url) })),
  Drizzle: drizzleOnMysql,
  Prisma: async (url) => onPrisma(prismaOnMysql(url)),
}

export const clientsOf: Readonly<Record<SqlEngine, Readonly<Record<string, OpenClient>>>> = {
  postgres: {
    'a client of pg': pgClient,
    'a pool of pg': pgPool,
    Knex: (url) => onKnex(knex({ client: 'pg', connection: url, pool: { min: 0, max: 2 } })),
    Kysely: async (url) => onKysely(new Kysely({ dialect: postgresDialect(url), plugins: [new CamelCasePlugin()] })),
    'Kysely, ended by hand': async (url) => byHand(new Kysely({ dialect: postgresDialect(url) })),
    Drizzle: drizzleOnPg,
    Prisma: async (url) => onPrisma(prismaOnPostgres(url)),
    'a function that runs statements': statementsOnPg,
  },
  mariadb: onMysql,
  mysql: onMysql,
}

async function pgClient(url: string): Promise<Client> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  return { transaction: (work) => onPg(client, work, client), close: () => client.end() }
}

async function pgPool(url: string): Promise<Client> {
  const pool = new pg.Pool({ connectionString: url, max: 2 })
  return {
    async transaction(work) {
      const client = await pool.connect()
      try {
        await onPg(client, work, client)
      } finally {
        client.release()
      }
    },
    close: () => pool.end(),
  }
}

async function statementsOnPg(url: string): Promise<Client> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  const tx = fromStatements(async (text, values) => (await client.query(text, [...values])).rows)
  return { transaction: (work) => onPg(client, work, tx), close: () => client.end() }
}

async function onPg(client: pg.ClientBase, work: Work, tx: CallerTransaction): Promise<void> {
  await client.query('BEGIN')
  try {
    await work(tx, (statement) => client.query(statement))
    await client.query('COMMIT')
  } catch (thrown) {
    await client.query('ROLLBACK')
    throw thrown
  }
}

async function mysqlPool(url: string): Promise<Client> {
  const pool = createPool({ uri: url, connectionLimit: 2 })
  return {
    async transaction(work) {
      const connection = await pool.getConnection()
      try {
        await connection.beginTransaction()
        await work(connection, (statement) => connection.query(statement))
        await connection.commit()
      } catch (thrown) {
        await connection.rollback()
        throw thrown
      } finally {
        connection.release()
      }
    },
    close: () => pool.end(),
  }
}

async function mysqlConnection(url: string): Promise<Client> {
  const connection = createConnection({ uri: url })
  const promised = connection.promise()
  return {
    async transaction(work) {
      await promised.beginTransaction()
      try {
        await work(connection, (statement) => promised.query(statement))
        await promised.commit()
      } catch (thrown) {
        await promised.rollback()
        throw thrown
      }
    },
    close: () => promised.end(),
  }
}

async function onKnex(db: knex.Knex): Promise<Client> {
  return {
    transaction: (work) => db.transaction((trx) => work(trx, async (statement) => trx.raw(statement))),
    close: () => db.destroy(),
  }
}

const postgresDialect = (url: string) => new PostgresDialect({ pool: new pg.Pool({ connectionString: url, max: 2 }) })
const mysqlDialect = (url: string) => new MysqlDialect({ pool: createCallbackPool({ uri: url, connectionLimit: 2 }) })

function onKysely(db: Kysely<unknown>): Client {
  return {
    transaction: (work) =>
      db.transaction().execute((trx) => work(trx, (statement) => trx.executeQuery(CompiledQuery.raw(statement)))),
    close: () => db.destroy(),
  }
}

function byHand(db: Kysely<unknown>): Client {
  return {
    async transaction(work) {
      const trx = await db.startTransaction().execute()
      try {
        await work(trx, (statement) => trx.executeQuery(CompiledQuery.raw(statement)))
        await trx.commit().execute()
      } catch (thrown) {
        await trx.rollback().execute()
        throw thrown
      }
    },
    close: () => db.destroy(),
  }
}

async function drizzleOnPg(url: string): Promise<Client> {
  const pool = new pg.Pool({ connectionString: url, max: 2 })
  const db = drizzlePg({ client: pool })
  return {
    transaction: (work) =>
      db.transaction((tx) => work(fromDrizzle(tx, sql), async (statement) => tx.execute(sql.raw(statement)))),
    close: () => pool.end(),
  }
}

async function drizzleOnMysql(url: string): Promise<Client> {
  const pool = createPool({ uri: url, connectionLimit: 2 })
  const db = drizzleMysql({ client: pool })
  return {
    transaction: (work) =>
      db.transaction((tx) => work(fromDrizzle(tx, sql), async (statement) => tx.execute(sql.raw(statement)))),
    close: () => pool.end(),
  }
}

function onPrisma(prisma: PrismaClient): Client {
  return {
    transaction: (work) => prisma.$transaction((tx) => work(tx, (statement) => tx.$executeRawUnsafe(statement))),
    close: () => prisma.$disconnect(),
  }
}
