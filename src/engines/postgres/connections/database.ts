import { waitForConnectionMs } from '../../sql/connections/connection-limits.ts'
import { Connections } from '../../sql/connections/connections.ts'
import type { EngineTransaction } from '../../sql/connections/pooled-database.ts'
import { PooledDatabase, type SqlEngine } from '../../sql/connections/pooled-database.ts'
import { postgresDialect } from '../dialect.ts'
import { missingRight, rightsIn } from '../schema/rights.ts'
import { listenTo } from './broken-clients.ts'
import type { PostgresClient, PostgresPool, PostgresQueryable } from './client.ts'
import { isDemoted, isDuplicate, isTransient, postgresFailure } from './failure.ts'
import { PostgresSession, type PostgresSessionOptions } from './session.ts'

export type PostgresDatabase = PooledDatabase<PostgresClient>

export interface PostgresDatabaseOptions extends PostgresSessionOptions {
  readonly pool: PostgresPool
  /** Creates a replacement pool; null if the pool belongs to the caller. */
  readonly remake: (() => PostgresPool) | null
  readonly longestMs: number
  /** The schema that holds the tables. */
  readonly schema: string
}

export function postgresDatabase({ pool, remake, schema, ...options }: PostgresDatabaseOptions): PostgresDatabase {
  const connections = new Connections({
    pool: connectionPool(pool),
    remake: remake && (() => connectionPool(remake())),
    failure: postgresFailure,
    isDemoted,
    longestWaitMs: waitForConnectionMs(options.longestMs),
  })
  const engine: SqlEngine<PostgresClient> = {
    dialect: postgresDialect,
    writesAtOnce: true,
    session: (client, longestMs) => new PostgresSession(client, { ...options, longestMs }),
    begin: (client, longestMs) => PostgresTransaction.begin(client, { ...options, longestMs }),
    isTransient,
    isDuplicate,
    missingGrant: async (session) => {
      const rights = await rightsIn(session, schema)
      return (rights && missingRight(rights, schema)?.grant) ?? null
    },
  }
  return new PooledDatabase(connections, engine, options.longestMs)
}

function connectionPool(pool: PostgresPool) {
  const lent = new Map<PostgresClient, () => void>()
  ignoreErrorsOf(pool)
  return {
    async acquire() {
      const client = await pool.connect()
      lent.set(client, listenTo(client))
      return client
    },
    release(client: PostgresClient, isBroken: boolean) {
      lent.get(client)?.()
      lent.delete(client)
      client.release(isBroken)
    },
    end: () => pool.end(),
  }
}

const ignored = new WeakSet<PostgresPool>()

/** A pool drops idle connections that break by itself. The listener is added only once to a pool shared by several queues. */
function ignoreErrorsOf(pool: PostgresPool): void {
  if (ignored.has(pool)) return
  ignored.add(pool)
  pool.on('error', () => {})
}

/** Runs the statements of one transaction. */
class PostgresTransaction extends PostgresSession implements EngineTransaction {
  static async begin(client: PostgresQueryable, options: PostgresSessionOptions): Promise<PostgresTransaction> {
    const transaction = new PostgresTransaction(client, options)
    await transaction.run('BEGIN ISOLATION LEVEL READ COMMITTED')
    return transaction
  }

  async commit(): Promise<void> {
    await this.run('COMMIT')
  }

  async rollback(): Promise<void> {
    await this.run('ROLLBACK')
  }
}
