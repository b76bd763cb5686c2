import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createPool, type PoolConnection, type RowDataPacket } from 'mysql2/promise'
import pg from 'pg'
import { openMysql } from '../../../dist/engines/mysql/index.js'
import { openPostgres } from '../../../dist/engines/postgres/index.js'
import { openSqlite } from '../../../dist/engines/sqlite/index.js'
import { silentLogger } from '../../../src/core/logger.ts'
import { readTime, systemClock } from '../../../src/core/time/clock.ts'
import { loadDriver, type SqliteDatabase } from '../../../src/engines/sqlite/file/driver.ts'
import { openEngine } from '../../../src/engines/sqlite/thread/open-engine.ts'
import { callers } from '../../../src/engines/sqlite/thread/rule-calls.ts'
import { freshDatabase } from '../../services.ts'

/** As the built package has it. */
type QueueBackend = Awaited<ReturnType<typeof openSqlite>>

/** A statement as the engine was asked it. */
export interface Asked {
  readonly sql: string
  readonly values: readonly unknown[]
}

export interface RecordedQueue extends AsyncDisposable {
  readonly backend: QueueBackend
  /** The statements since the last call. */
  taken(): readonly Asked[]
  /** As after the server's own upkeep. */
  analyze(): Promise<void>
  /** Every way in which the statement reads `jobs` as a whole or sorts what it has read of all of it. */
  faultsOf(asked: Asked): Promise<readonly string[]>
}

export const opened = { sqlite, postgres, mariadb }

const isQuery = (sql: string) => /^\s*(SELECT|WITH)\b/i.test(sql)

class Recorder {
  #asked: Asked[] = []

  note(sql: string, values: readonly unknown[]): void {
    if (isQuery(sql)) this.#asked.push({ sql, values })
  }

  taken(): readonly Asked[] {
    return this.#asked.splice(0)
  }
}

async function sqlite(): Promise<RecordedQueue> {
  const path = join(mkdtempSync(join(tmpdir(), 'treadle-plans-')), 'jobs.db')
  const backend = await openSqlite({ path, clock: systemClock, logger: silentLogger })
  const recorder = new Recorder()
  const Driver = await loadDriver()
  const Recording = class extends Driver {
    override prepare(sql: string) {
      const statement = super.prepare(sql)
      const noted =
        <Result>(call: (...values: never[]) => Result) =>
        (...values: readonly unknown[]) => {
          recorder.note(sql, values)
          return call.apply(statement, values as never[])
        }
      return {
        get: noted(statement.get),
        all: noted(statement.all),
        run: statement.run.bind(statement),
        setReadBigInts: (isOn: boolean) => statement.setReadBigInts?.(isOn),
      }
    }
  }
  const engine = openEngine(Recording as typeof Driver, { path, busyMs: 30_000, migrate: false, fastPaths: true })
  const parts = callers(engine.parts, async (name, args) => engine.rule(name, args, readTime(systemClock)).answer)
  const admin: SqliteDatabase = new Driver(path)
  return {
    backend: { ...backend, store: parts.store as unknown as NonNullable<QueueBackend['store']> },
    taken: () => recorder.taken(),
    analyze: async () => admin.exec('ANALYZE'),
    async faultsOf({ sql }) {
      const plan = (admin.prepare(`EXPLAIN QUERY PLAN ${sql}`).all() as { readonly detail: string }[]).map(({ detail }) => detail)
      const isSorted = plan.some((step) => step.includes('TEMP B-TREE'))
      return plan.filter((step) => {
        if (!/^SCAN treadle_(jobs|links|tags|edges|logs|occurrences)\b/.test(step)) return false
        // An index that has only the jobs of one state, which lists sort where they are few.
        if (/USING INDEX treadle_jobs_(ready|running|scheduled)$/.test(step)) return false
        // In the order of an index, and no more of it than the list needs.
        return !(step.includes('USING') && /LIMIT/.test(sql) && !isSorted)
      })
    },
    async [Symbol.asyncDispose]() {
      admin.close()
      engine.close()
      await backend[Symbol.asyncDispose]()
    },
  }
}

/** Lists are pages of at most 200 jobs, and look at the newest 2,000 jobs at most before they go from lane to lane. */
const mostRows = 2_600

async function postgres(): Promise<RecordedQueue> {
  const database = await freshDatabase('postgres')
  const recorder = new Recorder()
  class Recording extends pg.Client {
    override query = ((...args: readonly unknown[]) => {
      const [given] = args as readonly [{ readonly text?: string; readonly values?: readonly unknown[] } | string]
      if (typeof given === 'object' && given.text !== undefined) recorder.note(given.text, given.values ?? [])
      return (pg.Client.prototype.query as unknown as (...all: readonly unknown[]) => unknown).apply(this, [...args])
    }) as pg.Client['query']
  }
  const pool = new pg.Pool({ connectionString: database.url, Client: Recording } as pg.PoolConfig)
  const admin = new pg.Client({ connectionString: database.url })
  await admin.connect()
  return {
    backend: await openPostgres({ pool, notify: false, logger: silentLogger, clock: systemClock }),
    taken: () => recorder.taken(),
    analyze: async () => void (await admin.query('VACUUM ANALYZE')),
    async faultsOf({ sql, values }) {
      const { rows } = await admin.query<{ readonly 'QUERY PLAN': readonly [{ readonly Plan: PlanNode }] }>({
        text: `EXPLAIN (ANALYZE, FORMAT JSON) ${sql}`,
        values: [...values],
      })
      return nodesOf(rows[0]?.['QUERY PLAN'][0].Plan).flatMap((node) => {
        if (node['Relation Name'] !== 'jobs') return []
        const read = (node['Actual Rows'] + (node['Rows Removed by Filter'] ?? 0)) * node['Actual Loops']
        return node['Node Type'] === 'Seq Scan' || read > mostRows ? [`${node['Node Type']} of ${read} jobs`] : []
      })
    },
    async [Symbol.asyncDispose]() {
      await pool.end()
      await admin.end()
      await database.dispose()
    },
  }
}

interface PlanNode {
  readonly 'Node Type': string
  readonly 'Relation Name'?: string
  readonly 'Actual Rows': number
  readonly 'Actual Loops': number
  readonly 'Rows Removed by Filter'?: number
  readonly Plans?: readonly PlanNode[]
}

function nodesOf(node: PlanNode | undefined): readonly PlanNode[] {
  return node === undefined ? [] : [node, ...(node.Plans ?? []).flatMap(nodesOf)]
}

async function mariadb(): Promise<RecordedQueue> {
  const database = await freshDatabase('mariadb')
  const recorder = new Recorder()
  const pool = createPool({ uri: database.url, multipleStatements: true, connectionLimit: 4 })
  const recorded = new WeakSet<PoolConnection>()
  const getConnection = pool.getConnection.bind(pool)
  pool.getConnection = async () => {
    const connection = await getConnection()
    if (recorded.has(connection)) return connection
    recorded.add(connection)
    const query = connection.query.bind(connection) as unknown as (given: { readonly sql: string }) => Promise<never>
    connection.query = ((given: { readonly sql: string }) => {
      recorder.note(given.sql, [])
      return query(given)
    }) as unknown as typeof connection.query
    return connection
  }
  const admin = createPool({ uri: database.url, connectionLimit: 1 })
  return {
    backend: await openMysql({ pool, logger: silentLogger, clock: systemClock }),
    taken: () => recorder.taken(),
    analyze: async () => void (await admin.query('ANALYZE TABLE treadle_jobs, treadle_links, treadle_lanes')),
    async faultsOf({ sql }) {
      const counter = async () => {
        const [rows] = await admin.query<RowDataPacket[]>(`SHOW SESSION STATUS LIKE 'Handler\\_read\\_%'`)
        return rows.reduce((sum, { Value }) => sum + Number(Value), 0)
      }
      const [plan] = await admin.query<RowDataPacket[]>(`EXPLAIN ${sql}`)
      const whole = plan.filter(({ table, type }) => String(table).includes('treadle_jobs') && type === 'ALL')
      const [before, again] = [await counter(), await counter()]
      await admin.query(sql)
      const read = (await counter()) - again - (again - before)
      return [...whole.map(({ table }) => `reads all of ${table}`), ...(read > 2 * mostRows ? [`reads ${read} rows`] : [])]
    },
    async [Symbol.asyncDispose]() {
      await pool.end()
      await admin.end()
      await database.dispose()
    },
  }
}
