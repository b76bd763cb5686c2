import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { nextTurn, stopwatch } from '../../../src/core/time/clock.ts'
import type { BeanstalkdBackend } from '../../../src/engines/beanstalkd/index.ts'
import type { Lease } from '../../../src/queue/contract/contract.ts'
import { Bench, until } from '../../../src/testing/conformance/bench.ts'
import { ManualClock } from '../../../src/testing/manual-clock.ts'
import { beanstalkdUrl, freshPrefix, openFresh } from '../beanstalkd-ground.ts'

/** The server counts by itself, so these tests wait for it; how long that takes beyond its time does not matter. */
describe.skipIf(beanstalkdUrl() === null)('time on Beanstalkd', () => {
  const clock = new ManualClock()
  const among = { amongOthers: true, leaseMs: 1_000 }
  let backends: BeanstalkdBackend[]
  let bench: Bench
  let other: Bench
  beforeEach(async () => {
    const prefix = freshPrefix()
    backends = await Promise.all([0, 1].map(() => openFresh({ prefix, clock, ttr: '1s' })))
    ;[bench, other] = backends.map((each) => new Bench(each, clock)) as [Bench, Bench]
  })
  afterEach(async () => {
    await Promise.all(backends.map((each) => each[Symbol.asyncDispose]()))
  })

  test('a delay is rounded up to whole seconds: a job is not early', async () => {
    const sinceSent = stopwatch()
    await bench.send({ delayMs: 1_200 })
    await claimed(bench)
    expect(sinceSent()).toBeGreaterThanOrEqual(1_200)
  })

  test('a retry comes back after its delay as the next attempt, and a snooze as the same one', async () => {
    await bench.send({})
    const sinceRetry = stopwatch()
    await bench.settle(bench.retry(await claimed(bench), 700))
    const second = await claimed(bench)
    expect(sinceRetry()).toBeGreaterThanOrEqual(700)
    expect(second.attempt).toBe(2)
    await bench.settle(bench.snooze(second, 300))
    expect((await claimed(bench)).attempt).toBe(2)
  })

  // Beanstalkd 1.12 may overlook that time is up while the connection that holds the job is silent, so this one says something.
  test('a lease that nobody renews goes to another owner, and the first one can do nothing more to the job', async () => {
    await bench.send({})
    const stale = await claimed(bench, among)
    const current = await claimed(other, { ...among, leaseMs: 60_000 }, () => bench.lease({ queues: ['elsewhere'] }))
    expect([current.envelope.id, current.attempt, current.rescues]).toEqual([stale.envelope.id, 1, 1])
    for (const end of [bench.retry(stale), bench.done(stale), bench.dead(stale), bench.snooze(stale), bench.again(stale)]) {
      expect(await bench.backend.settle([end])).toEqual(['lost'])
    }
    expect(await bench.backend.extend([stale.token], 60_000)).toEqual(['lost'])
    expect(await bench.backend.begin([stale.token])).toEqual(['lost'])
    expect(await other.backend.settle([other.done(current)])).toEqual(['applied'])
    expect([...(await bench.claim()), ...(await other.claim())]).toEqual([])
  })

  test('a lease that is asked to be longer than the time to run of its job is that long', async () => {
    await bench.send({})
    const lease = await claimed(bench, { ...among, leaseMs: 90_000 })
    expect(lease.expiresAt).toBe(clock.now() + 90_000)
    const sinceClaimed = stopwatch()
    while (sinceClaimed() < 1_500) expect(await other.claim(among)).toEqual([])
    await bench.settle(bench.done(lease))
  })

  test('an owner that is late may still end its job while nobody else has it', async () => {
    await bench.send({})
    const lease = await claimed(bench, among)
    const sinceClaimed = stopwatch()
    while (sinceClaimed() < 1_100) await nextTurn()
    await bench.settle(bench.done(lease))
    expect(await other.claim()).toEqual([])
  })

  test('an idle worker is woken when a delay is over', async () => {
    let wakes = 0
    bench.backend.watch(() => wakes++)
    await bench.lease({ queues: ['default'] })
    await other.send({ delayMs: 900 })
    await until(() => wakes > 0, 'the server handed out the job')
    expect(await bench.claim()).toHaveLength(1)
  })
})

async function claimed(
  bench: Bench,
  request: Parameters<Bench['claim']>[0] = { amongOthers: true },
  meanwhile: () => Promise<unknown> = async () => {},
): Promise<Lease> {
  for (;;) {
    const [lease] = await bench.claim(request)
    if (lease !== undefined) return lease
    await meanwhile()
  }
}
