import { type Clock, systemClock } from '../../core/clock.ts'
import type { QueueBackend } from '../contract.ts'
import { sqlBackend } from '../sql/backend.ts'
import { checkedName, TableNames } from '../sql/table-names.ts'
import { LocalWaker } from '../sql/waker.ts'
import type { PostgresPool } from './client.ts'
import { PostgresDatabase } from './database.ts'
import { openPool } from './driver.ts'
import { postgresTables } from './schema.ts'
import { postgresShortcuts } from './shortcuts.ts'
import { PostgresStatements } from './statements.ts'

export type { PostgresClient, PostgresPool } from './client.ts'

export interface PostgresOptions {
  /** A `postgres://` URL, unless a pool is given. */
  readonly url?: string
  /** A pool of `pg`. It is not closed with the queue. */
  readonly pool?: PostgresPool
  /** The schema that the tables are in; made where it is missing. */
  readonly schema?: string
  readonly clock?: Clock
}

export async function openPostgres(options: PostgresOptions): Promise<QueueBackend> {
  const { url = '', schema = 'treadle', clock = systemClock } = options
  const statements = new PostgresStatements(new TableNames(`${checkedName(schema, 'schema')}.`))
  const isSession = options.pool === undefined
  const pool = options.pool ?? (await openPool({ url, isSession }))
  pool.on('error', () => {})
  const database = new PostgresDatabase(pool, { statements, prepare: isSession }, isSession)
  await database.transaction(async (session) => {
    await session.run(`SELECT pg_advisory_xact_lock(hashtext('treadle'))`)
    const found = await session.all(`SELECT 1 FROM information_schema.tables WHERE table_schema = ? AND table_name = 'jobs'`, [
      schema,
    ])
    if (found.length > 0) return
    await session.run(`CREATE SCHEMA IF NOT EXISTS ${schema}`)
    for (const statement of postgresTables()) await session.run(statement)
    await session.insert('mutexes', ['name'], [{ name: 'claims' }, { name: 'links' }])
    await session.insert('schedule_revision', ['one', 'revision'], [{ one: 1, revision: 0 }])
  })
  return sqlBackend({ kind: 'postgres', database, shortcuts: postgresShortcuts(statements), waker: new LocalWaker(), clock })
}
