import { afterAll, beforeAll, expect, test } from 'vitest'
import { openPostgres } from '../../../src/engines/postgres/index.ts'
import { Bench, limited, times } from '../../../src/testing/conformance/bench.ts'
import { ManualClock } from '../../../src/testing/manual-clock.ts'
import { type FreshDatabase, freshDatabase } from '../../services.ts'
import { CountingPool } from './counting-pool.ts'

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

const statementsOf = (work: () => Promise<unknown>) => pool.statementsOf(work)

test('a worker that idled claims what it is woken for in one round trip', async () => {
  const watch = queue.backend.watch(() => {})
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
  watch.close()
})

test('one that is woken in vain asks once from then on, until there is a job for it', async () => {
  const watch = queue.backend.watch(() => {})
  const wake = () => queue.sendOne({ job: 'of somebody else' })
  await queue.assertNothingClaimable()
  await wake()
  expect(await statementsOf(() => queue.assertNothingClaimable())).toBe(2)
  await wake()
  expect(await statementsOf(() => queue.assertNothingClaimable())).toBe(1)
  for (const claims of [2, 1]) {
    await queue.sendOne()
    expect(await statementsOf(() => queue.claim())).toBe(claims)
    await queue.assertNothingClaimable()
  }
  watch.close()
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

test('what a worker asks before each run of a schedule is one statement, and reads none of the waiting jobs', async () => {
  const { schedules } = queue.store
  const now = queue.clock.now()
  const occurrences = times(150, (index) => {
    return { schedule: 'digest', at: now + index, envelope: queue.envelope({ runAt: now + index }) }
  })
  await schedules.enqueue(occurrences)
  const statements = await statementsOf(async () => {
    expect(await schedules.neighbours({ schedule: 'digest', at: now + 149 })).toEqual({ unended: null, seen: true })
  })
  expect(statements).toBe(1)
})
