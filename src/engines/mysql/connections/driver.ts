import { messageOf, TreadleError } from '../../../core/errors.ts'
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

/** The driver is loaded when it is needed: who uses another database need not have it. */
async function loadMysql(): Promise<MysqlModule> {
  try {
    return (await import('mysql2/promise')) as unknown as MysqlModule
  } catch (cause) {
    const message = `The mysql backend needs the package "mysql2". Run: npm install mysql2 (${messageOf(cause)})`
    throw new TreadleError('DRIVER_MISSING', message, { cause })
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
          // The statement that follows waits for this one, and its own time has not begun. To end a connection in the driver's way
          // is to wait for its server. Any other failure meets that statement too.
          if (error?.code === 'PROTOCOL_SEQUENCE_TIMEOUT') connection.stream.destroy()
        })
      }
    })
    // A program that has nothing else to do may end.
    pool.on('acquire', ({ stream }) => stream.ref())
    pool.on('release', ({ stream }) => stream.unref())
    return pool
  }
}

/** A text that is too long is to be refused and not cut; and a wait for a lock is to end before the program gives up. */
const onConnect = [
  'SET SESSION innodb_lock_wait_timeout = 10',
  'SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED',
  `SET SESSION sql_mode = 'STRICT_ALL_TABLES,NO_ENGINE_SUBSTITUTION'`,
]
