import { type Clock, systemClock } from '../../core/clock.ts'
import type { QueueBackend } from '../contract.ts'
import { sqlBackend } from '../sql/backend.ts'
import { checkedName } from '../sql/table-names.ts'
import { LocalWaker } from '../sql/waker.ts'
import type { MysqlPool } from './client.ts'
import { MysqlDatabase } from './database.ts'
import { openPool } from './driver.ts'
import { makeTables } from './schema.ts'
import { lookAtServer } from './server.ts'
import { mysqlShortcuts } from './shortcuts.ts'
import { MysqlStatements, mysqlNames } from './statements.ts'

export type { MysqlConnection, MysqlPool } from './client.ts'

export interface MysqlOptions {
  /** A `mysql://` or `mariadb://` URL, unless a pool is given. */
  readonly url?: string
  /** A pool of `mysql2/promise`. It is not closed with the queue. */
  readonly pool?: MysqlPool
  /** What the names of the tables begin with. */
  readonly prefix?: string
  readonly clock?: Clock
}

export async function openMysql(options: MysqlOptions): Promise<QueueBackend> {
  const { url = '', prefix = 'treadle_', clock = systemClock } = options
  const names = mysqlNames(checkedName(prefix, 'prefix'))
  const pool = options.pool ?? (await openPool(url))
  const ownsPool = options.pool === undefined
  try {
    const { exactCollation, maxPacketBytes } = await lookAtServer(pool)
    const statements = new MysqlStatements(names, exactCollation)
    const database = new MysqlDatabase(pool, { statements, maxPacketBytes, ownsPool })
    await makeTables(database, exactCollation, prefix)
    return sqlBackend({ kind: 'mysql', database, shortcuts: mysqlShortcuts, waker: new LocalWaker(), clock })
  } catch (thrown) {
    if (ownsPool) await pool.end()
    throw thrown
  }
}
