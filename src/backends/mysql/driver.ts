import { messageOf, TreadleError } from '../../core/errors.ts'
import type { MysqlPool } from './client.ts'
import type { MysqlConfig } from './options.ts'

interface MysqlModule {
  createPool(options: Readonly<Record<string, unknown>>): MysqlPool & {
    on(event: 'connection' | 'acquire' | 'release', listener: (connection: RawConnection) => void): unknown
  }
}

interface RawConnection {
  readonly stream: { ref(): unknown; unref(): unknown }
  on(event: 'error', listener: () => void): unknown
  query(sql: string, done: (error: unknown) => void): unknown
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

export async function poolMaker({ url, connections }: Pick<MysqlConfig, 'url' | 'connections'>): Promise<PoolMaker> {
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
      // What it does not get done because the connection is gone fails again with the statement that follows.
      for (const sql of onConnect) connection.query(sql, () => {})
      connection.on('error', () => {})
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
