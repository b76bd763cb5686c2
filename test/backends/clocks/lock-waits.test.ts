import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { systemClock } from '../../../src/core/time/clock.ts'
import type { Lease, QueueBackend } from '../../../src/queue/contract/contract.ts'
import { type Bench, times } from '../../../src/testing/conformance/bench.ts'
import { behindLock, benchOn, groundOf, sqlEngines } from './clock-ground.ts'

/** What a lease lasts here, and what a lock is held for longer than. */
const leaseMs = 400

describe.each(['sqlite', ...sqlEngines] as const)('what counts from now counts from when a lock was had, on %s', (engine) => {
  const ground = groundOf(engine)
  const opened: QueueBackend[] = []
  beforeAll(() => ground.start())
  afterAll(() => ground.stop())
  afterEach(async () => {
    for (const backend of opened.splice(0)) await backend[Symbol.asyncDispose]()
  })

  async function freshBench(): Promise<Bench> {
    const backend = await ground.open(systemClock)
    opened.push(backend)
    return benchOn(backend, systemClock)
  }

  async function leased(bench: Bench, count = 1): Promise<readonly Lease[]> {
    await bench.send(...times(count, () => ({})))
    return bench.claim({ leaseMs: 60_000 })
  }

  test('a lease has its whole time when it comes, and what was written is what is told', async () => {
    const bench = await freshBench()
    const id = await bench.sendOne()
    const { answer, freedAt } = await behindLock(ground, leaseMs, () => bench.claimOne({ leaseMs }))
    expect(answer.expiresAt).toBeGreaterThanOrEqual(freedAt + leaseMs - measuring)
    expect((await bench.record(id)).startedAt).toBeGreaterThanOrEqual(freedAt - measuring)
    const [held] = await bench.store.leases({ ids: [id] })
    expect(Math.abs((held?.expiresAt ?? 0) - answer.expiresAt)).toBeLessThanOrEqual(measuring)
  })

  test('so has a lease below limits', async () => {
    const bench = await freshBench()
    await bench.sendOne()
    const jobs = [{ job: 'work', concurrency: 3 }]
    const { answer, freedAt } = await behindLock(ground, leaseMs, () => bench.claimOne({ leaseMs, jobs }))
    expect(answer.expiresAt).toBeGreaterThanOrEqual(freedAt + leaseMs - measuring)
  })

  test('a rate counts its starts from there: nothing more in the window that follows', async () => {
    const bench = await freshBench()
    await bench.send(...times(4, () => ({})))
    const rated = { jobs: [{ job: 'work', concurrency: null, rate: { limit: 2, perMs: 60_000 } }] }
    const { answer, freedAt } = await behindLock(ground, leaseMs, () => bench.claim(rated))
    expect(answer).toHaveLength(2)
    const { leases, nextAt } = await bench.lease(rated)
    expect(leases).toEqual([])
    const [first] = answer as readonly [Lease]
    expect((await bench.record(first.envelope.id)).startedAt).toBeGreaterThanOrEqual(freedAt - measuring)
    // The leases are shorter than the window, and end first: what holds the others is asked for by its name.
    const [waiting] = (await bench.store.list({ state: 'ready', limit: 1 })).map(({ id }) => id)
    const holds = await bench.store.holds(waiting as string, { ...rated, queueLimits: [] })
    expect(holds.map(({ until }) => until ?? 0)).toEqual([expect.toSatisfy((until) => until >= freedAt + 60_000 - measuring)])
    expect(nextAt).not.toBeNull()
  })

  test('a renewal gives a lease its whole time', async () => {
    const bench = await freshBench()
    const [lease] = (await leased(bench)) as readonly [Lease]
    const { answer, freedAt } = await behindLock(ground, leaseMs, () => bench.backend.extend([lease.token], leaseMs))
    expect(answer).toEqual(['applied'])
    const [held] = await bench.store.leases({ ids: [lease.envelope.id] })
    expect(held?.expiresAt).toBeGreaterThanOrEqual(freedAt + leaseMs - measuring)
  })

  test('a retry waits its whole delay, and a snooze too', async () => {
    const bench = await freshBench()
    const [retried, snoozed] = (await leased(bench, 2)) as readonly [Lease, Lease]
    const settlements = [bench.retry(retried, 60_000), bench.snooze(snoozed, 60_000)]
    const { freedAt } = await behindLock(ground, leaseMs, () => bench.settle(...settlements))
    for (const { envelope } of [retried, snoozed]) {
      expect((await bench.record(envelope.id)).runAt).toBeGreaterThanOrEqual(freedAt + 60_000 - measuring)
    }
  })

  test('a job has finished when its end was written', async () => {
    const bench = await freshBench()
    const [plain, dead] = (await leased(bench, 2)) as readonly [Lease, Lease]
    const first = await behindLock(ground, leaseMs, () => bench.settle(bench.done(plain, { keep: true })))
    expect((await bench.record(plain.envelope.id)).finishedAt).toBeGreaterThanOrEqual(first.freedAt - measuring)
    const second = await behindLock(ground, leaseMs, () => bench.settle(bench.dead(dead)))
    expect((await bench.record(dead.envelope.id)).finishedAt).toBeGreaterThanOrEqual(second.freedAt - measuring)
  })

  test('a lease that ran out while somebody waited to return leases is returned', async () => {
    const bench = await freshBench()
    await bench.sendOne()
    await bench.claimOne({ leaseMs })
    const { answer } = await behindLock(ground, leaseMs, () => bench.backend.reap(3))
    // Where the rows are looked for before they are locked, the next look finds it.
    const { returned } = answer.returned === 1 ? answer : await bench.backend.reap(3)
    expect(returned).toBe(1)
  })
})

/** By as much the measured clock of a server may differ from this machine's, which is the same here: the way of a message. */
const measuring = 100
