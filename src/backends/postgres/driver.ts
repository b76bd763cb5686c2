import { messageOf, TreadleError } from '../../core/errors.ts'
import type { PostgresPool } from './client.ts'

/** How many connections one program opens at most, beside the one that listens. Calls are batched, so few are ever needed. */
export const mostConnections = 5

interface PgModule {
  readonly Pool: new (options: Readonly<Record<string, unknown>>) => PostgresPool
}

/** The driver is loaded when it is needed: who uses another database need not have it. */
export async function loadPg(): Promise<PgModule> {
  try {
    const module = (await import('pg')) as unknown as PgModule & { readonly default?: PgModule }
    return module.default ?? module
  } catch (cause) {
    const message = `The postgres backend needs the package "pg". Run: npm install pg (${messageOf(cause)})`
    throw new TreadleError('DRIVER_MISSING', message, { cause })
  }
}

export interface PoolSettings {
  readonly url: string
  /** Whether each connection stays with its client, so that settings of the session last. */
  readonly isSession: boolean
}

export async function openPool({ url, isSession }: PoolSettings): Promise<PostgresPool> {
  const { Pool } = await loadPg()
  return new Pool({
    connectionString: url,
    max: mostConnections,
    application_name: 'treadle',
    connectionTimeoutMillis: 10_000,
    keepAlive: true,
    allowExitOnIdle: true,
    ...(isSession ? { onConnect } : {}),
  })
}

/** A plan that was made while a table was small is kept; these statements are written for their indexes, whatever its size. */
async function onConnect(client: { query(text: string): Promise<unknown> }): Promise<void> {
  await client.query('SET enable_seqscan = off; SET jit = off')
}
