import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { BeanstalkdBackend } from '../../../src/engines/beanstalkd/index.ts'
import type { Lease } from '../../../src/queue/contract/contract.ts'
import { Bench } from '../../../src/testing/conformance/bench.ts'
import { ManualClock } from '../../../src/testing/manual-clock.ts'
import { beanstalkdUrl, freshPrefix, openFresh } from '../beanstalkd-ground.ts'
import { TcpProxy } from '../sql/tcp-proxy.ts'

describe.skipIf(beanstalkdUrl() === null)('a queue in Beanstalkd whose connections break', () => {
  const clock = new ManualClock()
  let proxy: TcpProxy
  let broken: BeanstalkdBackend
  let sound: BeanstalkdBackend
  let bench: Bench
  let other: Bench
  beforeEach(async () => {
    proxy = await TcpProxy.before(beanstalkdUrl() ?? '')
    const prefix = freshPrefix()
    broken = await openFresh({ url: proxy.url, prefix, clock, timeout: '500ms' })
    sound = await openFresh({ prefix, clock })
    bench = new Bench(broken, clock)
    other = new Bench(sound, clock)
  })
  afterEach(async () => {
    await broken[Symbol.asyncDispose]()
    await sound[Symbol.asyncDispose]()
    await proxy[Symbol.asyncDispose]()
  })

  const unreachable = { code: 'DATABASE_UNREACHABLE' }

  test('a put without an answer says that it may be stored, and the next one goes through', async () => {
    const met = proxy.lose('answer', 'put ')
    await expect(bench.send({})).rejects.toMatchObject({
      ...unreachable,
      message: expect.stringContaining('0 of 1 jobs are known'),
    })
    await met
    await bench.send({})
    expect(await other.claim()).toHaveLength(2)
  })

  test('jobs of a claim without an answer come back by themselves', async () => {
    const id = await other.sendOne()
    const met = proxy.lose('answer', 'reserve-with-timeout')
    await expect(bench.claim()).rejects.toMatchObject(unreachable)
    await met
    expect((await claimed(bench)).envelope.id).toBe(id)
  })

  test('the end of a job whose answer was lost is applied when it is told again, and the job does not come back', async () => {
    await other.send({}, {})
    const leases = await bench.claim({ amongOthers: true })
    const met = proxy.lose('answer', 'delete ')
    const ends = leases.map((lease) => bench.done(lease))
    await expect(broken.settle(ends)).rejects.toMatchObject(unreachable)
    await met
    expect(await broken.settle(ends)).toEqual(['applied', 'applied'])
    expect(await other.claim()).toEqual([])
  })

  test('the end of a job that never reached the server is applied later, while nobody else has the job', async () => {
    await other.send({})
    const lease = await claimed(bench)
    const met = proxy.lose('request', 'delete ')
    await expect(broken.settle([bench.done(lease)])).rejects.toMatchObject(unreachable)
    await met
    await broken.settle([bench.done(lease)])
    expect(await other.claim()).toEqual([])
  })

  test('once somebody else has it, it is lost', async () => {
    await other.send({})
    const lease = await claimed(bench)
    proxy.cut()
    const taken = await claimed(other)
    expect(await broken.settle([bench.done(lease)])).toEqual(['lost'])
    await other.settle(other.done(taken))
  })

  test('a retry that was put and whose original could not be deleted is finished when it is told again', async () => {
    await other.send({})
    const lease = await claimed(bench)
    const met = proxy.lose('request', 'delete ')
    await expect(broken.settle([bench.retry(lease)])).rejects.toMatchObject(unreachable)
    await met
    expect(await broken.settle([bench.retry(lease)])).toEqual(['applied'])
    expect((await other.claim()).map(({ attempt }) => attempt)).toEqual([2])
  })

  test('a retry that was not put leaves the job as it was', async () => {
    await other.send({})
    const lease = await claimed(bench)
    const met = proxy.lose('request', 'put ')
    await expect(broken.settle([bench.retry(lease)])).rejects.toMatchObject(unreachable)
    await met
    expect(await broken.settle([bench.retry(lease)])).toEqual(['lost'])
    expect((await claimed(other)).attempt).toBe(1)
  })

  test('leases of a connection that was cut are lost, and are told so', async () => {
    await other.send({})
    const lease = await claimed(bench)
    proxy.cut()
    await claimed(other)
    expect(await broken.extend([lease.token], 30_000)).toEqual(['lost'])
  })

  test('a server that falls silent is given up after the timeout, and found again', async () => {
    await bench.send({})
    await bench.settle(bench.snooze(await claimed(bench)))
    proxy.fallSilent()
    await expect(bench.claim()).rejects.toMatchObject({ ...unreachable, message: expect.stringContaining('no answer in 500 ms') })
    await expect(bench.send({})).rejects.toMatchObject(unreachable)
    proxy.answerAgain()
    expect((await claimed(bench)).attempt).toBe(1)
  })

  test('a server that is not there is told at once when the queue is opened', async () => {
    proxy.close()
    await expect(openFresh({ url: proxy.url })).rejects.toMatchObject(unreachable)
  })

  test('an idle worker is woken by jobs again after its connections were cut', async () => {
    let wakes = 0
    broken.watch(() => wakes++)
    await bench.lease()
    proxy.cut()
    // As a worker does, it looks now and then.
    for (let sent = false; wakes === 0; sent = true) {
      await bench.lease({ limit: 0 })
      await bench.lease({ queues: ['other'] }).catch(() => {})
      if (!sent) await other.send({ queue: 'other', delayMs: 900 })
    }
  })
})

async function claimed(bench: Bench): Promise<Lease> {
  for (;;) {
    const [lease] = await bench.claim({ amongOthers: true })
    if (lease !== undefined) return lease
  }
}
