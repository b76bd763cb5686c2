import { createPool, type Pool, type RowDataPacket } from 'mysql2/promise'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openMysql } from '../../../src/engines/mysql/index.ts'
import type { KeyPattern } from '../../../src/queue/rules/claiming/key-pattern.ts'
import { Bench, unlimited } from '../../../src/testing/conformance/bench.ts'
import { ManualClock } from '../../../src/testing/manual-clock.ts'
import { type FreshDatabase, freshDatabase } from '../../services.ts'
import { mysqlEngines } from './ground.ts'

const many = 10_000
const few = 10
/** Some rows are read of other tables, and beyond what is taken, in case somebody else is at it. */
const room = 200

describe.each(mysqlEngines)('with 10,000 jobs that are ready, scheduled and ended, %s reads few rows', (engine) => {
  const clock = new ManualClock()
  let fresh: FreshDatabase
  let pool: Pool
  let bench: Bench

  beforeAll(async () => {
    fresh = await freshDatabase(engine)
    // The server counts by connection, so there is only one.
    pool = createPool({ uri: fresh.url, connectionLimit: 1 })
    bench = new Bench(await openMysql({ pool, clock }), clock)
    await bench.send(...Array.from({ length: 2 * many }, () => ({})))
    await bench.send(...Array.from({ length: many }, (_, index) => ({ delayMs: 60_000 + index })))
    await endSome(many)
  })
  afterAll(async () => {
    await bench.backend[Symbol.asyncDispose]()
    await pool.end()
    await fresh.dispose()
  })

  async function counter(): Promise<number> {
    const [rows] = await pool.query<RowDataPacket[]>(`SHOW SESSION STATUS LIKE 'Handler\\_read\\_%'`)
    return rows.reduce((sum, { Value }) => sum + Number(Value), 0)
  }

  async function rowsRead(work: () => Promise<unknown>): Promise<number> {
    const [before, again] = [await counter(), await counter()]
    await work()
    return (await counter()) - again - (again - before)
  }

  async function endSome(count: number): Promise<void> {
    for (let left = count; left > 0; left -= 1_000) {
      const leases = await bench.claim({ limit: Math.min(left, 1_000) })
      await bench.settle(...leases.map((lease) => bench.done(lease, { keep: true })))
    }
  }

  test('to find that there is nothing to claim', async () => {
    expect(await rowsRead(() => bench.assertNothingClaimable({ queues: ['empty'] }))).toBeLessThan(room)
  })

  test('to claim and to end a few', async () => {
    expect(await rowsRead(() => endSome(few))).toBeLessThan(room)
  })

  test('to end the jobs of one claim, none of them twice', async () => {
    const leases = await bench.claim({ limit: 500 })
    const ending = rowsRead(() => bench.settle(...leases.map((lease) => bench.done(lease, { keep: true }))))
    expect(await ending).toBeLessThan(500 + room)
  })

  test('to make those ready whose time has come', async () => {
    await clock.advance(60_000 + few - 1)
    expect(await rowsRead(() => bench.assertNothingClaimable({ queues: ['empty'] }))).toBeLessThan(room)
    const counts = await bench.store.counts()
    expect(counts[0]?.counts.scheduled).toBe(many - few)
  })

  test('to return a lease that has run out', async () => {
    await bench.claim({ limit: few, leaseMs: 1 })
    await clock.advance(1)
    expect(await rowsRead(() => bench.backend.reap(3))).toBeLessThan(room)
  })

  test('to delete those that ended first, and to list those of a rare state', async () => {
    const removing = rowsRead(() => bench.store.remove({ state: 'succeeded', finishedBefore: clock.now(), limit: few }))
    expect(await removing).toBeLessThan(room)
    const [lease] = await bench.claim({ limit: 1 })
    await bench.settle(bench.dead(lease as NonNullable<typeof lease>))
    const counted = await rowsRead(() => bench.store.counts())
    expect(await rowsRead(() => bench.store.list({ state: 'dead', limit: few }))).toBeLessThan(counted + room)
  })
})

describe.each(mysqlEngines)('beside 5,000 jobs with names and queues of their own, %s reads few rows', (engine) => {
  const clock = new ManualClock()
  let fresh: FreshDatabase
  let pool: Pool
  let bench: Bench

  beforeAll(async () => {
    fresh = await freshDatabase(engine)
    pool = createPool({ uri: fresh.url, connectionLimit: 1 })
    bench = new Bench(await openMysql({ pool, clock }), clock)
    for (let batch = 0; batch < 5; batch++) {
      const name = (index: number) => `${batch}-${index}`
      await bench.send(...Array.from({ length: 1_000 }, (_, index) => ({ job: `name-${name(index)}`, queue: name(index) })))
    }
    await bench.sendOne({ job: 'target' })
    const late = Array.from({ length: 1_000 }, (_, index) => ({ job: `name-${index}`, delayMs: 60_000 }))
    await bench.send(...late, { job: 'late', delayMs: 60_000 })
  })
  afterAll(async () => {
    await bench.backend[Symbol.asyncDispose]()
    await pool.end()
    await fresh.dispose()
  })

  async function rowsRead(work: () => Promise<unknown>): Promise<number> {
    const counter = async () => {
      const [rows] = await pool.query<RowDataPacket[]>(`SHOW SESSION STATUS LIKE 'Handler\\_read\\_%'`)
      return rows.reduce((sum, { Value }) => sum + Number(Value), 0)
    }
    const [before, again] = [await counter(), await counter()]
    await work()
    return (await counter()) - again - (again - before)
  }

  // Each lane that is not crowded is looked into by itself, and counts that were not added up yet are read.
  const most = 4_000

  const jobs = unlimited('target')
  const fitting = (glob: string): KeyPattern => [{ names: [], globs: [glob], mark: 'mock~', marked: 'left out' }]
  test.each([
    ['to claim a job of another name', () => bench.claim({ jobs, limit: 1 })],
    ['to find that there is none', () => bench.assertNothingClaimable({ jobs })],
    ['to find that a pattern fits none', () => bench.assertNothingClaimable({ jobs: [], others: fitting('tart*') })],
    ['to claim by a pattern that all of them fit', () => bench.claim({ jobs: [], others: fitting('*'), limit: 1 })],
    ['to count the jobs of a name', () => bench.store.counts({ job: 'target' })],
    ['to count all jobs together', () => bench.store.counts({ isSum: true })],
    ['to find one that waits for its time', () => bench.store.list({ job: 'late', state: 'scheduled', limit: 9 })],
    ['to list the jobs of a name', () => bench.store.list({ job: 'target', state: 'ready', limit: 9 })],
    ['to store a job of a new name', () => bench.sendOne({ job: 'new' })],
  ])('%s', async (_, work) => {
    await work()
    expect(await rowsRead(work)).toBeLessThan(most)
  })
})
