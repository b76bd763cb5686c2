import { randomBytes } from 'node:crypto'
import { createConnection } from 'mysql2/promise'
import pg from 'pg'
import { descriptionVariable, type EngineName, engines, withoutServers } from '../scripts/services/engines.mjs'
import { describedServer, type ServerHandle } from '../scripts/services/server-handle.mjs'
import { type Services, startServices } from '../scripts/services/start.mjs'

export type SqlEngine = 'postgres' | 'mariadb' | 'mysql'

/** A database that belongs to one test file. */
export interface FreshDatabase extends AsyncDisposable {
  readonly url: string
  readonly name: string
  /** Drops it, whoever is connected to it. */
  dispose(): Promise<void>
}

export function postgresUrl(): string {
  return urlOf('postgres')
}

export function mariadbUrl(): string {
  return urlOf('mariadb')
}

/** Null where there is no MySQL: it runs from a container or by a URL only, and most machines have neither. */
export function mysqlUrl(): string | null {
  return process.env[engines.mysql.variable] || null
}

export async function freshDatabase(engine: SqlEngine): Promise<FreshDatabase> {
  const server = urlOf(engine)
  const name = `treadle_${randomBytes(6).toString('hex')}`
  const { create, drop } = statements[engine]
  await runOn[engine](server, create(name))
  let dropped: Promise<void> | null = null
  const dispose = () => {
    dropped ??= runOn[engine](server, drop(name))
    return dropped
  }
  return { url: withDatabase(server, name), name, dispose, [Symbol.asyncDispose]: dispose }
}

/**
 * The server that all test files share, for a test that runs alone: it can be stopped and started. Null where it was not started
 * by `scripts/services`, but named by a URL.
 */
export function sharedServer(engine: EngineName): ServerHandle | null {
  const descriptionFile = process.env[descriptionVariable]
  return descriptionFile === undefined ? null : describedServer(engine, descriptionFile)
}

/** A server for one test alone, which may stop, kill and start it while others run. It is there even where a URL names another one. */
export function ownServices(names: readonly EngineName[]): Promise<Services> {
  return startServices({ names, env: withoutServers(process.env) })
}

function urlOf(engine: EngineName): string {
  const { variable, title } = engines[engine]
  const url = process.env[variable]
  if (url !== undefined && url !== '') return url
  throw new Error(
    `This test needs ${title}, and ${variable} does not say where it is. Run all tests with "npm test", or some of them with: npm run services -- npx vitest run test/…`,
  )
}

const mysqlStatements = {
  create: (name: string) => `CREATE DATABASE ${name}`,
  drop: (name: string) => `DROP DATABASE IF EXISTS ${name}`,
}

const statements = {
  postgres: {
    // Nobody can be connected to template0, which would be in the way of copying it.
    create: (name: string) => `CREATE DATABASE ${name} TEMPLATE template0`,
    drop: (name: string) => `DROP DATABASE IF EXISTS ${name} WITH (FORCE)`,
  },
  mariadb: mysqlStatements,
  mysql: mysqlStatements,
} as const satisfies Record<SqlEngine, Record<'create' | 'drop', (name: string) => string>>

const runOn = { postgres: runOnPostgres, mariadb: runOnMysql, mysql: runOnMysql }

async function runOnPostgres(url: string, sql: string): Promise<void> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    await client.query(sql)
  } finally {
    await client.end()
  }
}

async function runOnMysql(url: string, sql: string): Promise<void> {
  const connection = await createConnection(url)
  try {
    await connection.query(sql)
  } finally {
    await connection.end()
  }
}

function withDatabase(server: string, name: string): string {
  const url = new URL(server)
  url.pathname = name
  return url.href
}
