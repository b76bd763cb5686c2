import { longestIdleInTransactionMs, waitForConnectionMs } from '../../sql/connections/connection-limits.ts'
import { Connections } from '../../sql/connections/connections.ts'
import { PooledDatabase, type SqlEngine } from '../../sql/connections/pooled-database.ts'
import { mysqlDialect } from '../dialect.ts'
import type { MysqlConnection, MysqlPool } from './client.ts'
import { isDemoted, isDuplicate, isTransient, mysqlFailure } from './failure.ts'
import { MysqlSession, type MysqlSessionOptions } from './session.ts'
import { MysqlTransaction } from './transaction.ts'

export type MysqlDatabase = PooledDatabase<MysqlConnection>

export interface MysqlDatabaseOptions extends MysqlSessionOptions {
  readonly pool: MysqlPool
  /** Creates a replacement pool; null if the pool belongs to the caller. */
  readonly remake: (() => MysqlPool) | null
  readonly longestMs: number
}

const begin = 'START TRANSACTION'
/** Limits how long a connection may wait for its next statement, including inside a transaction. */
const idleAtMost = `SET SESSION wait_timeout = ${longestIdleInTransactionMs / 1_000}`
export const idleAsUsual = 'SET SESSION wait_timeout = DEFAULT'
const readCommitted = 'SET TRANSACTION ISOLATION LEVEL READ COMMITTED'

export function mysqlDatabase({ pool, remake, ...options }: MysqlDatabaseOptions): MysqlDatabase {
  const connections = new Connections({
    pool: connectionPool(pool),
    remake: remake && (() => connectionPool(remake())),
    failure: mysqlFailure,
    isDemoted,
    longestWaitMs: waitForConnectionMs(options.longestMs),
  })
  // The queue's own connections are set to READ COMMITTED when they open.
  const bounds =
    remake === null
      ? { beginning: [readCommitted, begin], ending: [] }
      : { beginning: [idleAtMost, begin], ending: [idleAsUsual] }
  const engine: SqlEngine<MysqlConnection> = {
    dialect: mysqlDialect,
    writesAtOnce: false,
    session: (connection, longestMs) => new MysqlSession(connection, { ...options, longestMs }),
    begin: async (connection, longestMs) => new MysqlTransaction(connection, { ...options, longestMs }, bounds),
    isTransient,
    isDuplicate,
    missingGrant: async () => null,
  }
  return new PooledDatabase(connections, engine, options.longestMs)
}

function connectionPool(pool: MysqlPool) {
  return {
    acquire: () => pool.getConnection(),
    release(connection: MysqlConnection, isBroken: boolean) {
      if (isBroken) connection.destroy()
      else connection.release()
    },
    end: () => pool.end(),
  }
}
