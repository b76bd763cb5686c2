import { TableNames } from '../sql/rows/table-names.ts'
import { type ColumnType, type TableName, tables } from '../sql/rows/tables.ts'
import type { SqlRow, SqlValue } from '../sql/session.ts'
import { literal, textIn } from './literals.ts'

/** Its choice of an index depends on what it last knew of the table, and it locks all that it reads on the way. */
export function mysqlNames(prefix: string): TableNames {
  return new TableNames(prefix, (index) => ` FORCE INDEX (${index})`)
}

/**
 * A job that is claimed gets a token, an owner and two times. A row that grows is moved to another place in its page, and pages that
 * are full are split: that was most of what a claim wrote. So a new row has room for them, in the token that nobody has yet.
 */
const room: Partial<Readonly<Record<TableName, { readonly column: string; readonly value: string }>>> = {
  jobs: { column: 'token', value: 'SPACE(88)' },
}

/** Writes statements in MySQL's words, with their values. */
export class MysqlStatements {
  readonly #names: TableNames
  /** Of texts that are compared exactly. */
  readonly #collation: string
  readonly #parts = new Map<string, readonly string[]>()

  constructor(names: TableNames, collation: string) {
    this.#names = names
    this.#collation = collation
  }

  /** With the names of tables, and each value where its `?` stands. */
  written(sql: string, values: readonly SqlValue[]): string {
    const parts = this.#partsOf(sql)
    let text = parts[0] as string
    for (let index = 1; index < parts.length; index++) text += literal(values[index - 1] as SqlValue) + parts[index]
    return text
  }

  insert(table: TableName, columns: readonly string[], rows: readonly SqlRow[], ending = ''): string {
    const { column: spare, value: spaces } = room[table] ?? {}
    const [more, filler] = spare === undefined || columns.includes(spare) ? ['', ''] : [`, ${spare}`, `, ${spaces}`]
    const tuples = rows.map((row) => `(${columns.map((column) => literal(row[column] ?? null)).join(', ')}${filler})`)
    return `INSERT INTO ${this.#names.of(table)} (${columns.join(', ')}${more}) VALUES ${tuples.join(', ')}${ending}`
  }

  upsert(table: TableName, columns: readonly string[], rows: readonly SqlRow[], changes: readonly string[]): string {
    const set = changes.map((column) => `${column} = VALUES(${column})`).join(', ')
    return this.insert(table, columns, rows, ` ON DUPLICATE KEY UPDATE ${set}`)
  }

  /** Most rows of a batch change to the same values in most columns: those are said once. */
  update(table: TableName, keys: readonly string[], columns: readonly string[], rows: readonly SqlRow[]): string {
    const first = rows[0] as SqlRow
    const own = columns.filter((column) => rows.some((row) => row[column] !== first[column]))
    const set = columns.map((column) =>
      own.includes(column) ? `target.${column} = given.${column}` : `target.${column} = ${literal(first[column] ?? null)}`,
    )
    const isPrimary = tables[table].primary.every((column) => keys.includes(column))
    const target = `${this.#names.of(table)} AS target${isPrimary ? ' FORCE INDEX (PRIMARY)' : ''}`
    const [key, ...others] = keys as readonly [string, ...string[]]
    if (own.length === 0 && others.length === 0) {
      const values = rows.map((row) => literal(row[key] ?? null))
      return `UPDATE ${target} SET ${set.join(', ')} WHERE target.${key} IN (${values.join(', ')})`
    }
    const found = keys.map((name) => `target.${name} = given.${name}`).join(' AND ')
    return `UPDATE ${this.given(table, [...keys, ...own], rows)} STRAIGHT_JOIN ${target} ON ${found} SET ${set.join(', ')}`
  }

  /** Rows in place of a table, called `given`. */
  given(table: TableName, columns: readonly string[], rows: readonly SqlRow[]): string {
    const selects = rows.map((row, index) => {
      const values = columns.map((column) => this.#typed(table, column, row[column] ?? null))
      return (index === 0 ? values.map((value, place) => `${value} AS ${columns[place]}`) : values).join(', ')
    })
    return `(SELECT ${selects.join(' UNION ALL SELECT ')}) AS given`
  }

  /** A text out of a query can be looked for in an index only where it is of the same kind as the texts there. */
  #typed(table: TableName, column: string, value: string | number | null): string {
    if (typeof value !== 'string') return literal(value)
    const types: Readonly<Record<string, { readonly type: ColumnType }>> = tables[table].columns
    switch (types[column]?.type) {
      case 'id':
        return `${textIn('ascii', value)} COLLATE ascii_bin`
      case 'name':
        return `${textIn('utf8mb4', value)} COLLATE ${this.#collation}`
      default:
        return `${textIn('utf8mb4', value)} COLLATE utf8mb4_bin`
    }
  }

  #partsOf(sql: string): readonly string[] {
    const known = this.#parts.get(sql)
    if (known !== undefined) return known
    const parts = this.#names.in(sql).split('?')
    this.#parts.set(sql, parts)
    return parts
  }
}
