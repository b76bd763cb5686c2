import type { Dialect } from '../../sql/dialect.ts'
import { findable } from '../../sql/findable.ts'
import type { TableName } from '../../sql/rows/tables.ts'
import type { SqlRow, SqlSession, SqlValue } from '../../sql/session.ts'
import { postgresDialect } from '../dialect.ts'
import type { PostgresStatements } from '../statements.ts'
import { reasonOf } from './broken-clients.ts'
import type { PostgresAnswer, PostgresQueryable } from './client.ts'
import { isMisprepared, noConnection, postgresFailure } from './failure.ts'
import type { Preparing } from './preparing.ts'

export interface PostgresSessionOptions {
  readonly statements: PostgresStatements
  readonly preparing: Preparing
  /** How long a statement may take before it fails; null for no limit. */
  readonly longestMs: number | null
}

/** Runs statements on anything that can: a pool, or the connection of a transaction. */
export class PostgresSession implements SqlSession {
  readonly dialect: Dialect = postgresDialect
  readonly #client: PostgresQueryable
  readonly #options: PostgresSessionOptions

  constructor(client: PostgresQueryable, options: PostgresSessionOptions) {
    this.#client = client
    this.#options = options
  }

  async all<Row>(sql: string, values: readonly SqlValue[] = []): Promise<Row[]> {
    return (await this.#query(sql, values)).rows as Row[]
  }

  async run(sql: string, values: readonly SqlValue[] = []): Promise<number> {
    return (await this.#query(sql, values)).rowCount ?? 0
  }

  async insert(table: TableName, columns: readonly string[], rows: readonly SqlRow[]): Promise<void> {
    if (rows.length > 0) await this.#query(this.#options.statements.insert(table, columns), [JSON.stringify(rows)])
  }

  async insertNew(
    table: TableName,
    columns: readonly string[],
    rows: readonly SqlRow[],
    key: string,
  ): Promise<ReadonlySet<string>> {
    if (rows.length === 0) return new Set()
    const sql = this.#options.statements.insert(table, columns, `ON CONFLICT DO NOTHING RETURNING ${key} AS written`)
    const written = await this.all<{ written: string }>(sql, [JSON.stringify(rows)])
    return new Set(written.map((row) => row.written))
  }

  async upsert(
    table: TableName,
    columns: readonly string[],
    rows: readonly SqlRow[],
    keys: readonly string[],
    changes: readonly string[],
  ): Promise<void> {
    if (rows.length === 0) return
    const set = changes.map((column) => `${column} = excluded.${column}`).join(', ')
    const sql = this.#options.statements.insert(table, columns, `ON CONFLICT (${keys.join(', ')}) DO UPDATE SET ${set}`)
    await this.#query(sql, [JSON.stringify(rows)])
  }

  async update(table: TableName, keys: readonly string[], columns: readonly string[], rows: readonly SqlRow[]): Promise<void> {
    if (rows.length > 0) await this.#query(this.#options.statements.update(table, keys, columns), [JSON.stringify(rows)])
  }

  async #query(sql: string, values: readonly SqlValue[]): Promise<PostgresAnswer> {
    const { statements, preparing, longestMs } = this.#options
    const text = statements.translated(sql)
    const name = preparing.nameOf(text)
    try {
      const limits = longestMs === null ? {} : { query_timeout: longestMs }
      return await this.#client.query({
        text,
        ...(name && { name }),
        values: [...findable(sql, values)],
        types: plainNumbers,
        ...limits,
      })
    } catch (thrown) {
      if (isMisprepared(thrown)) preparing.giveUp()
      const reason = reasonOf(this.#client, thrown)
      throw reason === undefined ? postgresFailure(thrown) : noConnection(reason)
    }
  }
}

const int8 = 20
const int2 = 21
const int4 = 23

/** The driver returns 64-bit numbers as strings because they may be too large; none of the queue's are. */
const plainNumbers = {
  getTypeParser: (type: number) => (type === int8 || type === int2 || type === int4 ? Number : String),
}
