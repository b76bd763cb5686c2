import { firstIndexes, firstTables, type Index, type Table, type TableName } from '../../sql/rows/tables.ts'
import { columnTypes } from '../statements.ts'

/**
 * Rows change a few times and are found by index each time. Free space on each page and eager vacuuming keep the tables small.
 */
const storage: Partial<Readonly<Record<TableName, string>>> = {
  jobs: 'fillfactor = 85, autovacuum_vacuum_scale_factor = 0.02, autovacuum_analyze_scale_factor = 0.05, autovacuum_vacuum_cost_delay = 1',
  counts: 'autovacuum_vacuum_scale_factor = 0.05, autovacuum_vacuum_threshold = 1000',
  groups: 'fillfactor = 70, autovacuum_vacuum_scale_factor = 0.05',
  rates: 'fillfactor = 50, autovacuum_vacuum_scale_factor = 0.05',
}

/** The statements that create the first version of the schema, with tables written as `{jobs}`. */
export function postgresTables(): readonly string[] {
  const made = firstTables.map(([name, table]) => createTable(name, table))
  return [...made, ...firstIndexes.map(createIndex)]
}

export function createIndex({ name, table, columns, unique, where }: Index): string {
  const kind = unique === true ? 'UNIQUE INDEX' : 'INDEX'
  return `CREATE ${kind} ${name} ON {${table}} (${columns.join(', ')})${where === undefined ? '' : ` WHERE ${where}`}`
}

export function createTable(name: TableName, { columns, primary }: Table): string {
  const lines = Object.entries(columns).map(([column, { type, nullable, fallback }]) => {
    if (type === 'serial') return `${column} bigint GENERATED ALWAYS AS IDENTITY`
    const given = fallback === undefined ? '' : ` DEFAULT ${typeof fallback === 'string' ? `'${fallback}'` : fallback}`
    return `${column} ${columnTypes[type]}${nullable === true ? '' : ' NOT NULL'}${given}`
  })
  const kept = storage[name] === undefined ? '' : ` WITH (${storage[name]})`
  return `CREATE TABLE {${name}} (\n  ${[...lines, `PRIMARY KEY (${primary.join(', ')})`].join(',\n  ')}\n)${kept}`
}
