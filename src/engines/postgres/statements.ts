import type { TableNames } from '../sql/rows/table-names.ts'
import { type ColumnType, type TableName, tables } from '../sql/rows/tables.ts'

export const columnTypes: Readonly<Record<ColumnType, string>> = {
  id: 'uuid',
  name: 'text COLLATE "C"',
  text: 'text',
  int: 'integer',
  big: 'bigint',
  flag: 'smallint',
  serial: 'bigint',
}

/** Writes statements for PostgreSQL. Rows are sent as one JSON text, so that a statement is the same for any number of them. */
export class PostgresStatements {
  readonly #names: TableNames
  readonly #numbered = new Map<string, string>()

  constructor(names: TableNames) {
    this.#names = names
  }

  /** Fills in table names, `$1` for the first `?`, and arrays for lists. */
  translated(sql: string): string {
    const known = this.#numbered.get(sql)
    if (known !== undefined) return known
    let count = 0
    const text = this.#names
      .in(sql)
      .replaceAll('IN (?)', '= ANY(?)')
      .replaceAll('?', () => `$${++count}`)
    this.#numbered.set(sql, text)
    return text
  }

  insert(table: TableName, columns: readonly string[], ending = ''): string {
    const list = columns.join(', ')
    return `INSERT INTO {${table}} (${list}) SELECT ${list} FROM ${this.rows(table, columns)} ${ending}`
  }

  update(table: TableName, keys: readonly string[], columns: readonly string[]): string {
    const changes = columns.map((column) => `${column} = given.${column}`).join(', ')
    const found = keys.map((key) => `target.${key} = given.${key}`).join(' AND ')
    return `UPDATE {${table}} AS target SET ${changes} FROM ${this.rows(table, [...keys, ...columns])} WHERE ${found}`
  }

  /** Reads a JSON text as rows with columns of the table. */
  rows(table: TableName, columns: readonly string[]): string {
    const types: Readonly<Record<string, { readonly type: ColumnType }>> = tables[table].columns
    const list = columns.map((column) => `${column} ${plainType(types[column]?.type ?? 'text')}`)
    return `json_to_recordset(?::text::json) AS given(${list.join(', ')})`
  }
}

function plainType(type: ColumnType): string {
  return type === 'name' ? 'text' : columnTypes[type]
}
