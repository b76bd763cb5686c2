import { type ColumnType, tables } from '../rows/tables.ts'

const numeric: ReadonlySet<ColumnType> = new Set<ColumnType>(['int', 'big', 'flag', 'serial'])

/** Columns with numeric values, and the names that the queue's statements give to counts. */
const numbers: ReadonlySet<string> = new Set([
  ...Object.values(tables).flatMap(({ columns }) => {
    const typed = Object.entries(columns as Readonly<Record<string, { readonly type: ColumnType }>>)
    return typed.filter(([, { type }]) => numeric.has(type)).map(([name]) => name)
  }),
  'written',
  'ended',
])

/**
 * Converts rows from the caller's client to the queue's format: some clients return large numbers as strings or as BigInt, and
 * flags as booleans.
 */
export function plainRows(rows: readonly unknown[]): Record<string, unknown>[] {
  return rows.map((row) => {
    const values = Object.entries(row as Readonly<Record<string, unknown>>)
    return Object.fromEntries(values.map(([name, value]) => [name, plainValue(name, value)]))
  })
}

function plainValue(name: string, value: unknown): unknown {
  if (typeof value === 'bigint' || typeof value === 'boolean') return Number(value)
  return typeof value === 'string' && numbers.has(name) && /^-?\d+$/.test(value) ? Number(value) : value
}
