import type { SqlDatabase } from '../sql/session.ts'
import { type Index, indexes, type Table, type TableName, tables } from '../sql/tables.ts'

const longestWaitSeconds = 60

/** In characters. A key of an index has room for 768 of them in all. */
const nameLength = 512
const otherLengths: Partial<Readonly<Record<TableName, Readonly<Record<string, number>>>>> = {
  lanes: { queue: 191 },
  rates: { scope: 720 },
}

/** Makes the tables where they are missing. Whoever else wants to waits for it. */
export async function makeTables(database: SqlDatabase, exactCollation: string, prefix: string): Promise<void> {
  await database.transaction(async (session) => {
    await session.all('SELECT GET_LOCK(?, ?) AS got', [prefix, longestWaitSeconds])
    try {
      for (const statement of mysqlTables(exactCollation)) await session.run(statement)
      await session.insertNew('mutexes', ['name'], [{ name: 'claims' }, { name: 'links' }], 'name')
      await session.insertNew('schedule_revision', ['one', 'revision'], [{ one: 1, revision: 0 }], 'one')
    } finally {
      await session.all('SELECT RELEASE_LOCK(?) AS released', [prefix])
    }
  })
}

/** The statements that make the first version of the schema, tables written as `{jobs}`. */
function mysqlTables(exactCollation: string): readonly string[] {
  return Object.entries(tables).map(([name, table]) => createTable(name as TableName, table, exactCollation))
}

function createTable(name: TableName, table: Table, collation: string): string {
  const columns = Object.entries(table.columns).map(([column, { type, nullable, fallback }]) => {
    const length = otherLengths[name]?.[column] ?? nameLength
    const given = fallback === undefined ? '' : ` DEFAULT ${typeof fallback === 'string' ? `'${fallback}'` : fallback}`
    return `${column} ${columnType(type, length, collation)}${nullable === true ? '' : ' NOT NULL'}${given}`
  })
  const keys = indexes.filter((index) => index.table === name).map(createIndex)
  const lines = [...columns, `PRIMARY KEY (${table.primary.join(', ')})`, ...keys]
  const kept = 'ENGINE = InnoDB ROW_FORMAT = DYNAMIC DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin'
  return `CREATE TABLE IF NOT EXISTS {${name}} (\n  ${lines.join(',\n  ')}\n) ${kept}`
}

function createIndex({ name, columns, prefix = [], unique }: Index): string {
  return `${unique === true ? 'UNIQUE INDEX' : 'INDEX'} ${name} (${[...prefix, ...columns].join(', ')})`
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
