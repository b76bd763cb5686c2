import { messageOf, TreadleError } from '../../../core/errors.ts'
import { longestIdleInTransactionMs } from '../../sql/connections/connection-limits.ts'
import type { PostgresConfig } from '../options.ts'
import type { PostgresListening, PostgresPool } from './client.ts'

interface PgModule {
  readonly Pool: new (options: Readonly<Record<string, unknown>>) => PostgresPool
  readonly Client: new (options: Readonly<Record<string, unknown>>) => PostgresListening
}

/** The driver is loaded when it is needed: who uses another database need not have it. */
async function loadPg(): Promise<PgModule> {
  try {
    const module = (await import('pg')) as unknown as PgModule & { readonly default?: PgModule }
    return module.default ?? module
  } catch (cause) {
    const message = `The postgres backend needs the package "pg". Run: npm install pg (${messageOf(cause)})`
    throw new TreadleError('DRIVER_MISSING', message, { cause })
  }
}

const connectionTimeoutMillis = 10_000
const common = { connectionTimeoutMillis, keepAlive: true, keepAliveInitialDelayMillis: 10_000 }

export type PoolMaker = () => PostgresPool

/** `onPooler` is called when a connection turns out to be one of a pooler's. */
export async function poolMaker(config: PostgresConfig, onPooler: () => void): Promise<PoolMaker> {
  const { Pool } = await loadPg()
  const settings = settingsFor(config)
  return () =>
    new Pool({
      ...common,
      connectionString: config.url,
      max: config.connections,
      application_name: 'treadle',
      allowExitOnIdle: true,
      onConnect: async (client: NewClient) => {
        if (await isDirect(client)) await client.query(settings)
        else onPooler()
      },
    })
}

/** A connection of its own that only listens. */
export async function openListening(url: string): Promise<PostgresListening> {
  const { Client } = await loadPg()
  return new Client({ ...common, connectionString: url, application_name: 'treadle listening' })
}

interface NewClient {
  readonly processID: number | null
  query(text: string): Promise<{ readonly rows: readonly unknown[] }>
}

/** A pooler tells its clients a number of its own in place of that of the server's process. */
async function isDirect(client: NewClient): Promise<boolean> {
  const { rows } = await client.query('SELECT pg_backend_pid() AS pid')
  return (rows[0] as { pid: number }).pid === client.processID
}

/**
 * A plan that was made while a table was small is kept; these statements are written for their indexes, whatever its size. What the
 * program no longer waits for ends on the server too, and a program that stands still in a transaction does not keep its locks. A
 * pooler would give a connection with these settings to somebody else, so it is told nothing.
 */
function settingsFor({ queryTimeoutMs }: PostgresConfig): string {
  // Where a handler works in a transaction of the queue, this is taken back: see `workOn`.
  return `SET enable_seqscan = off; SET jit = off; SET statement_timeout = ${queryTimeoutMs};
    SET idle_in_transaction_session_timeout = ${longestIdleInTransactionMs}`
}
