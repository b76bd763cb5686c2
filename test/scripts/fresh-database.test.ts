import { createConnection } from 'mysql2/promise'
import pg from 'pg'
import { describe, expect, test } from 'vitest'
import { type FreshDatabase, freshDatabase, mysqlUrl, type SqlEngine } from '../services.ts'

const sqlEngines: readonly SqlEngine[] = ['postgres', 'mariadb', 'mysql']

describe.each(sqlEngines)('a fresh database of %s', (engine) => {
  test.skipIf(engine === 'mysql' && mysqlUrl() === null)(
    'is empty, apart from others, and gone when it is disposed of',
    async () => {
      await using one = await freshDatabase(engine)
      const other = await freshDatabase(engine)
      await rows(engine, one, 'CREATE TABLE things (name text)')
      await rows(engine, one, `INSERT INTO things VALUES ('a')`)
      expect(await rows(engine, one, 'SELECT name FROM things')).toEqual([{ name: 'a' }])
      await expect(rows(engine, other, 'SELECT name FROM things')).rejects.toThrow(/things/)
      await other.dispose()
      await other.dispose()
      await expect(rows(engine, other, 'SELECT 1')).rejects.toThrow(other.name)
    },
  )
})

async function rows(engine: SqlEngine, { url }: FreshDatabase, sql: string): Promise<unknown> {
  if (engine === 'postgres') {
    const client = new pg.Client({ connectionString: url })
    try {
      await client.connect()
      return (await client.query(sql)).rows
    } finally {
      await client.end()
    }
  }
  const connection = await createConnection(url)
  try {
    return (await connection.query(sql))[0]
  } finally {
    await connection.end()
  }
}
