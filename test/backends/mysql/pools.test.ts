import { createPool, type Pool, type PoolOptions, type RowDataPacket } from 'mysql2/promise'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { openMysql } from '../../../src/engines/mysql/index.ts'
import { Bench } from '../../../src/testing/conformance/bench.ts'
import { ManualClock } from '../../../src/testing/manual-clock.ts'
import { databaseOn, inTransaction, type MysqlGround, mysqlEngines, mysqlGround } from './ground.ts'

describe.each(mysqlEngines)("somebody else's pool on %s", (engine) => {
  let ground: MysqlGround
  beforeAll(async () => {
    ground = await mysqlGround(engine)
  })
  afterAll(() => ground[Symbol.asyncDispose]())

  function poolWith(options: PoolOptions, ...onConnect: readonly string[]): Pool {
    const pool = createPool({ uri: ground.fresh.url, ...options })
    pool.on('connection', (connection) => {
      for (const sql of onConnect) connection.query(sql)
    })
    onTestFinished(() => pool.end())
    return pool
  }

  test.each<[string, PoolOptions]>([
    ['rows as lists', { rowsAsArray: true }],
    ['rows below the names of their tables', { nestTables: true }],
    ['large numbers as texts', { supportBigNumbers: true, bigNumberStrings: true }],
    ['everything as bytes', { typeCast: false }],
    ['a way of its own to read values', { typeCast: () => 'read in another way' }],
    ['names in statements', { namedPlaceholders: true }],
    ['a count of changes and not of rows', { flags: ['-FOUND_ROWS'] }],
    ['several statements at once', { multipleStatements: true }],
    ['a single connection', { connectionLimit: 1 }],
  ])('that was told to want %s gives the queue the same answers', async (_, options) => {
    const database = await databaseOn(poolWith(options))
    await database.run('DELETE FROM {paused}')
    await database.run('DELETE FROM {counts}')
    await database.insert('paused', ['queue'], [{ queue: ':name ? é' }])
    await database.insert('counts', ['lane', 'state', 'jobs'], [{ lane: 1, state: 0, jobs: Number.MAX_SAFE_INTEGER }])
    expect(await database.all('SELECT queue FROM {paused} WHERE queue = ?', [':name ? é'])).toEqual([{ queue: ':name ? é' }])
    expect(await database.all('SELECT lane, SUM(jobs) AS sum FROM {counts} GROUP BY lane')).toEqual([
      { lane: 1, sum: Number.MAX_SAFE_INTEGER },
    ])
    expect(await database.run('UPDATE {counts} SET lane = 1')).toBe(1)
    expect(await database.insertNew('paused', ['queue'], [{ queue: ':name ? é' }, { queue: 'new' }], 'queue')).toEqual(
      new Set(['new']),
    )
  })

  test('is READ COMMITTED in the transactions of the queue, and as it was afterwards', async () => {
    const pool = poolWith({ connectionLimit: 1 }, 'SET SESSION TRANSACTION ISOLATION LEVEL REPEATABLE READ')
    const database = await databaseOn(pool)
    await ground.plain.query('DELETE FROM treadle_paused')
    const count = async () => {
      const [rows] = await pool.query<RowDataPacket[]>('SELECT COUNT(*) AS count FROM treadle_paused')
      return rows[0]?.count as number
    }
    await inTransaction(database, async (session) => {
      await session.all('SELECT queue FROM {paused}')
      await ground.plain.query(`INSERT INTO treadle_paused (queue) VALUES ('a')`)
      expect(await session.all('SELECT queue FROM {paused}')).toHaveLength(1)
    })
    await pool.query('START TRANSACTION')
    expect(await count()).toBe(1)
    await ground.plain.query(`INSERT INTO treadle_paused (queue) VALUES ('b')`)
    expect(await count()).toBe(1)
    await pool.query('COMMIT')
  })

  test('holds a queue, and is not closed with it', async () => {
    const pool = poolWith({})
    const clock = new ManualClock()
    const bench = new Bench(await openMysql({ pool, clock }), clock)
    const id = await bench.sendOne()
    expect((await bench.lease()).leases.map(({ envelope }) => envelope.id)).toEqual([id])
    await bench.backend[Symbol.asyncDispose]()
    expect(await pool.query('SELECT 1')).toBeDefined()
  })

  test.each<[string, PoolOptions, readonly string[]]>([
    ['utf8mb4_bin', { charset: 'utf8mb4_bin' }, []],
    ['utf8mb4_general_ci', { charset: 'utf8mb4_general_ci' }, []],
    ['utf8mb4_unicode_520_ci', { charset: 'utf8mb4_unicode_520_ci' }, []],
    ['utf8mb4_bin of a server', {}, ['SET collation_connection = utf8mb4_bin']],
    ['utf8mb4_unicode_ci of a server', {}, ['SET collation_connection = utf8mb4_unicode_ci']],
    ['latin1_german2_ci of a server', {}, ['SET collation_connection = latin1_german2_ci']],
  ])('that compares by %s holds a queue', async (_, options, onConnect) => {
    const clock = new ManualClock()
    const bench = new Bench(await openMysql({ pool: poolWith(options, ...onConnect), clock, prefix: 'compared_' }), clock)
    const ids = await bench.send({ payload: '"é🙂"', uniqueKey: 'é🙂' }, { payload: '"é🙂"', delayMs: -1 })
    const leases = await bench.claim()
    expect(leases.map(({ envelope }) => [envelope.id, envelope.payload]).sort()).toEqual(ids.map((id) => [id, '"é🙂"']).sort())
    await bench.settle(...leases.map((lease, nth) => bench.done(lease, { keep: true, result: nth === 0 ? '"é🙂"' : '1' })))
    const results = await Promise.all(leases.map(async ({ envelope }) => (await bench.record(envelope.id)).result))
    expect(results).toEqual(['"é🙂"', '1'])
    await bench.backend[Symbol.asyncDispose]()
  })

  test('without a database is refused', async () => {
    const opening = openMysql({ pool: poolWith({ uri: new URL('/', ground.fresh.url).href }) })
    await expect(opening).rejects.toMatchObject({ code: 'CONFIG_INVALID', message: expect.stringContaining('names no database') })
  })

  test.each<[string, PoolOptions, readonly string[], string]>([
    ['another charset', { charset: 'latin1' }, [], 'charset must be utf8mb4, and is latin1'],
    ['backslashes that are characters', {}, [`SET SESSION sql_mode = 'NO_BACKSLASH_ESCAPES'`], 'NO_BACKSLASH_ESCAPES'],
    ['no commit by itself', {}, ['SET SESSION autocommit = 0'], 'autocommit must be on'],
  ])('with %s is refused', async (_, options, onConnect, words) => {
    const opening = openMysql({ pool: poolWith(options, ...onConnect) })
    await expect(opening).rejects.toMatchObject({ code: 'CONFIG_INVALID', message: expect.stringContaining(words) })
  })
})
