import { firstIndexes, firstTables, type Index, type Table, type TableName } from '../../sql/rows/tables.ts'
import { placeColumns } from './places.ts'

/** In characters. An index key holds at most 768 in total. */
const nameLength = 512
const otherLengths: Partial<Readonly<Record<TableName, Readonly<Record<string, number>>>>> = {
  lanes: { queue: 191 },
  rates: { scope: 720 },
}

/** The statements that create the first version of the schema, with tables written as `{jobs}`. */
export function mysqlTables(exactCollation: string): readonly string[] {
  return firstTables.map(([name, table]) => createTable(name, table, exactCollation))
}

export function createTable(name: TableName, table: Table, collation: string): string {
  const columns = Object.entries(table.columns).map(([column, { type, nullable, fallback }]) => {
    const length = otherLengths[name]?.[column] ?? nameLength
    const given = fallback === undefined ? '' : ` DEFAULT ${typeof fallback === 'string' ? `'${fallback}'` : fallback}`
    return `${column} ${columnType(type, length, collation)}${nullable === true ? '' : ' NOT NULL'}${given}`
  })
  const keys = firstIndexes.filter((index) => index.table === name && index.isOfStates !== true).map(createIndex)
  const places = name === 'jobs' ? placeColumns(columnType('name', nameLength, collation)) : []
  const lines = [...columns, `PRIMARY KEY (${table.primary.join(', ')})`, ...keys, ...places]
  const kept = 'ENGINE = InnoDB ROW_FORMAT = DYNAMIC DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin'
  return `CREATE TABLE IF NOT EXISTS {${name}} (\n  ${lines.join(',\n  ')}\n) ${kept}`
}

function createIndex({ name, columns, unique }: Index): string {
  return `${unique === true ? 'UNIQUE INDEX' : 'INDEX'} ${name} (${columns.join(', ')})`
}

function columnType(type: Table['columns'][string]['type'], length: number, collation: string): string {
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
