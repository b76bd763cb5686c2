import { type ColumnType, type Index, indexes, type TableName, tables } from '../../sql/rows/tables.ts'
import { declared, type NamedColumn, type SchemaWriter } from '../../sql/upkeep/versions.ts'
import { placeColumns } from './places.ts'

/** In characters. An index key holds at most 768 in total. */
const nameLength = 512
const otherLengths: Partial<Readonly<Record<TableName, Readonly<Record<string, number>>>>> = {
  lanes: { queue: 191 },
  rates: { scope: 720 },
}

const storage = 'ENGINE = InnoDB ROW_FORMAT = DYNAMIC DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin'

/** These statements do not run in a transaction, so each changes one thing, and may run again. `collation` compares exactly. */
export function mysqlSchema(collation: string): SchemaWriter {
  const columnText = (table: TableName, [name, column]: NamedColumn) =>
    declared(name, column, columnType(column.type, otherLengths[table]?.[name] ?? nameLength, collation))
  return {
    tables,
    // See `placeColumns` for the others.
    indexes: indexes.filter(({ isOfStates }) => isOfStates !== true),
    createTable(name, { columns, primary }, own) {
      const places = name === 'jobs' ? placeColumns(columnType('name', nameLength, collation)) : []
      const made = Object.entries(columns).map((column) => columnText(name, column))
      const lines = [...made, `PRIMARY KEY (${primary.join(', ')})`, ...own.map(indexText), ...places]
      return [`CREATE TABLE IF NOT EXISTS {${name}} (\n  ${lines.join(',\n  ')}\n) ${storage}`]
    },
    dropTable: (name) => `DROP TABLE IF EXISTS {${name}}`,
    addColumns: (table, columns) => columns.map((column) => `ALTER TABLE {${table}} ADD COLUMN ${columnText(table, column)}`),
    dropColumns: (table, columns) => columns.map((name) => `ALTER TABLE {${table}} DROP COLUMN ${name}`),
    createIndex: (index) => `ALTER TABLE {${index.table}} ADD ${indexText(index)}`,
    dropIndex: ({ name, table }) => `ALTER TABLE {${table}} DROP INDEX ${name}`,
  }
}

function indexText({ name, columns, unique }: Index): string {
  return `${unique === true ? 'UNIQUE INDEX' : 'INDEX'} ${name} (${columns.join(', ')})`
}

function columnType(type: ColumnType, length: number, collation: string): string {
  switch (type) {
    case 'id':
      return 'CHAR(36) CHARACTER SET ascii COLLATE ascii_bin'
    case 'name':
      return `VARCHAR(${length}) CHARACTER SET utf8mb4 COLLATE ${collation}`
    case 'text':
      return 'LONGTEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin'
    case 'int':
      return 'INT'
    case 'big':
      return 'BIGINT'
    case 'flag':
      return 'TINYINT'
    case 'serial':
      return 'BIGINT AUTO_INCREMENT'
  }
}
