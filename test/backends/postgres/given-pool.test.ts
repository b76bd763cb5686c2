import pg from 'pg'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openPostgres } from '../../../src/engines/postgres/index.ts'
import { Bench } from '../../../src/testing/conformance/bench.ts'
import { ManualClock } from '../../../src/testing/manual-clock.ts'
import { type FreshDatabase, freshDatabase } from '../../services.ts'

describe('a pool of the program', () => {
  let database: FreshDatabase
  let pool: pg.Pool
  const clock = new ManualClock()
  beforeAll(async () => {
    database = await freshDatabase('postgres')
    pool = new pg.Pool({ connectionString: database.url, max: 1 })
  })
  afterAll(async () => {
    await pool.end()
    await database.dispose()
  })

  test('is shared with the queue, and stays open when that is closed', async () => {
    const queue = new Bench(await openPostgres({ pool, clock }), clock)
    const id = await queue.sendOne()
    expect(await queue.claimedIds()).toEqual([id])
    await queue.backend[Symbol.asyncDispose]()
    const { rows } = await pool.query('SHOW enable_seqscan')
    expect(rows).toEqual([{ enable_seqscan: 'on' }])
    expect(pool.totalCount).toBe(1)
  })

  test('that has no free connection is waited for no longer than a statement may take', async () => {
    const queue = new Bench(await openPostgres({ pool, clock, notify: false, queryTimeout: '200ms' }), clock)
    const held = await pool.connect()
    const refused = queue.sendOne()
    await expect(refused).rejects.toMatchObject({ code: 'DATABASE_BUSY' })
    await expect(refused).rejects.toThrow(/No connection was free for 200ms; 0 are in use/)
    held.release()
    await queue.sendOne()
    // The connection that came too late was given back.
    await expect.poll(() => [pool.idleCount, pool.waitingCount], { timeout: 20_000 }).toEqual([1, 0])
    await queue.backend[Symbol.asyncDispose]()
  })

  test('and a URL are not both given, and one of them must be', async () => {
    for (const options of [{ pool, url: database.url }, {}]) {
      await expect(openPostgres(options)).rejects.toThrow(/give either a url or a pool/)
    }
  })
})
