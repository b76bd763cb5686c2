import pg from 'pg'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openPostgres } from '../../../src/engines/postgres/index.ts'
import type { KeyPattern } from '../../../src/queue/rules/claiming/key-pattern.ts'
import { Bench, times, unlimited } from '../../../src/testing/conformance/bench.ts'
import { ManualClock } from '../../../src/testing/manual-clock.ts'
import { type FreshDatabase, freshDatabase } from '../../services.ts'
import { CountingPool } from './counting-pool.ts'

/** Where the counts that were not added up yet are few, and one page of the jobs in their order. */
const most = 1_500

describe('beside 5,000 jobs with names and queues of their own, PostgreSQL reads few rows', () => {
  let database: FreshDatabase
  let pool: CountingPool
  let admin: pg.Client
  let bench: Bench

  beforeAll(async () => {
    database = await freshDatabase('postgres')
    admin = new pg.Client({ connectionString: database.url })
    await admin.connect()
    const clock = new ManualClock()
    const filler = new Bench(await openPostgres({ url: database.url, clock, notify: false }), clock)
    for (let batch = 0; batch < 5; batch++) {
      await filler.send(...times(1_000, (index) => ({ job: `name-${batch}-${index}`, queue: `${batch}-${index}` })))
    }
    await filler.send(...times(2_000, (index) => ({ job: `name-${index}`, delayMs: 60_000 })), { job: 'late', delayMs: 60_000 })
    await filler.sendOne({ job: 'target' })
    // Counts are added up in the background, which reads many of them: it is over when the program has closed.
    await filler.backend[Symbol.asyncDispose]()
    // As autovacuum does soon after so many rows: before that, the server takes the table for small and sorts all of it.
    await admin.query('ANALYZE treadle.jobs, treadle.lanes')
    // The server counts when a connection tells it, so there is only one.
    pool = new CountingPool({ connectionString: database.url, max: 1, options: '-c enable_seqscan=off' })
    bench = new Bench(await openPostgres({ pool, clock, notify: false }), clock)
  })
  afterAll(async () => {
    await bench.backend[Symbol.asyncDispose]()
    await pool.end()
    await admin.end()
    await database.dispose()
  })

  async function counter(): Promise<number> {
    const client = await pool.connect()
    await client.query('SELECT pg_stat_force_next_flush()')
    client.release()
    const { rows } = await admin.query<{ read: string }>(
      `SELECT (SELECT COALESCE(SUM(idx_tup_read), 0) FROM pg_stat_user_indexes WHERE schemaname = 'treadle')
        + (SELECT COALESCE(SUM(seq_tup_read), 0) FROM pg_stat_user_tables WHERE schemaname = 'treadle') AS read`,
    )
    return Number(rows[0]?.read)
  }

  async function rowsRead(work: () => Promise<unknown>): Promise<number> {
    const before = await counter()
    await work()
    return (await counter()) - before
  }

  const jobs = unlimited('target')
  const fitting = (glob: string): KeyPattern => [{ names: [], globs: [glob], mark: 'mock~', marked: 'left out' }]
  test.each([
    ['to claim a job of another name', () => bench.claim({ jobs, limit: 1 })],
    ['to find that there is none', () => bench.assertNothingClaimable({ jobs })],
    ['to find that a pattern fits none', () => bench.assertNothingClaimable({ jobs: [], others: fitting('tart*') })],
    ['to claim by a pattern that all of them fit', () => bench.claim({ jobs: [], others: fitting('*'), limit: 1 })],
    ['to count the jobs of a name', () => bench.store.counts({ job: 'target' })],
    ['to find one that waits for its time', () => bench.store.list({ job: 'late', state: 'scheduled', limit: 9 })],
    ['to list the jobs of a name', () => bench.store.list({ job: 'target', state: 'ready', limit: 9 })],
    ['to store a job of a new name', () => bench.sendOne({ job: 'new' })],
  ])('%s', async (_, work) => {
    await work()
    expect(await rowsRead(work)).toBeLessThan(most)
  })

  test('in at most three statements to find that there is nothing to claim', async () => {
    expect(await pool.statementsOf(() => bench.assertNothingClaimable({ jobs }))).toBeLessThanOrEqual(3)
  })
})
