import { TableNames } from '../../sql/rows/table-names.ts'
import { type ColumnType, type TableName, tables } from '../../sql/rows/tables.ts'
import type { SqlRow, SqlValue } from '../../sql/session.ts'
import { literal, textIn } from './literals.ts'

/** Names the index to use: the optimizer's choice depends on its last statistics, and it locks every row it reads. */
export function mysqlNames(prefix: string): TableNames {
  return new TableNames(prefix, (index) => ` FORCE INDEX (${index})`)
}

/**
 * A claim sets a token, an owner and two times. A row that grows moves within its page, and full pages are split: that used to be
 * most of what a claim wrote. So new rows reserve the space in the token, which is unused until then.
 */
const room: Partial<Readonly<Record<TableName, { readonly column: string; readonly value: string }>>> = {
  jobs: { column: 'token', value: 'SPACE(88)' },
}

/** Writes statements for MySQL, including their values. */
export class MysqlStatements {
  readonly #names: TableNames
  /** For text that is compared exactly. */
  readonly #collation: string
  readonly #parts = new Map<string, readonly string[]>()

  constructor(names: TableNames, collation: string) {
    this.#names = names
    this.#collation = collation
  }

  /** Fills in table names, and a value for each `?`. */
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

  /** Most rows of a batch get the same values in most columns; those values are written once. */
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

  /** Rows as a derived table called `given`. */
  given(table: TableName, columns: readonly string[], rows: readonly SqlRow[]): string {
    const selects = rows.map((row, index) => {
      const values = columns.map((column) => this.#typed(table, column, row[column] ?? null))
      return (index === 0 ? values.map((value, place) => `${value} AS ${columns[place]}`) : values).join(', ')
    })
    return `(SELECT ${selects.join(' UNION ALL SELECT ')}) AS given`
  }

  /** A text from a subquery can use an index only if it has the charset and collation of the indexed column. */
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
