import { missingDriver } from '../../../queue/backend/missing-driver.ts'
import { longestIdleInTransactionMs } from '../../sql/connections/connection-limits.ts'
import type { PostgresConfig } from '../options.ts'
import type { PostgresListening, PostgresPool } from './client.ts'

interface PgModule {
  readonly Pool: new (options: Readonly<Record<string, unknown>>) => PostgresPool
  readonly Client: new (options: Readonly<Record<string, unknown>>) => PostgresListening
}

async function loadPg(): Promise<PgModule> {
  try {
    const module = (await import('pg')) as unknown as PgModule & { readonly default?: PgModule }
    return module.default ?? module
  } catch (cause) {
    throw missingDriver('postgres', 'pg', cause)
  }
}

const connectionTimeoutMillis = 10_000
const common = { connectionTimeoutMillis, keepAlive: true, keepAliveInitialDelayMillis: 10_000 }

export type PoolMaker = () => PostgresPool

/** Calls `onPooler` when a connection turns out to go through a pooler. */
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

/** A dedicated connection that only listens. */
export async function openListening(url: string): Promise<PostgresListening> {
  const { Client } = await loadPg()
  return new Client({ ...common, connectionString: url, application_name: 'treadle listening' })
}

interface NewClient {
  readonly processID: number | null
  query(text: string): Promise<{ readonly rows: readonly unknown[] }>
}

/** A pooler reports a number of its own instead of the server's process id. */
async function isDirect(client: NewClient): Promise<boolean> {
  const { rows } = await client.query('SELECT pg_backend_pid() AS pid')
  return (rows[0] as { pid: number }).pid === client.processID
}

/**
 * Plans made while a table was small are kept, so sequential scans are off: these statements are written for their indexes,
 * whatever the table's size. The timeouts end statements on the server that the program no longer waits for, and free the locks
 * of a program that hangs inside a transaction. Nothing is set on a pooler's connections, because the pooler would hand them to
 * other clients with these settings.
 */
function settingsFor({ queryTimeoutMs }: PostgresConfig): string {
  // Reset in transactions in which a handler runs its own statements: see `workOn`.
  return `SET enable_seqscan = off; SET jit = off; SET statement_timeout = ${queryTimeoutMs};
    SET idle_in_transaction_session_timeout = ${longestIdleInTransactionMs}`
}
