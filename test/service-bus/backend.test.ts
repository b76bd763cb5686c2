import { describe, expect, it } from 'vitest'
import { systemClock } from '../../src/core/time/clock.ts'
import { openServiceBus } from '../../src/engines/service-bus/index.ts'
import { treadle } from '../../src/index.ts'
import { Bench, times, unlimited, until } from '../../src/testing/conformance/bench.ts'
import { ManualClock } from '../../src/testing/manual-clock.ts'
import type { BrokerOptions } from './broker/broker.ts'
import { conditions } from './broker/wire.ts'
import { ServiceBusGround } from './ground.ts'

async function started(options: Omit<BrokerOptions, 'clock'> = {}) {
  const clock = new ManualClock()
  const ground = await ServiceBusGround.start(clock, options)
  return { ground, clock, [Symbol.asyncDispose]: () => ground[Symbol.asyncDispose]() }
}

describe('dead jobs', () => {
  it('are in the dead-letter queue with their reason and all errors, and can be replayed with all their attempts', async () => {
    await using test = await started()
    const backend = await test.ground.open()
    const bench = new Bench(backend, test.clock)
    const id = await bench.sendOne()
    await bench.settle(bench.retry(await bench.claimOne()))
    await bench.settle(bench.dead(await bench.claimOne()))
    const [dead] = await backend.deadLetters.list()
    expect(dead).toMatchObject({ id, job: 'work', queue: 'default', reason: 'exhausted', description: 'it broke', attempts: 1 })
    expect(dead?.errors.map(({ attempt }) => attempt)).toEqual([1, 2])
    expect(await backend.deadLetters.replay({ ids: ['another'] })).toBe(0)
    expect(await backend.deadLetters.replay({ ids: [id] })).toBe(1)
    expect(await backend.deadLetters.list()).toEqual([])
    const lease = await bench.claimOne()
    expect([lease.envelope.id, lease.attempt]).toEqual([id, 1])
    await bench.settle(bench.dead(lease))
    expect((await backend.deadLetters.list())[0]?.errors.length).toBe(3)
    expect(await backend.deadLetters.remove()).toBe(1)
  })

  it('what is not a job is rejected, and disturbs no other', async () => {
    await using test = await started()
    const backend = await test.ground.open()
    const bench = new Bench(backend, test.clock)
    const sender = test.ground.impatientClient().createSender('default')
    await sender.sendMessages([
      { body: Buffer.from('{"v":1'), messageId: 'broken' },
      { body: { not: 'a job' }, messageId: 'foreign' },
    ])
    const id = await bench.sendOne()
    expect(await bench.claimedIds()).toEqual([id])
    const dead = await backend.deadLetters.list()
    expect(dead.map((each) => [each.id, each.reason])).toEqual([
      ['broken', 'rejected'],
      ['foreign', 'rejected'],
    ])
    expect(await backend.deadLetters.replay()).toBe(0)
  })

  it('a job that had begun for good and whose program is gone is dead as interrupted, wherever it is found', async () => {
    await using test = await started()
    const bench = new Bench(await test.ground.open(), test.clock)
    await bench.send({})
    await bench.backend.begin([(await bench.claimOne({ leaseMs: 1_000, owner: 'worker-9' })).token])
    await test.clock.advance(1_000)
    const other = await test.ground.open()
    await new Bench(other, test.clock).assertNothingClaimable()
    const [dead] = await other.deadLetters.list()
    expect([dead?.reason, dead?.description]).toEqual(['interrupted', expect.stringContaining('worker-9 died or hung')])
  })
})

describe('jobs that nobody here knows', () => {
  it('go back with a delay that grows, and use up no delivery', async () => {
    await using test = await started()
    const bench = new Bench(await test.ground.open(), test.clock)
    const entity = test.ground.broker.entity('default')
    await bench.send({ job: 'foreign' })
    const scheduled = () => entity.peek(0, 10).find(({ state }) => state === 'scheduled')
    for (const delayMs of [5_000, 10_000, 20_000]) {
      await bench.assertNothingClaimable()
      await test.clock.advance(1_000)
      await until(() => scheduled() !== undefined && entity.size === 1, 'the job was put back')
      expect([scheduled()?.dueAt, scheduled()?.deliveryCount]).toEqual([test.clock.now() + delayMs, 0])
      await bench.assertNothingClaimable({ jobs: unlimited('foreign') })
      await test.clock.advance(delayMs)
    }
    expect((await bench.claimOne({ jobs: unlimited('foreign') })).attempt).toBe(1)
  })
})

describe('names and levels', () => {
  it('a queue is an entity whose name begins with the prefix, and odd names are told apart', async () => {
    await using test = await started()
    const bench = new Bench(await test.ground.open({ prefix: 'app-' }), test.clock)
    await bench.send({ queue: 'mail' }, { queue: 'a/b' }, { queue: 'a:b' })
    expect(test.ground.broker.entity('app-mail').size).toBe(1)
    expect((await bench.claim({ queues: ['a/b'] })).length).toBe(1)
    expect((await bench.claim({ queues: ['a:b'] })).length).toBe(1)
  })

  it('jobs of a higher level are claimed first', async () => {
    await using test = await started()
    const bench = new Bench(await test.ground.open({ levels: [10] }), test.clock)
    const ids = await bench.send(...times(5, () => ({ priority: 5 })), { priority: 10 }, { priority: 12 })
    expect([...(await bench.claimedIds({ limit: 2 }))].sort()).toEqual(ids.slice(5))
    expect(test.ground.broker.entity('default.p10').peek(0, 9).length).toBe(2)
    expect(await bench.claimedIds({ limit: 5 })).toEqual(ids.slice(0, 5))
  })

  it('with duplicate detection an envelope that is sent again is stored once', async () => {
    await using test = await started({ settings: { duplicateWindowMs: 600_000 } })
    const bench = new Bench(await test.ground.open(), test.clock)
    const envelope = bench.envelope()
    await bench.backend.send([envelope])
    await bench.backend.send([envelope])
    await bench.settle(bench.retry(await bench.claimOne(), 1_000))
    await test.clock.advance(1_000)
    expect((await bench.claimOne()).attempt).toBe(2)
  })
})

describe('what goes wrong is told with what to do', () => {
  it('a wrong key, a missing entity, and a broker that is not there, when the queue is opened', async () => {
    await using test = await started({ entities: { default: {} } })
    const { ground } = test
    const wrong = ground.impatientClient(ground.broker.connectionString({ name: 'root', key: 'wrong' }))
    await expect(openServiceBus({ client: wrong })).rejects.toMatchObject({
      code: 'DATABASE_DENIED',
      message: expect.stringMatching(/Send and Listen/),
    })
    await expect(ground.open({ client: ground.impatientClient(), queues: ['mail'] })).rejects.toMatchObject({
      code: 'DATABASE_NOT_FOUND',
      message: expect.stringMatching(/no queue "mail".*az servicebus queue create/),
    })
    await ground.broker.stop()
    await expect(openServiceBus({ client: ground.impatientClient() })).rejects.toMatchObject({ code: 'DATABASE_UNREACHABLE' })
  })

  it('a key that may only send cannot work', async () => {
    const keys = [{ name: 'sender', key: 'c2VjcmV0', rights: ['Send'] }] as const
    await using test = await started({ keys })
    const bench = new Bench(
      await test.ground.open({ client: test.ground.impatientClient(test.ground.broker.connectionString(keys[0])) }),
      test.clock,
    )
    await bench.send({})
    await expect(bench.claim()).rejects.toMatchObject({ code: 'DATABASE_DENIED' })
  })

  it('a job that is too large, a busy server and a full queue', async () => {
    await using test = await started({ maxMessageBytes: 262_144 })
    const bench = new Bench(await test.ground.open({ client: test.ground.impatientClient() }), test.clock)
    for (const delayMs of [0, 1_000]) {
      const large = bench.envelope({ payload: JSON.stringify('x'.repeat(300_000)), delayMs })
      await expect(bench.backend.send([large])).rejects.toMatchObject({
        code: 'PAYLOAD_TOO_LARGE',
        message: expect.stringMatching(/262144 bytes/),
      })
    }
    test.ground.broker.refuseSends(2, conditions.busy)
    await expect(bench.send({})).rejects.toMatchObject({ code: 'DATABASE_BUSY' })
    test.ground.broker.refuseSends(1, conditions.full)
    await expect(bench.send({})).rejects.toMatchObject({ code: 'DATABASE_UNWRITABLE' })
    await bench.send(...times(200, () => ({ payload: JSON.stringify('x'.repeat(5_000)) })))
    expect((await bench.claim({ limit: 300 })).length).toBe(200)
  })

  it('what no broker can keep is refused when it is asked for', async () => {
    await using test = await started()
    const bench = new Bench(await test.ground.open(), test.clock)
    for (const wanted of [{ uniqueKey: 'k' }, { singleInstance: true }]) {
      await expect(bench.send(wanted)).rejects.toMatchObject({ code: 'CAPABILITY_MISSING' })
    }
    await expect(bench.claim({ jobs: [{ job: 'work', concurrency: 1 }] })).rejects.toMatchObject({ code: 'CAPABILITY_MISSING' })
    await expect(openServiceBus({ url: 'servicebus:nothing' })).rejects.toMatchObject({ code: 'CONFIG_INVALID' })
  })
})

describe('a program', () => {
  it('sends, retries and works by a URL, and leaves no connection open', async () => {
    await using ground = await ServiceBusGround.start(systemClock)
    const [, name, key] = /SharedAccessKeyName=(.*);SharedAccessKey=(.*?);/.exec(ground.broker.connectionString()) ?? []
    const host = /sb:\/\/(.*?);/.exec(ground.broker.connectionString())?.[1]
    const jobs = treadle(`servicebus://${name}:${key}@${host}/?emulator=true`, { signingKey: 'k'.repeat(32) })
    const seen: number[] = []
    const work = jobs
      .define('work', (payload: { n: number }) => {
        seen.push(payload.n)
        if (seen.length === 1) throw new Error('the first time')
      })
      .retries(2)
    await Promise.all(times(10, (n) => work.dispatch({ n })))
    const stop = new AbortController()
    const working = jobs.work({ concurrency: 5, signal: stop.signal })
    await until(() => seen.length === 11, 'all jobs were done')
    stop.abort()
    await working
    await jobs.close()
    await until(() => ground.broker.connections === 0, 'the connection was closed')
    expect([...new Set(seen)].sort((a, b) => a - b)).toEqual(times(10, (n) => n))
  })
})
