import type { SqliteStatement, SqliteValue } from './driver.ts'

type Row = Record<string, unknown>

/** Minimum number of rows for which reading them as one text pays off. */
const worthText = 4

/**
 * A query. Drivers are slow to return rows of many columns value by value. So if the last answer had several rows, the next one
 * is fetched as one JSON text.
 */
export class Query {
  readonly #prepare: (sql: string) => SqliteStatement
  readonly #sql: string
  readonly #rows: SqliteStatement
  #columns: readonly string[] | undefined
  #text: SqliteStatement | undefined
  #lastCount = 0

  constructor(prepare: (sql: string) => SqliteStatement, sql: string) {
    this.#prepare = prepare
    this.#sql = sql
    this.#rows = prepare(sql)
  }

  all(values: readonly SqliteValue[]): unknown[] {
    const rows = (this.#lastCount >= worthText ? this.#fromText(values) : undefined) ?? this.#oneByOne(values)
    this.#lastCount = rows.length
    return rows
  }

  #oneByOne(values: readonly SqliteValue[]): unknown[] {
    const rows = this.#rows.all(...values) as Row[]
    if (this.#columns === undefined && rows[0] !== undefined) this.#columns = Object.keys(rows[0])
    for (const row of rows) withoutBlobs(row)
    return rows
  }

  /** Undefined if a row holds a value that JSON cannot represent. */
  #fromText(values: readonly SqliteValue[]): unknown[] | undefined {
    const columns = this.#columns
    if (columns === undefined) return undefined
    this.#text ??= this.#prepare(
      `SELECT json_group_array(json_array(${columns.map((column) => `"${column}"`).join(', ')})) AS rows FROM (${this.#sql})`,
    )
    try {
      const { rows } = this.#text.get(...values) as { rows: string }
      return (JSON.parse(rows) as unknown[][]).map((cells) => rowOf(columns, cells))
    } catch {
      return undefined
    }
  }
}

function rowOf(columns: readonly string[], cells: readonly unknown[]): Row {
  const row: Row = {}
  for (let at = 0; at < columns.length; at++) row[columns[at] as string] = cells[at]
  return row
}

/** Turns BLOBs, which only other programs write, into text; verification then refuses the job. */
function withoutBlobs(row: Row): void {
  for (const column in row) {
    const value = row[column]
    if (value instanceof Uint8Array) row[column] = Buffer.from(value).toString()
  }
}
