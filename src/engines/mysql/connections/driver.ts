import { missingDriver } from '../../../queue/backend/missing-driver.ts'
import type { MysqlConfig } from '../options.ts'
import type { MysqlPool } from './client.ts'

interface MysqlModule {
  createPool(options: Readonly<Record<string, unknown>>): MysqlPool & {
    on(event: 'connection' | 'acquire' | 'release', listener: (connection: RawConnection) => void): unknown
  }
}

interface RawConnection {
  readonly stream: { ref(): unknown; unref(): unknown; destroy(): unknown }
  on(event: 'error', listener: () => void): unknown
  query(
    query: { readonly sql: string; readonly timeout: number },
    done: (error: { readonly code?: string } | null) => void,
  ): unknown
}

async function loadMysql(): Promise<MysqlModule> {
  try {
    return (await import('mysql2/promise')) as unknown as MysqlModule
  } catch (cause) {
    throw missingDriver('mysql', 'mysql2', cause)
  }
}

export type PoolMaker = () => MysqlPool

type PoolConfig = Pick<MysqlConfig, 'url' | 'connections' | 'queryTimeoutMs'>

export async function poolMaker({ url, connections, queryTimeoutMs: timeout }: PoolConfig): Promise<PoolMaker> {
  const { createPool } = await loadMysql()
  return () => {
    const pool = createPool({
      uri: url.replace(/^mariadb:/, 'mysql:'),
      connectionLimit: connections,
      connectTimeout: 10_000,
      enableKeepAlive: true,
      keepAliveInitialDelay: 10_000,
      multipleStatements: true,
      trace: false,
    })
    pool.on('connection', (connection) => {
      connection.on('error', () => {})
      for (const sql of onConnect) {
        connection.query({ sql, timeout }, (error) => {
          // The next statement is queued behind this one, and its timeout has not started yet. Closing the connection through the
          // driver would wait for the server. After any other failure, the next statement fails too.
          if (error?.code === 'PROTOCOL_SEQUENCE_TIMEOUT') connection.stream.destroy()
        })
      }
    })
    // Idle connections do not keep the process alive.
    pool.on('acquire', ({ stream }) => stream.ref())
    pool.on('release', ({ stream }) => stream.unref())
    return pool
  }
}

/** Text that is too long must be rejected, not truncated, and a lock wait must end before the program gives up. */
const onConnect = [
  'SET SESSION innodb_lock_wait_timeout = 10',
  'SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED',
  `SET SESSION sql_mode = 'STRICT_ALL_TABLES,NO_ENGINE_SUBSTITUTION'`,
]
