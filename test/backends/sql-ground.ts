import { createConnection } from 'mysql2/promise'
import pg from 'pg'
import type { Clock } from '../../src/core/time/clock.ts'
import { openMysql } from '../../src/engines/mysql/index.ts'
import { openPostgres } from '../../src/engines/postgres/index.ts'
import { tables } from '../../src/engines/sql/rows/tables.ts'
import type { QueueBackend } from '../../src/queue/contract/contract.ts'
import { type FreshDatabase, freshDatabase, type SqlEngine } from '../services.ts'
import { faultsIn, type Query } from './sql-faults.ts'

/** Queues in one database, one after the other: emptying tables is quicker than making them. */
export class SqlGround {
  readonly #engine: SqlEngine
  #database: FreshDatabase | undefined
  #client: Client | undefined
  #isMade = false

  constructor(engine: SqlEngine) {
    this.#engine = engine
  }

  get url(): string {
    if (this.#database === undefined) throw new Error('The ground was not started')
    return this.#database.url
  }

  async start(): Promise<void> {
    this.#database = await freshDatabase(this.#engine)
    this.#client = await connect[this.#engine](this.url)
  }

  async stop(): Promise<void> {
    await this.#client?.end()
    await this.#database?.dispose()
  }

  /** A queue that holds nothing. */
  async open(clock: Clock): Promise<QueueBackend> {
    if (this.#isMade) {
      await this.query([...emptied.map((table) => `DELETE FROM {${table}}`), firstNumber].join(';'))
    }
    return this.openAgain(clock)
  }

  /** Takes everything out of a queue that stays open. Lanes stay: programs remember them. */
  async empty(): Promise<void> {
    const tables = emptied.filter((table) => table !== 'lanes').map((table) => `DELETE FROM {${table}}`)
    await this.query([...tables, 'UPDATE {lanes} SET turn = 0', firstNumber].join(';'))
  }

  /** The queue as it is. */
  async openAgain(clock: Clock): Promise<QueueBackend> {
    const backend = await openers[this.#engine](this.url, clock)
    this.#isMade = true
    return backend
  }

  readonly query: Query = (sql) => {
    if (this.#client === undefined) throw new Error('The ground was not started')
    return this.#client.query(sql)
  }

  /** In one snapshot: programs may add entries to totals meanwhile. */
  async faults(): Promise<readonly string[]> {
    const snapshot = this.#engine === 'postgres' ? 'BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY' : mysqlSnapshot
    await this.query(snapshot)
    try {
      return await faultsIn(this.query)
    } finally {
      await this.query('COMMIT')
    }
  }
}

const firstNumber = 'UPDATE {numbers} SET next = 1'
const mysqlSnapshot = 'START TRANSACTION WITH CONSISTENT SNAPSHOT, READ ONLY'

const lasting = new Set(['mutexes', 'schedule_revision', 'numbers'])
const emptied = Object.keys(tables).filter((table) => !lasting.has(table))

interface Client {
  readonly query: Query
  end(): Promise<void>
}

const openOnMysql = (url: string, clock: Clock) => openMysql({ url, clock })

const openers: Readonly<Record<SqlEngine, (url: string, clock: Clock) => Promise<QueueBackend>>> = {
  postgres: (url, clock) => openPostgres({ url, clock }),
  mariadb: openOnMysql,
  mysql: openOnMysql,
}

const connect = { postgres: connectToPostgres, mariadb: connectToMysql, mysql: connectToMysql }

async function connectToPostgres(url: string): Promise<Client> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  return {
    query: async <Row>(sql: string) => (await client.query(sql.replaceAll(/\{(\w+)\}/g, 'treadle.$1'))).rows as Row[],
    end: () => client.end(),
  }
}

async function connectToMysql(url: string): Promise<Client> {
  const connection = await createConnection({ uri: url, multipleStatements: true })
  return {
    query: async <Row>(sql: string) => (await connection.query(sql.replaceAll(/\{(\w+)\}/g, 'treadle_$1')))[0] as Row[],
    end: () => connection.end(),
  }
}
