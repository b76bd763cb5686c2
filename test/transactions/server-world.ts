import { createPool, type Pool, type PoolConnection } from 'mysql2/promise'
import pg from 'pg'
import { type JobBuilder, type PostgresConnection, type Treadle, treadle } from 'treadle'
import { afterAll, afterEach, beforeAll } from 'vitest'
import { SqlGround } from '../backends/sql-ground.ts'
import { mysqlUrl, type SqlEngine } from '../services.ts'

export const serverEngines: readonly SqlEngine[] = ['postgres', 'mariadb', ...(mysqlUrl() === null ? [] : (['mysql'] as const))]

/** One connection of the engine's own driver. */
export interface Connection {
  readonly tx: PostgresConnection | PoolConnection
  query(sql: string): Promise<unknown[]>
  release(): void
}

/** A queue on a server, a table of the program's own, and connections to both. */
export class ServerWorld {
  readonly ground: SqlGround
  readonly #engine: SqlEngine
  readonly #taken: Connection[] = []
  #jobs: Treadle | undefined
  #mail: JobBuilder | undefined
  #pool: pg.Pool | Pool | undefined

  /** To be made where tests are described: it starts and ends with them, and is emptied after each. */
  constructor(engine: SqlEngine) {
    this.#engine = engine
    this.ground = new SqlGround(engine)
    beforeAll(() => this.#start())
    afterEach(() => this.#empty())
    afterAll(() => this.#stop())
  }

  get jobs(): Treadle {
    return this.#jobs as Treadle
  }

  /** A job that no worker of this program runs. */
  get mail(): JobBuilder {
    return this.#mail as JobBuilder
  }

  /** Given back after the test. */
  async connect(): Promise<Connection> {
    const connection = this.#pool instanceof pg.Pool ? await fromPg(this.#pool) : await fromMysql(this.#pool as Pool)
    this.#taken.push(connection)
    return connection
  }

  async begun(isolation?: string): Promise<Connection> {
    const connection = await this.connect()
    if (this.#engine !== 'postgres' && isolation !== undefined) {
      await connection.query(`SET TRANSACTION ISOLATION LEVEL ${isolation}`)
    }
    await connection.query('BEGIN')
    if (this.#engine === 'postgres' && isolation !== undefined) {
      await connection.query(`SET TRANSACTION ISOLATION LEVEL ${isolation}`)
    }
    return connection
  }

  async states(): Promise<readonly string[]> {
    return (await (await this.jobs.store()).list({ limit: 100 })).map(({ state }) => state)
  }

  async orders(): Promise<readonly number[]> {
    return (await this.ground.query<{ id: number }>('SELECT id FROM orders ORDER BY id')).map(({ id }) => id)
  }

  async #start(): Promise<void> {
    await this.ground.start()
    this.#jobs = treadle(this.ground.url, { unsigned: true })
    await this.#jobs.open()
    this.#mail = this.#jobs.declare('mail')
    const { url } = this.ground
    this.#pool = this.#engine === 'postgres' ? new pg.Pool({ connectionString: url }) : createPool({ uri: url })
    await this.ground.query('CREATE TABLE orders (id INT PRIMARY KEY)')
  }

  async #empty(): Promise<void> {
    for (const { query, release } of this.#taken.splice(0)) {
      await query('ROLLBACK').catch(() => {})
      release()
    }
    for (const table of ['jobs', 'counts', 'groups', 'unique_keys', 'links', 'edges', 'once']) {
      await this.ground.query(`DELETE FROM {${table}}`)
    }
    await this.ground.query('DELETE FROM orders')
  }

  async #stop(): Promise<void> {
    await this.#jobs?.close()
    await this.#pool?.end()
    await this.ground.stop()
  }
}

async function fromPg(pool: pg.Pool): Promise<Connection> {
  const client = await pool.connect()
  return { tx: client, query: async (sql) => (await client.query(sql)).rows, release: () => client.release() }
}

async function fromMysql(pool: Pool): Promise<Connection> {
  const connection = await pool.getConnection()
  return {
    tx: connection,
    query: async (sql) => (await connection.query(sql))[0] as unknown[],
    release: () => connection.release(),
  }
}
