import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { MysqlPool, MysqlQueryable } from '../../../src/engines/mysql/connections/client.ts'
import { type MysqlDatabase, mysqlDatabase } from '../../../src/engines/mysql/connections/database.ts'
import { lookAtServer } from '../../../src/engines/mysql/connections/server.ts'
import { MysqlStatements, mysqlNames } from '../../../src/engines/mysql/statements/statements.ts'
import { type MysqlGround, mysqlEngines, mysqlGround } from './ground.ts'

const maxPacketBytes = 100_000
const longestMs = 30_000

describe.each(mysqlEngines)('statements on %s, which takes none of more than 100,000 bytes', (engine) => {
  let ground: MysqlGround
  beforeAll(async () => {
    ground = await mysqlGround(engine)
  })
  afterAll(() => ground[Symbol.asyncDispose]())

  /** A database on which each statement is measured. */
  async function measured(): Promise<{ readonly database: MysqlDatabase; readonly lengths: number[] }> {
    const lengths: number[] = []
    const measure = (client: MysqlQueryable): MysqlQueryable => ({
      query(query) {
        lengths.push(Buffer.byteLength(query.sql))
        return client.query(query)
      },
    })
    const pool: MysqlPool = {
      ...measure(ground.plain),
      async getConnection() {
        const connection = await ground.plain.getConnection()
        return { ...measure(connection), release: () => connection.release(), destroy: () => connection.destroy() }
      },
      end: async () => {},
    }
    const { exactCollation, canCombine } = await lookAtServer(ground.plain, longestMs)
    const statements = new MysqlStatements(mysqlNames('treadle_'), exactCollation)
    const database = mysqlDatabase({ pool, remake: null, statements, canCombine, maxPacketBytes, longestMs })
    return { database, lengths }
  }

  const schedules = (count: number, expression: string) =>
    Array.from({ length: count }, (_, number) => ({ name: `s${number}`, expression, timezone: 'UTC', version: '1', since: 0 }))
  const columns = ['name', 'expression', 'timezone', 'version', 'since'] as const

  test.each([
    ['plain letters', 'x'],
    ['quotes, which are written twice', "'"],
    ['backslashes, which are written twice', '\\'],
    ['characters of three bytes', '€'],
    ['characters of four bytes', '🙂'],
  ])('many rows are written and changed in several of them: %s', async (_, character) => {
    const { database, lengths } = await measured()
    await database.run('DELETE FROM {schedules}')
    const [first, second] = [character.repeat(5_000), `2${character.repeat(5_000)}`]
    await database.insert('schedules', columns, schedules(60, first))
    await database.update(
      'schedules',
      ['name'],
      ['expression', 'since'],
      schedules(60, second).map((row, since) => ({ ...row, since })),
    )
    expect(Math.max(...lengths)).toBeLessThan(maxPacketBytes)
    const rows = await database.all('SELECT name FROM {schedules} WHERE expression = ?', [second])
    expect(rows).toHaveLength(60)
  })

  test('a row that is too large by itself is refused before it is sent, with the setting that would let it in', async () => {
    const { database, lengths } = await measured()
    const refused = database.insert('schedules', columns, schedules(1, 'x'.repeat(maxPacketBytes)))
    await expect(refused).rejects.toMatchObject({
      code: 'DATABASE_FAILED',
      message: expect.stringContaining('max_allowed_packet is 100000'),
    })
    expect(Math.max(...lengths)).toBeLessThan(maxPacketBytes)
  })
})
