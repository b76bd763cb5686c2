import { type Connection, createConnection } from 'mysql2/promise'
import pg from 'pg'
import type { QueueBackend } from '../../src/backends/contract.ts'
import { openMysql } from '../../src/backends/mysql/index.ts'
import { openPostgres } from '../../src/backends/postgres/index.ts'
import { tables } from '../../src/backends/sql/tables.ts'
import type { Clock } from '../../src/core/clock.ts'
import { type FreshDatabase, freshDatabase } from '../services.ts'

/** Empty queues in one database, one after the other: emptying tables is quicker than making them. */
export interface SqlGround {
  readonly url: () => string
  start(): Promise<void>
  stop(): Promise<void>
  open(clock: Clock): Promise<QueueBackend>
}

const lasting = new Set(['mutexes', 'schedule_revision'])
const emptied = Object.keys(tables).filter((table) => !lasting.has(table))

export function freshPostgres(): SqlGround {
  let database: FreshDatabase
  let cleaner: pg.Client
  let isMade = false
  return {
    url: () => database.url,
    async start() {
      database = await freshDatabase('postgres')
      cleaner = new pg.Client({ connectionString: database.url })
      await cleaner.connect()
    },
    async stop() {
      await cleaner.end()
      await database.dispose()
    },
    async open(clock) {
      if (isMade) await cleaner.query(emptied.map((table) => `DELETE FROM treadle.${table}`).join(';'))
      const backend = await openPostgres({ url: database.url, clock })
      isMade = true
      return backend
    },
  }
}

export function freshMysql(engine: 'mariadb' | 'mysql'): SqlGround {
  let database: FreshDatabase
  let cleaner: Connection
  let isMade = false
  return {
    url: () => database.url,
    async start() {
      database = await freshDatabase(engine)
      cleaner = await createConnection({ uri: database.url, multipleStatements: true })
    },
    async stop() {
      await cleaner.end()
      await database.dispose()
    },
    async open(clock) {
      if (isMade) await cleaner.query(emptied.map((table) => `DELETE FROM treadle_${table}`).join(';'))
      const backend = await openMysql({ url: database.url, clock })
      isMade = true
      return backend
    },
  }
}
