import pg from 'pg'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openPostgres } from '../../../src/backends/postgres/index.ts'
import { Bench, limited } from '../../../src/testing/conformance/bench.ts'
import { ManualClock } from '../../../src/testing/manual-clock.ts'
import { type FreshDatabase, freshDatabase } from '../../services.ts'

let database: FreshDatabase
let pool: CountingPool
let queue: Bench
beforeAll(async () => {
  database = await freshDatabase('postgres')
  pool = new CountingPool({ connectionString: database.url })
  const clock = new ManualClock()
  queue = new Bench(await openPostgres({ pool, clock, notify: false }), clock)
})
afterAll(async () => {
  await queue.backend[Symbol.asyncDispose]()
  await pool.end()
  await database.dispose()
})

/** Counts the times that a connection was asked for: outside of transactions, that is once for each statement. */
class CountingPool extends pg.Pool {
  statements = 0
  readonly #connect = super.connect.bind(this) as () => Promise<pg.PoolClient>

  override connect = (async () => {
    this.statements++
    return this.#connect()
  }) as pg.Pool['connect']
}

async function statementsOf(work: () => Promise<unknown>): Promise<number> {
  const before = pool.statements
  await work()
  return pool.statements - before
}

test('a worker that idled claims what it is woken for in one round trip', async () => {
  await queue.send({}, { priority: 9 })
  for (const lease of await queue.claim()) await queue.settle(queue.done(lease))
  expect(await statementsOf(() => queue.assertNothingClaimable())).toBe(1)
  const id = await queue.sendOne()
  expect(
    await statementsOf(async () => {
      expect(await queue.claimedIds()).toEqual([id])
    }),
  ).toBe(1)
  expect(await statementsOf(() => queue.assertNothingClaimable())).toBe(1)
})

test('where a limit may stand before a job, it asks first', async () => {
  const jobs = limited('work', 5)
  await queue.assertNothingClaimable({ jobs })
  expect(await statementsOf(() => queue.assertNothingClaimable({ jobs }))).toBe(1)
  const id = await queue.sendOne()
  expect(
    await statementsOf(async () => {
      expect(await queue.claimedIds({ jobs })).toEqual([id])
    }),
  ).toBe(2)
})
