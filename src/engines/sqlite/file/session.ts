import type { Dialect } from '../../sql/dialect.ts'
import { findable } from '../../sql/findable.ts'
import type { TableName } from '../../sql/rows/tables.ts'
import type { SqlRow, SqlSession, SqlValue } from '../../sql/session.ts'
import { sqliteDialect } from '../dialect.ts'
import { tableOf, translated } from '../statements.ts'
import type { Connection } from './connection.ts'
import type { SqliteStatement, SqliteValue } from './driver.ts'
import { isConflict } from './failure.ts'
import { Query } from './query.ts'

/** Number of rows per statement; smaller sizes take the remainder. Most calls change two or four counts. */
const rowsPerStatement = [50, 8, 4, 2, 1] as const
/** Maximum length of a list whose values are bound one by one, which is faster than passing them as JSON text. */
const mostSaid = 3
const list = 'IN (?)'
const longList = 'IN (SELECT value FROM json_each(?))'

type Cell = string | number | null

/** Runs the queue's statements on an open file, synchronously. Each statement is prepared on first use. */
export class SqliteSession implements SqlSession {
  readonly dialect: Dialect = sqliteDialect
  readonly #connection: Connection
  readonly #queries = new Map<string, Query>()
  readonly #statements = new Map<string, SqliteStatement>()
  readonly #translated = new Map<string, readonly string[]>()
  #writes = 0

  constructor(connection: Connection) {
    this.#connection = connection
  }

  /** Number of writing statements so far. */
  get writes(): number {
    return this.#writes
  }

  all<Row>(sql: string, values: readonly SqlValue[] = []): Row[] {
    const text = this.#textFor(sql, values)
    let query = this.#queries.get(text)
    if (query === undefined) {
      query = new Query((statement) => this.#connection.prepare(statement), text)
      this.#queries.set(text, query)
    }
    return query.all(bound(findable(sql, values))) as Row[]
  }

  run(sql: string, values: readonly SqlValue[] = []): number {
    this.#writes++
    return Number(this.#prepared(this.#textFor(sql, values)).run(...bound(findable(sql, values))).changes)
  }

  insert(table: TableName, columns: readonly string[], rows: readonly SqlRow[]): void {
    this.#insert(table, columns, rows, endings[table] ?? '')
  }

  insertNew(table: TableName, columns: readonly string[], rows: readonly SqlRow[], key: string): ReadonlySet<string> {
    const written = new Set<string>()
    const isTold = columns.includes(key)
    for (const batch of this.#batches(table, columns, rows, '')) {
      if (isTold && isWritten(batch)) for (const row of batch.rows) written.add(row[key] as string)
      else
        for (const one of this.#batches(table, columns, batch.rows, ` ON CONFLICT DO NOTHING RETURNING ${key} AS written`))
          for (const row of one.statement.all(...one.values) as { written: string }[]) written.add(row.written)
    }
    return written
  }

  upsert(
    table: TableName,
    columns: readonly string[],
    rows: readonly SqlRow[],
    keys: readonly string[],
    changes: readonly string[],
  ): void {
    const set = changes.map((column) => `${column} = excluded.${column}`).join(', ')
    this.#insert(table, columns, rows, ` ON CONFLICT (${keys.join(', ')}) DO UPDATE SET ${set}`)
  }

  /** Rows that all get the same values are changed by one statement, others one by one. */
  update(table: TableName, keys: readonly string[], columns: readonly string[], rows: readonly SqlRow[]): void {
    const [first] = rows
    if (first === undefined) return
    const [key] = keys as readonly [string]
    const isAlike =
      keys.length === 1 && rows.length > 1 && columns.every((column) => rows.every((row) => row[column] === first[column]))
    const set = [...columns.map((column) => `${column} = ?`), ...alsoSet(table, columns)].join(', ')
    const change = `UPDATE ${tableOf(table)} SET ${set} WHERE`
    this.#writes++
    if (isAlike) {
      const found = JSON.stringify(rows.map((row) => row[key]))
      this.#prepared(`${change} ${key} ${longList}`).run(...columns.map((column) => cell(first, column)), found)
      return
    }
    const statement = this.#prepared(`${change} ${keys.map((name) => `${name} = ?`).join(' AND ')}`)
    const order = [...columns, ...keys]
    for (const row of rows) statement.run(...order.map((column) => cell(row, column)))
  }

  #insert(table: TableName, columns: readonly string[], rows: readonly SqlRow[], ending: string): void {
    for (const { statement, values } of this.#batches(table, columns, rows, ending)) statement.run(...values)
  }

  *#batches(table: TableName, columns: readonly string[], rows: readonly SqlRow[], ending: string): Iterable<Batch> {
    let from = 0
    for (const size of rowsPerStatement) {
      if (rows.length - from < size) continue
      const statement = this.#insertOf(table, columns, size, ending)
      for (; rows.length - from >= size; from += size) {
        const values: Cell[] = []
        for (let index = from; index < from + size; index++)
          for (const column of columns) values.push(cell(rows[index] as SqlRow, column))
        this.#writes++
        yield { statement, values, rows: rows.slice(from, from + size) }
      }
    }
  }

  /** The key is much shorter than the text, which is made only once. */
  #insertOf(table: TableName, columns: readonly string[], size: number, ending: string): SqliteStatement {
    const key = `${table} ${size} ${columns} ${ending}`
    const known = this.#statements.get(key)
    if (known !== undefined) return known
    const row = `(${columns.map(() => '?').join(', ')})`
    const all = new Array(size).fill(row).join(', ')
    const statement = this.#connection.prepare(`INSERT INTO ${tableOf(table)} (${columns.join(', ')}) VALUES ${all}${ending}`)
    this.#statements.set(key, statement)
    return statement
  }

  /** The statement in SQLite's dialect, with as many placeholders as its lists have values. */
  #textFor(sql: string, values: readonly SqlValue[]): string {
    let parts = this.#translated.get(sql)
    if (parts === undefined) {
      parts = translated(sql).split(list)
      this.#translated.set(sql, parts)
    }
    if (parts.length === 1) return parts[0] as string
    const lists = values.filter((value) => Array.isArray(value)) as (readonly (string | number)[])[]
    return parts.reduce((text, part, index) => text + placesFor(lists[index - 1] as readonly unknown[]) + part)
  }

  #prepared(sql: string): SqliteStatement {
    const known = this.#statements.get(sql)
    if (known !== undefined) return known
    const statement = this.#connection.prepare(sql)
    this.#statements.set(sql, statement)
    return statement
  }
}

/** Rows written by one statement. */
interface Batch {
  readonly statement: SqliteStatement
  readonly values: readonly Cell[]
  readonly rows: readonly SqlRow[]
}

/** False if one of the rows already exists; then none was written. Nearly always all of them are new. */
function isWritten({ statement, values }: Batch): boolean {
  try {
    statement.run(...values)
    return true
  } catch (thrown) {
    // Any other failure may have ended the transaction.
    if (isConflict(thrown)) return false
    throw thrown
  }
}

/** New counts are added to the existing ones. */
const endings: Partial<Readonly<Record<TableName, string>>> = {
  counts: ' ON CONFLICT (lane, state) DO UPDATE SET jobs = jobs + excluded.jobs',
}

/** A row that gets its own identity no longer shares a stamp. */
function alsoSet(table: TableName, columns: readonly string[]): readonly string[] {
  return table === 'jobs' && columns.includes('identity') ? ['stamp = NULL'] : []
}

function cell(row: SqlRow, column: string): Cell {
  return row[column] ?? null
}

const places = ['', 'IN (?)', 'IN (?, ?)', 'IN (?, ?, ?)']

function placesFor({ length }: readonly unknown[]): string {
  return length > 0 && length <= mostSaid ? (places[length] as string) : longList
}

function bound(values: readonly SqlValue[]): readonly SqliteValue[] {
  if (!values.some(isList)) return values as readonly SqliteValue[]
  return values.flatMap((value): readonly SqliteValue[] => {
    if (!isList(value)) return [value]
    return value.length > 0 && value.length <= mostSaid ? value : [JSON.stringify(value)]
  })
}

function isList(value: SqlValue): value is readonly (string | number)[] {
  return Array.isArray(value)
}
