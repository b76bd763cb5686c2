import { describe, expect, it } from 'vitest'
import { silentLogger } from '../../src/core/logger.ts'
import { openCoordinated } from '../../src/engines/coordinated/index.ts'
import { openMemory } from '../../src/engines/memory/index.ts'
import { move } from '../../src/moving/index.ts'
import { jobInBroker } from '../../src/queue/contract/backlog.ts'
import type { WholeBackend } from '../../src/queue/contract/contract.ts'
import { Bench } from '../../src/testing/conformance/bench.ts'
import { ManualClock } from '../../src/testing/manual-clock.ts'
import { ServiceBusGround } from './ground.ts'

// The conformance suite on it: test/deep/coordinated-service-bus.test.ts.
describe('Service Bus with a store beside it', () => {
  async function started() {
    const clock = new ManualClock()
    const ground = await ServiceBusGround.start(clock)
    const broker = await ground.open()
    const store = openMemory({ clock }) as WholeBackend
    const backend = openCoordinated({ broker, store, clock, logger: silentLogger })
    return {
      ground,
      broker,
      store,
      backend,
      bench: new Bench(backend, clock),
      clock,
      [Symbol.asyncDispose]: () => ground[Symbol.asyncDispose](),
    }
  }

  it('counts what Service Bus holds: ready, locked, scheduled and dead, by queue', async () => {
    await using test = await started()
    const { broker, bench, backend, clock } = test
    const plain = new Bench(broker, clock)
    await plain.send({ queue: 'mail' }, {}, { delayMs: 60_000 })
    const [first, second] = await plain.send({ priority: 1 }, {})
    const leases = await plain.claim({ limit: 2, queues: ['default'] })
    await plain.settle(plain.dead(leases[0]!))
    expect(first && second).toBeTruthy()
    expect((await broker.backlog.counts()).toSorted((a, b) => a.queue.localeCompare(b.queue))).toEqual([
      { queue: 'default', ready: 1, scheduled: 1, running: 1, dead: 1 },
      { queue: 'mail', ready: 1, scheduled: 0, running: 0, dead: 0 },
    ])
    await bench.sendOne({ queue: 'mail', delayMs: 1_000 })
    const counts = await backend.store.counts({ queue: 'mail' })
    expect(counts.map(({ job, counts: each }) => [job, each.ready, each.scheduled])).toEqual([
      ['work', 0, 1],
      [jobInBroker, 1, 0],
    ])
  })

  it('a job that is in Service Bus is found, cancelled and waited for', async () => {
    await using test = await started()
    const { backend, bench } = test
    const [one, other] = (await bench.send({}, {})) as [string, string]
    expect(await backend.store.get(one)).toMatchObject({ id: one, state: 'ready' })
    expect(await backend.store.cancel(other)).toMatchObject({ cancelled: 1 })
    const waiting = { root: one, parent: null, waitsFor: [{ id: one, onFailure: 'fail' }], longestWaitMs: 60_000 } as const
    const next = await bench.sendOne({ links: waiting })
    const lease = await bench.claimOne()
    expect(lease.envelope.id).toBe(one)
    await bench.settle(bench.done(lease))
    expect(await bench.claimedIds()).toEqual([next])
  })

  it('limits hold, and what waits for its turn does not circulate in Service Bus', async () => {
    await using test = await started()
    const { backend, bench } = test
    await bench.send({}, {}, {})
    const limited = { jobs: [{ job: 'work', concurrency: 1 }] }
    const lease = await bench.claimOne(limited)
    await bench.assertNothingClaimable(limited)
    expect((await backend.store.counts()).map(({ job, counts }) => [job, counts.ready, counts.running])).toEqual([['work', 2, 1]])
    await bench.settle(bench.done(lease))
    await bench.claimOne(limited)
  })

  it('a move takes the jobs along that are in Service Bus', async () => {
    await using test = await started()
    const { backend, bench, clock } = test
    const ids = await bench.send(...Array.from({ length: 300 }, (_, index) => ({ payload: String(index) })))
    const target = openMemory({ clock })
    expect(await move({ from: backend, to: target })).toMatchObject({ moved: 300, isComplete: true })
    const moved = new Map((await target.store.list({ limit: 500 })).map((job) => [job.id, job.payload]))
    expect(ids.every((id, index) => moved.get(id) === String(index))).toBe(true)
  })
})
