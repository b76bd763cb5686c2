import type { Dialect } from '../../sql/dialect.ts'
import type { TableName } from '../../sql/rows/tables.ts'
import type { SqlRow, SqlSession, SqlValue } from '../../sql/session.ts'
import { mysqlDialect } from '../dialect.ts'
import { inBatches } from '../statements/batches.ts'
import type { MysqlStatements } from '../statements/statements.ts'
import { type AskingLimits, ask, foundRows, type MysqlReport } from './asking.ts'
import type { MysqlQueryable } from './client.ts'
import { isDuplicate } from './failure.ts'

export interface MysqlSessionOptions extends AskingLimits {
  readonly statements: MysqlStatements
  /** Whether the server accepts several statements in one query. */
  readonly canCombine: boolean
}

/** Runs statements on anything that can: a pool, or the connection of a transaction. */
export class MysqlSession implements SqlSession {
  readonly dialect: Dialect = mysqlDialect
  readonly #client: MysqlQueryable
  readonly #options: MysqlSessionOptions

  constructor(client: MysqlQueryable, options: MysqlSessionOptions) {
    this.#client = client
    this.#options = options
  }

  async all<Row>(sql: string, values: readonly SqlValue[] = []): Promise<Row[]> {
    return (await this.query(this.#options.statements.written(sql, values))) as Row[]
  }

  async run(sql: string, values: readonly SqlValue[] = []): Promise<number> {
    return foundRows((await this.query(this.#options.statements.written(sql, values))) as MysqlReport)
  }

  async insert(table: TableName, columns: readonly string[], rows: readonly SqlRow[]): Promise<void> {
    for (const batch of this.#batches(rows)) await this.write(this.#options.statements.insert(table, columns, batch))
  }

  async insertNew(
    table: TableName,
    columns: readonly string[],
    rows: readonly SqlRow[],
    key: string,
  ): Promise<ReadonlySet<string>> {
    const written = new Set<string>()
    for (const batch of this.#batches(rows)) {
      for (const row of await this.#insertNew(table, columns, batch, key)) written.add(row[key] as string)
    }
    return written
  }

  async upsert(
    table: TableName,
    columns: readonly string[],
    rows: readonly SqlRow[],
    _keys: readonly string[],
    changes: readonly string[],
  ): Promise<void> {
    for (const batch of this.#batches(rows)) await this.write(this.#options.statements.upsert(table, columns, batch, changes))
  }

  async update(table: TableName, keys: readonly string[], columns: readonly string[], rows: readonly SqlRow[]): Promise<void> {
    for (const batch of this.#batches(rows)) await this.write(this.#options.statements.update(table, keys, columns, batch))
  }

  #batches(rows: readonly SqlRow[]) {
    return inBatches(rows, this.#options.maxPacketBytes)
  }

  /** Almost always, all rows are new. If not, visible duplicates are left out and the rest inserted one by one. */
  async #insertNew(
    table: TableName,
    columns: readonly string[],
    rows: readonly SqlRow[],
    key: string,
  ): Promise<readonly SqlRow[]> {
    if (await this.#isInserted(table, columns, rows)) return rows
    const left = columns.includes(key) ? await this.#unseen(table, rows, key) : rows
    if (left.length < rows.length && (await this.#isInserted(table, columns, left))) return left
    const written: SqlRow[] = []
    for (const row of left) if (await this.#isInserted(table, columns, [row])) written.push(row)
    return written
  }

  async #unseen(table: TableName, rows: readonly SqlRow[], key: string): Promise<readonly SqlRow[]> {
    const keys = rows.map((row) => row[key] as string)
    const seen = await this.all<{ known: string }>(`SELECT ${key} AS known FROM {${table}} WHERE ${key} IN (?)`, [keys])
    const known = new Set(seen.map((row) => row.known))
    return rows.filter((row) => !known.has(row[key] as string))
  }

  /** False if one of them already exists, in which case none was written. */
  async #isInserted(table: TableName, columns: readonly string[], rows: readonly SqlRow[]): Promise<boolean> {
    if (rows.length === 0) return true
    await this.written()
    try {
      await this.query(this.#options.statements.insert(table, columns, rows))
      return true
    } catch (thrown) {
      if (isDuplicate(thrown)) return false
      throw thrown
    }
  }

  protected query(sql: string): Promise<unknown> {
    return ask(this.#client, sql, this.#options)
  }

  /** Runs a statement whose result is not needed. */
  protected async write(sql: string): Promise<void> {
    await this.query(sql)
  }

  /** Resolves when all earlier writes have been executed, so that a failure can only come from the next statement. */
  protected async written(): Promise<void> {}
}
