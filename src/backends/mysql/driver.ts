import { messageOf, TreadleError } from '../../core/errors.ts'
import type { MysqlPool } from './client.ts'

/** How many connections one program opens at most. Calls are batched, so few are ever needed. */
export const mostConnections = 5

interface MysqlModule {
  createPool(options: Readonly<Record<string, unknown>>): MysqlPool & {
    on(event: 'connection' | 'acquire' | 'release', listener: (connection: RawConnection) => void): unknown
  }
}

interface RawConnection {
  readonly stream: { ref(): unknown; unref(): unknown }
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

export async function openPool(url: string): Promise<MysqlPool> {
  const { createPool } = await loadMysql()
  const pool = createPool({
    uri: url.replace(/^mariadb:/, 'mysql:'),
    connectionLimit: mostConnections,
    connectTimeout: 10_000,
    multipleStatements: true,
    trace: false,
  })
  pool.on('connection', (connection) => {
    // What it does not get done because the connection is gone fails again with the statement that follows.
    for (const sql of onConnect) connection.query(sql, () => {})
  })
  // A program that has nothing else to do may end.
  pool.on('acquire', ({ stream }) => stream.ref())
  pool.on('release', ({ stream }) => stream.unref())
  return pool
}

/** A text that is too long is to be refused and not cut. */
const onConnect = [
  'SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED',
  `SET SESSION sql_mode = 'STRICT_ALL_TABLES,NO_ENGINE_SUBSTITUTION'`,
]
