import { createPool, type RowDataPacket } from 'mysql2/promise'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { SqlSession } from '../../../src/engines/sql/session.ts'
import { gate } from '../../world.ts'
import { databaseOn, inTransaction, type MysqlGround, mysqlEngines, mysqlGround } from './ground.ts'

describe.each(mysqlEngines)('transactions on %s', (engine) => {
  let ground: MysqlGround
  beforeAll(async () => {
    ground = await mysqlGround(engine)
  })
  afterAll(() => ground[Symbol.asyncDispose]())
  beforeEach(async () => {
    await ground.plain.query('DELETE FROM treadle_paused')
    await ground.plain.query(`INSERT INTO treadle_paused (queue) VALUES ('a'), ('b')`)
  })

  const lock = (session: SqlSession, queue: string) =>
    session.all('SELECT queue FROM {paused} WHERE queue = ? FOR UPDATE', [queue])

  async function queues(): Promise<readonly string[]> {
    const [rows] = await ground.plain.query<RowDataPacket[]>('SELECT queue FROM treadle_paused ORDER BY queue')
    return rows.map(({ queue }) => queue as string)
  }

  test('one that fails leaves nothing behind, whether its writes were sent or not', async () => {
    const { database } = ground
    const failing = inTransaction(database, async (session) => {
      await session.run('DELETE FROM {paused} WHERE queue = ?', ['a'])
      await session.insert('paused', ['queue'], [{ queue: 'c' }])
      throw new Error('no')
    })
    await expect(failing).rejects.toThrow('no')
    expect(await queues()).toEqual(['a', 'b'])
  })

  test('a write is seen by what follows it in the transaction, and by others when it is over', async () => {
    const { database } = ground
    await inTransaction(database, async (session) => {
      await session.insert('paused', ['queue'], [{ queue: 'c' }])
      expect(await session.all('SELECT queue FROM {paused} WHERE queue = ?', ['c'])).toEqual([{ queue: 'c' }])
      expect(await queues()).toEqual(['a', 'b'])
    })
    expect(await queues()).toEqual(['a', 'b', 'c'])
  })

  test('what others have committed meanwhile is seen', async () => {
    const { database } = ground
    await inTransaction(database, async (session) => {
      expect(await session.all('SELECT queue FROM {paused}')).toHaveLength(2)
      await ground.plain.query(`INSERT INTO treadle_paused (queue) VALUES ('c')`)
      expect(await session.all('SELECT queue FROM {paused}')).toHaveLength(3)
    })
  })

  test('of two that wait for each other, the one that had to give way is tried again', async () => {
    const { database } = ground
    const both = [gate(), gate()] as const
    let tries = 0
    const crossing = (mine: number, queues: readonly [string, string]) =>
      inTransaction(database, async (session) => {
        tries++
        await lock(session, queues[0])
        both[mine]?.open()
        await both[1 - mine]?.opened
        await lock(session, queues[1])
      })
    await Promise.all([crossing(0, ['a', 'b']), crossing(1, ['b', 'a'])])
    expect(tries).toBe(3)
  })

  test('one that has waited for a lock for too long is tried again', async () => {
    const impatient = createPool(ground.fresh.url)
    impatient.on('connection', (connection) => void connection.query('SET SESSION innodb_lock_wait_timeout = 1'))
    const database = await databaseOn(impatient)
    const blocker = await ground.plain.getConnection()
    try {
      await blocker.query('START TRANSACTION')
      await blocker.query(`SELECT queue FROM treadle_paused WHERE queue = 'a' FOR UPDATE`)
      let tries = 0
      await inTransaction(database, async (session) => {
        if (++tries === 2) await blocker.query('COMMIT')
        await lock(session, 'a')
      })
      expect(tries).toBe(2)
    } finally {
      // Also where it failed: with the lock no other test could begin.
      await blocker.query('ROLLBACK')
      blocker.release()
      await impatient.end()
    }
  })

  test('one that was overtaken by another with the same key looks again, and finds it', async () => {
    const { database } = ground
    const seen: boolean[] = []
    await inTransaction(database, async (session) => {
      const isThere = (await session.all('SELECT queue FROM {paused} WHERE queue = ?', ['c'])).length > 0
      seen.push(isThere)
      if (isThere) return
      await ground.plain.query(`INSERT INTO treadle_paused (queue) VALUES ('c')`)
      await session.insert('paused', ['queue'], [{ queue: 'c' }])
    })
    expect(seen).toEqual([false, true])
  })

  test('a connection that breaks is closed and not given to the next one', async () => {
    const { database } = ground
    const broken = inTransaction(database, async (session) => {
      const [row] = await session.all<{ id: number }>('SELECT CONNECTION_ID() AS id')
      await session.run('DELETE FROM {paused}')
      await ground.plain.query(`KILL ${row?.id}`)
      await session.all('SELECT queue FROM {paused}')
    })
    await expect(broken).rejects.toMatchObject({ code: 'DATABASE_UNREACHABLE' })
    expect(await queues()).toEqual(['a', 'b'])
    for (let time = 0; time < 10; time++)
      expect(await inTransaction(database, async (session) => lock(session, 'a'))).toHaveLength(1)
  })

  test('a refusal has the words of the server and its number, and nothing that a statement carried', async () => {
    const { database } = ground
    const refused = async () => database.insert('paused', ['queue'], [{ queue: `secret ${'x'.repeat(600)}` }])
    const error = await refused().catch((thrown: Error) => thrown)
    expect(error).toMatchObject({
      code: 'DATABASE_FAILED',
      message: expect.stringMatching(/^MySQL refused: Data too long .*\(1406\)$/),
    })
    expect(JSON.stringify(Object.entries((error as Error).cause as object))).not.toContain('secret')
  })
})
