import { randomBytes } from 'node:crypto'
import { createConnection } from 'mysql2/promise'
import pg from 'pg'
import { descriptionVariable, type EngineName, engines, withoutServers } from '../scripts/services/engines.mjs'
import { thisMachine } from '../scripts/services/machine.mjs'
import { describedServer, type ServerHandle } from '../scripts/services/server-handle.mjs'
import { findSource } from '../scripts/services/source.mjs'
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
  const { create, drop } = engine === 'postgres' ? postgresDatabases : mysqlDatabases
  await create(server, name)
  let dropped: Promise<void> | null = null
  const dispose = () => {
    dropped ??= drop(server, name)
    return dropped
  }
  return { url: withDatabase(server, name), name, dispose, [Symbol.asyncDispose]: dispose }
}

/**
 * The server that all test files share, so that it can be stopped and started by a test that runs alone. Null where it is one that
 * a URL names. A test that runs beside others takes a server of its own.
 */
export function sharedServer(engine: EngineName): ServerHandle | null {
  const descriptionFile = process.env[descriptionVariable]
  return descriptionFile === undefined ? null : describedServer(engine, descriptionFile)
}

/** Servers for one test file alone, which may stop, kill and start them as it likes. They are there where `canStart` says so. */
export function ownServices(names: readonly EngineName[], options: { readonly durable?: boolean } = {}): Promise<Services> {
  return startServices({ ...options, names, env: withoutServers(process.env) })
}

/** Whether a server can be started here, and not only be named by a URL. */
export function canStart(engine: EngineName): boolean {
  const machine = thisMachine(withoutServers(process.env), () => {})
  return findSource(engine, { ...machine, install: () => 'not while tests run' }).from !== 'nowhere'
}

function urlOf(engine: EngineName): string {
  const { variable, title } = engines[engine]
  const url = process.env[variable]
  if (url !== undefined && url !== '') return url
  throw new Error(
    `This test needs ${title}, and ${variable} does not say where it is. Run all tests with "npm test", or some of them with: npm run services -- npx vitest run test/…`,
  )
}

const postgresDatabases = {
  create: (server: string, name: string) =>
    onPostgres(server, async (client) => {
      const { rows } = await client.query(`SELECT current_setting('server_version_num')::int >= 150000 AS chooses`)
      // Nobody can be connected to template0, which would be in the way of copying it; and its files are copied in half the time.
      await client.query(`CREATE DATABASE ${name} TEMPLATE template0 ${rows[0].chooses ? 'STRATEGY file_copy' : ''}`)
    }),
  drop: (server: string, name: string) =>
    onPostgres(server, (client) => client.query(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`)),
}

const mysqlDatabases = {
  create: (server: string, name: string) => onMysql(server, `CREATE DATABASE ${name}`),
  drop: (server: string, name: string) => onMysql(server, `DROP DATABASE IF EXISTS ${name}`),
}

async function onPostgres(url: string, act: (client: pg.Client) => Promise<unknown>): Promise<void> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    await act(client)
  } finally {
    await client.end()
  }
}

async function onMysql(url: string, sql: string): Promise<void> {
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
