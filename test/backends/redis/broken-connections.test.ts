import { Redis } from 'ioredis'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { silentLogger } from '../../../src/core/logger.ts'
import { nextTurn } from '../../../src/core/time/clock.ts'
import { openRedis, type RedisBackend } from '../../../src/engines/redis/index.ts'
import { RedisWaker } from '../../../src/engines/redis/waking.ts'
import { Bench, unlimited, until } from '../../../src/testing/conformance/bench.ts'
import { ManualClock } from '../../../src/testing/manual-clock.ts'
import { freshPrefix, openFresh, rawClient, redisUrl } from '../redis-ground.ts'
import { TcpProxy } from '../sql/tcp-proxy.ts'

describe.skipIf(redisUrl() === null)('a queue in Redis whose connections break', () => {
  const clock = new ManualClock()
  let proxy: TcpProxy
  let broken: RedisBackend
  let sound: RedisBackend
  let bench: Bench
  beforeEach(async () => {
    const prefix = freshPrefix()
    proxy = await TcpProxy.before(redisUrl() ?? '')
    broken = await openFresh({ url: proxy.url, prefix, clock, timeout: '500ms' })
    sound = await openFresh({ prefix, clock })
    bench = new Bench(sound, clock)
    // So that the server knows the scripts: else the answer that is lost would be that it does not.
    await bench.send({ job: 'job' })
    const { leases } = await sound.lease(request)
    await sound.settle(leases.map(({ token }) => ({ token, kind: 'done', result: null, keep: false })))
  })
  afterEach(async () => {
    await broken[Symbol.asyncDispose]()
    await sound[Symbol.asyncDispose]()
    await proxy[Symbol.asyncDispose]()
  })

  const request = { queues: null, jobs: unlimited('job'), limit: 10, leaseMs: 60_000, owner: 'one', maxRescues: 3 }

  test('a dispatch whose answer is lost is stored once, and said to be stored', async () => {
    const lost = proxy.lose('answer', 'EVAL')
    const sending = broken.send([bench.envelope({ job: 'job' })])
    await lost
    expect(await sending).toMatchObject([{ stored: true }])
    expect(await sound.store.list({ limit: 10 })).toHaveLength(1)
  })

  test('jobs of a claim whose answer is lost go back, and no attempt of theirs counts', async () => {
    await bench.send({ job: 'job' })
    const lost = proxy.lose('answer', 'EVAL')
    const claiming = broken.lease(request).catch((thrown: unknown) => thrown)
    await lost
    expect(await claiming).toMatchObject({ code: 'DATABASE_UNREACHABLE' })
    const { leases } = await broken.lease(request)
    expect(leases).toMatchObject([{ attempt: 1 }])
  })

  test('an end whose answer is lost is told as it was the first time', async () => {
    await bench.send({ job: 'job' })
    const { leases } = await broken.lease(request)
    const ends = leases.map(({ token }) => ({ token, kind: 'done', result: '1', keep: true }) as const)
    const lost = proxy.lose('answer', 'EVAL')
    const settling = broken.settle(ends).catch((thrown: unknown) => thrown)
    await lost
    expect(await settling).toMatchObject({ code: 'DATABASE_UNREACHABLE' })
    expect(await broken.settle(ends)).toEqual(['applied'])
    expect(await broken.settle(ends)).toEqual(['lost'])
  })

  test.each(['its own', 'a given'] as const)('a call fails as soon as %s client has lost the connection', async (whose) => {
    const given = new Redis(proxy.url)
    given.on('error', () => {})
    const how = whose === 'its own' ? { url: proxy.url } : { client: given }
    const patient = await openRedis({ ...how, prefix: freshPrefix(), clock, logger: silentLogger, timeout: '1h' })
    const theirs = new Bench(patient, clock)
    try {
      await theirs.send({ job: 'job' })
      const lost = proxy.lose('answer', 'EVAL')
      const claiming = patient.lease(request).catch((thrown: unknown) => thrown)
      await lost
      expect(await claiming).toMatchObject({
        code: 'DATABASE_UNREACHABLE',
        message: expect.stringContaining('ended the connection'),
      })
      expect((await patient.lease(request)).leases).toMatchObject([{ attempt: 1 }])
    } finally {
      await patient[Symbol.asyncDispose]()
      given.disconnect()
    }
  })

  test('a connection that only seems to stand is given up, and the next call has another one', async () => {
    proxy.fallSilent()
    await expect(broken.lease(request)).rejects.toMatchObject({ code: 'DATABASE_UNREACHABLE' })
    proxy.answerAgain()
    await bench.send({ job: 'job' })
    let leases: readonly unknown[] = []
    while (leases.length === 0) {
      await nextTurn()
      leases = await broken.lease(request).then(
        (batch) => batch.leases,
        () => [],
      )
    }
    expect(leases).toHaveLength(1)
  })

  test('who watches is woken again after the connection was lost', async () => {
    let wakes = 0
    const watch = broken.watch(() => {
      wakes++
    })
    await until(() => watch.isPush, 'it listens')
    proxy.cut()
    await until(() => !watch.isPush, 'the loss is noticed')
    await until(() => watch.isPush, 'it listens again')
    const before = wakes
    await bench.send({ job: 'job' })
    await until(() => wakes > before, 'it is woken')
    watch.close()
  })

  test('a listening connection that only seems to stand is replaced, however often', async () => {
    await using client = await rawClient(proxy.url)
    client.on('error', () => {})
    const waker = new RedisWaker(client, `${freshPrefix()}:wake`, { everyMs: 20, answerWithinMs: 200 })
    const watch = waker.watch(() => {})
    for (let times = 0; times < 2; times++) {
      await until(() => watch.isPush, 'it listens')
      proxy.fallSilent()
      await until(() => !watch.isPush, 'the silence is noticed')
      proxy.answerAgain()
    }
    await until(() => watch.isPush, 'it listens again')
    waker.close()
  })
})
