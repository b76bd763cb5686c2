import { type Index, indexes, type TableName, tables } from '../../sql/rows/tables.ts'
import { declared, type NamedColumn, type SchemaWriter } from '../../sql/upkeep/versions.ts'
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

export const postgresSchema: SchemaWriter = {
  tables,
  indexes,
  createTable(name, { columns, primary }, own) {
    const lines = [...Object.entries(columns).map(columnText), `PRIMARY KEY (${primary.join(', ')})`]
    const kept = storage[name] === undefined ? '' : ` WITH (${storage[name]})`
    return [`CREATE TABLE {${name}} (\n  ${lines.join(',\n  ')}\n)${kept}`, ...own.map(createIndex)]
  },
  dropTable: (name) => `DROP TABLE {${name}}`,
  addColumns: (table, columns) => [
    `ALTER TABLE {${table}} ${columns.map((each) => `ADD COLUMN ${columnText(each)}`).join(', ')}`,
  ],
  dropColumns: (table, columns) => [`ALTER TABLE {${table}} ${columns.map((name) => `DROP COLUMN ${name}`).join(', ')}`],
  createIndex,
  dropIndex: ({ name }) => `DROP INDEX {${name}}`,
}

export function createIndex({ name, table, columns, unique, where }: Index): string {
  const kind = unique === true ? 'UNIQUE INDEX' : 'INDEX'
  return `CREATE ${kind} ${name} ON {${table}} (${columns.join(', ')})${where === undefined ? '' : ` WHERE ${where}`}`
}

function columnText([name, column]: NamedColumn): string {
  if (column.type === 'serial') return `${name} bigint GENERATED ALWAYS AS IDENTITY`
  return declared(name, column, columnTypes[column.type])
}
