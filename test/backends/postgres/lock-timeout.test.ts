import pg from 'pg'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openPostgres } from '../../../src/engines/postgres/index.ts'
import { Bench } from '../../../src/testing/conformance/bench.ts'
import { ManualClock } from '../../../src/testing/manual-clock.ts'
import { type FreshDatabase, freshDatabase } from '../../services.ts'

const patience = { timeout: 30_000, interval: 20 }

describe('a user of PostgreSQL with a lock_timeout', () => {
  let database: FreshDatabase
  let admin: pg.Client
  beforeAll(async () => {
    database = await freshDatabase('postgres')
    admin = new pg.Client({ connectionString: database.url })
    await admin.connect()
  })
  afterAll(async () => {
    await admin.end()
    await database.dispose()
  })

  test('sends what waits for a lock again, until the lock is free', async () => {
    const clock = new ManualClock()
    const before = await openPostgres({ url: database.url, clock, notify: false })
    await before[Symbol.asyncDispose]()
    await admin.query(`ALTER DATABASE ${database.name} SET lock_timeout = '300ms'`)
    const queue = new Bench(await openPostgres({ url: database.url, clock, notify: false }), clock)
    await queue.sendOne()
    const holder = new pg.Client({ connectionString: database.url })
    await holder.connect()
    await holder.query('BEGIN; LOCK TABLE treadle.jobs IN ACCESS EXCLUSIVE MODE')
    const sending = queue.sendOne()
    const tries = new Set<string>()
    await expect.poll(async () => tries.add(await waitingSince()).size > 2, patience).toBe(true)
    await holder.end()
    await sending
    expect(await queue.claimedIds()).toHaveLength(2)
    await queue.backend[Symbol.asyncDispose]()
  })

  async function waitingSince(): Promise<string> {
    const waiting = `SELECT xact_start::text AS since FROM pg_stat_activity WHERE datname = $1 AND wait_event_type = 'Lock'`
    const { rows } = await admin.query(waiting, [database.name])
    return rows[0]?.since ?? 'nobody waits'
  }
})
