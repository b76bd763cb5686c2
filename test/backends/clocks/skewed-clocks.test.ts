import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { silentLogger } from '../../../src/core/logger.ts'
import { type Clock, systemClock } from '../../../src/core/time/clock.ts'
import { openMysql } from '../../../src/engines/mysql/index.ts'
import { openPostgres } from '../../../src/engines/postgres/index.ts'
import type { Lease, QueueBackend } from '../../../src/queue/contract/contract.ts'
import { type Bench, times } from '../../../src/testing/conformance/bench.ts'
import { SqlGround } from '../sql-ground.ts'
import { benchOn, skewedClock, sqlEngines } from './clock-ground.ts'

/** By as much the measured clock of the server, which is this machine's, may differ from it: the way of a message. */
const measuring = 100
const leaseMs = 60_000

describe.each(sqlEngines)('workers whose clocks differ, on %s', (engine) => {
  const ground = new SqlGround(engine)
  const opened: QueueBackend[] = []
  beforeAll(() => ground.start())
  afterAll(() => ground.stop())
  afterEach(async () => {
    for (const backend of opened.splice(0)) await backend[Symbol.asyncDispose]()
  })

  /** Of two machines on one queue, the first of which has the server's time. */
  async function benches(aheadMs: number): Promise<readonly [Bench, Bench]> {
    const clocks = [systemClock, skewedClock(aheadMs)] as const
    opened.push(await ground.open(clocks[0]), await openOn(engine, ground.url, clocks[1]))
    return [benchOn(opened[0] as QueueBackend, clocks[0]), benchOn(opened[1] as QueueBackend, clocks[1])]
  }

  describe.each([
    ['35 s ahead', 35_000],
    ['10 min ahead', 600_000],
    ['35 s behind', -35_000],
    ['10 min behind', -600_000],
  ])('one of them %s', (_, aheadMs) => {
    test('a live job is nobody else’s, and a lease that is over is anybody’s', async () => {
      const [right, skewed] = await benches(aheadMs)
      await right.sendOne()
      const lease = await right.claimOne({ leaseMs: 30_000 })
      await skewed.assertNothingClaimable({ owner: 'worker-2' })
      expect(await skewed.backend.reap(3)).toEqual({ returned: 0, poisoned: 0 })
      expect(await right.backend.extend([lease.token], -1_000)).toEqual(['applied'])
      const taken = await skewed.claimOne({ owner: 'worker-2', leaseMs })
      await right.assertNothingClaimable()
      expect(taken.envelope.id).toBe(lease.envelope.id)
    })

    test('a lease and the next look are told by the clock of whoever asks', async () => {
      const [right, skewed] = await benches(aheadMs)
      await right.send({}, { delayMs: 20_000 })
      const dueAt = systemClock.now() + 20_000
      const before = skewed.clock.now()
      const { leases, nextAt } = await skewed.lease({ leaseMs })
      const after = skewed.clock.now()
      const [lease] = leases as readonly [Lease]
      expect(leases).toHaveLength(1)
      expect(lease.expiresAt).toBeGreaterThanOrEqual(before + leaseMs - measuring)
      expect(lease.expiresAt).toBeLessThanOrEqual(after + leaseMs + measuring)
      expect(nextAt).toBeLessThanOrEqual(dueAt + aheadMs + measuring)
      expect(nextAt).toBeGreaterThan(dueAt + aheadMs - 20_000)
    })

    test('what is sent to run now runs now, and what is put off counts by the server', async () => {
      const [right, skewed] = await benches(aheadMs)
      await skewed.sendOne()
      const lease = await right.claimOne({ leaseMs })
      await right.settle(right.snooze(lease))
      const again = await skewed.claimOne({ leaseMs, owner: 'worker-2' })
      const before = systemClock.now()
      await skewed.settle(skewed.retry(again, 60_000))
      const { runAt } = await right.record(again.envelope.id)
      expect(runAt).toBeGreaterThanOrEqual(before + 60_000 - measuring)
      expect(runAt).toBeLessThanOrEqual(systemClock.now() + 60_000 + measuring)
    })

    test('a rate is one for all of them', async () => {
      const [right, skewed] = await benches(aheadMs)
      await right.send(...times(6, () => ({})))
      const jobs = [{ job: 'work', concurrency: null, rate: { limit: 2, perMs: 30_000 } }]
      expect(await right.claim({ jobs, leaseMs })).toHaveLength(2)
      await skewed.assertNothingClaimable({ jobs, owner: 'worker-2' })
      await right.assertNothingClaimable({ jobs })
    })
  })

  test('a clock that is off is told once, with how much', async () => {
    const warnings: string[] = []
    opened.push(await ground.open(systemClock))
    opened.push(await openOn(engine, ground.url, skewedClock(35_000), (message) => warnings.push(message)))
    const [, skewed] = opened as [QueueBackend, QueueBackend]
    await skewed.lease({ jobs: [], queues: null, limit: 1, leaseMs, owner: 'worker-2', maxRescues: 3 })
    expect(warnings).toEqual([expect.stringMatching(/^the clock of this machine is 3(4|5)\d{3} ms ahead of the database's/)])
  })

  test('a clock that is set while the program runs is measured again, and its leases stay what they are', async () => {
    let aheadMs = 0
    const clock = { ...systemClock, now: () => systemClock.now() + aheadMs }
    opened.push(await ground.open(systemClock))
    const backend = await openOn(engine, ground.url, clock)
    opened.push(backend)
    const bench = benchOn(backend, clock)
    await bench.sendOne()
    await bench.claimOne({ leaseMs })
    for (const set of [90_000, -90_000]) {
      aheadMs = set
      await bench.assertNothingClaimable({ owner: 'worker-2' })
      const id = await bench.sendOne()
      const before = clock.now()
      const lease = await bench.claimOne({ leaseMs, owner: 'worker-2' })
      expect(lease.envelope.id).toBe(id)
      expect(lease.expiresAt).toBeGreaterThanOrEqual(before + leaseMs - measuring)
      expect(lease.expiresAt).toBeLessThanOrEqual(clock.now() + leaseMs + measuring)
    }
  })
})

function openOn(engine: string, url: string, clock: Clock, warn: (message: string) => void = () => {}): Promise<QueueBackend> {
  const options = { url, clock, logger: { ...silentLogger, warn } }
  return engine === 'postgres' ? openPostgres(options) : openMysql(options)
}
