import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { type Clock, systemClock } from '../../../src/core/time/clock.ts'
import { openMemory } from '../../../src/engines/memory/index.ts'
import type { QueueBackend } from '../../../src/queue/contract/contract.ts'
import { type Bench, times } from '../../../src/testing/conformance/bench.ts'
import { benchOn, groundOf } from './clock-ground.ts'

/** What a call takes at most, and by how much a jump may be measured too long or too short. */
const slackMs = 10_000
const measuringMs = 50
const leaseMs = 30_000

const idle = { jobs: [], concurrency: 1, allowed: 1, running: 0, breaker: 'closed', scheduler: null } as const

/** Of one machine: all programs on it see the same clock. */
const machine = { aheadMs: 0 }
const clock: Clock = { ...systemClock, now: () => systemClock.now() + machine.aheadMs }

describe.each(['sqlite', 'memory'] as const)('a clock that is set while workers run, on %s', (engine) => {
  const ground = groundOf('sqlite')
  const opened: QueueBackend[] = []
  beforeAll(() => ground.start())
  afterAll(() => ground.stop())
  afterEach(async () => {
    machine.aheadMs = 0
    for (const backend of opened.splice(0)) await backend[Symbol.asyncDispose]()
  })

  /** Two programs on one queue; a queue in memory has only one. */
  async function benches(): Promise<readonly [Bench, Bench]> {
    const first = engine === 'memory' ? openMemory({ clock }) : await ground.open(clock)
    opened.push(first)
    if (engine === 'sqlite') opened.push(await ground.openAgain(clock))
    return [benchOn(first, clock), benchOn(opened.at(-1) as QueueBackend, clock)]
  }

  describe.each([
    ['forward', 90_000],
    ['back', -90_000],
  ])('%s by 90 s', (_, byMs) => {
    test('a lease keeps the time that it has left, whichever program notices first, and is moved once', async () => {
      const [one, other] = await benches()
      const id = await one.sendOne()
      const lease = await one.claimOne({ leaseMs })
      machine.aheadMs += byMs
      await other.assertNothingClaimable({ owner: 'worker-2' })
      await one.assertNothingClaimable()
      const [held] = await one.store.leases({ ids: [id] })
      expect(Math.abs((held?.expiresAt ?? 0) - lease.expiresAt - byMs)).toBeLessThan(measuringMs)
      const { startedAt } = await one.record(id)
      expect(startedAt).toBeLessThanOrEqual(clock.now())
      expect(startedAt).toBeGreaterThan(clock.now() - slackMs)
      expect(await one.backend.settle([one.done(lease)])).toEqual(['applied'])
    })

    test('a rate holds for as long as it said', async () => {
      const [one, other] = await benches()
      const ids = await one.send(...times(3, () => ({})))
      const jobs = [{ job: 'work', concurrency: null, rate: { limit: 2, perMs: 20_000 } }]
      expect(await one.claim({ jobs, leaseMs })).toHaveLength(2)
      machine.aheadMs += byMs
      await other.assertNothingClaimable({ jobs, owner: 'worker-2' })
      const [hold] = await one.store.holds(ids[2] as string, { jobs })
      expect(hold?.until).toBeLessThanOrEqual(clock.now() + 20_000)
      expect(hold?.until).toBeGreaterThan(clock.now() + 20_000 - slackMs)
    })

    test('a lock is held for as long as it said', async () => {
      const [one, other] = await benches()
      const holder = (owner: string) => ({ owner, host: 'here', pid: 1 })
      await one.coordination.lock('scheduler', holder('one'), 20_000)
      machine.aheadMs += byMs
      const answer = await other.coordination.lock('scheduler', holder('other'), 20_000)
      expect(answer).toMatchObject({ held: false, by: { owner: 'one' } })
      const left = answer.held ? 0 : answer.by.expiresAt - clock.now()
      expect(left).toBeLessThanOrEqual(20_000)
      expect(left).toBeGreaterThan(20_000 - slackMs)
    })

    test('a worker is seen for as long as it said', async () => {
      const [one, other] = await benches()
      const presence = { owner: 'worker-1', host: 'here', pid: 1, version: '1', startedAt: clock.now(), queues: null }
      await one.store.workers.announce({ ...presence, ...idle }, 20_000)
      machine.aheadMs += byMs
      const [seen] = await other.store.workers.list()
      expect(seen?.expiresAt).toBeLessThanOrEqual(clock.now() + 20_000)
      expect(seen?.expiresAt).toBeGreaterThan(clock.now() + 20_000 - slackMs)
    })
  })

  test('set forward and back again, everything is as it was', async () => {
    const [one, other] = await benches()
    const id = await one.sendOne()
    const lease = await one.claimOne({ leaseMs })
    for (const aheadMs of [90_000, 0]) {
      machine.aheadMs = aheadMs
      await one.assertNothingClaimable()
      await other.assertNothingClaimable({ owner: 'worker-2' })
    }
    const [held] = await one.store.leases({ ids: [id] })
    expect(Math.abs((held?.expiresAt ?? 0) - lease.expiresAt)).toBeLessThan(measuringMs)
  })
})
