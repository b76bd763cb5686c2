import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { RedisBackend } from '../../../src/engines/redis/index.ts'
import { Bench } from '../../../src/testing/conformance/bench.ts'
import { sendWaiting } from '../../../src/testing/conformance/workflows/links.ts'
import { ManualClock } from '../../../src/testing/manual-clock.ts'
import { freshPrefix, openFresh, rawClient, redisUrl } from '../redis-ground.ts'

describe.skipIf(redisUrl() === null)('in Redis, a job that waits in vain is found and set right', () => {
  let backend: RedisBackend
  let bench: Bench
  let raw: Awaited<ReturnType<typeof rawClient>>
  let keys: string
  beforeEach(async () => {
    const [clock, prefix] = [new ManualClock(), freshPrefix()]
    backend = await openFresh({ clock, prefix })
    bench = new Bench(backend, clock)
    raw = await rawClient()
    keys = `{${prefix}}:`
  })
  afterEach(async () => {
    await backend[Symbol.asyncDispose]()
    raw.disconnect()
  })

  const states = async (...ids: readonly string[]) => Promise.all(ids.map(async (id) => (await bench.record(id)).state))
  const sweep = (limit = 10) => bench.store.sweep({ part: 'waits', limit })
  const countAs = async (id: string, pending: unknown) => {
    const place = JSON.parse((await raw.hget(`${keys}p`, id)) ?? '') as unknown[]
    await raw.hset(`${keys}p`, id, JSON.stringify([...place.slice(0, 4), pending, ...place.slice(5)]))
  }

  test('when the job that it waits for has ended and nobody told it', async () => {
    const first = await bench.sendOne()
    const second = await sendWaiting(bench, [first])
    await raw.del(`${keys}et:${first}`)
    await bench.settle(bench.done(await bench.claimOne(), { result: '7', keep: true }))
    expect(await states(second)).toEqual(['blocked'])
    expect(await sweep()).toEqual({ looked: 1, changed: 1 })
    expect(await states(second)).toEqual(['ready'])
    expect((await bench.store.links(second))[0]).toMatchObject({ state: 'succeeded', result: '7', waiting: false })
    expect((await bench.claimOne()).envelope.id).toBe(second)
  })

  test('when the job that it waits for is gone, with what follows from that', async () => {
    const first = await bench.sendOne()
    const [second, rescuer] = [await sendWaiting(bench, [first]), await sendWaiting(bench, [first], 'rescue')]
    const third = await sendWaiting(bench, [second], 'ignore')
    await raw.hdel(`${keys}h`, first)
    expect(await sweep()).toMatchObject({ changed: 2 })
    expect(await states(second, third, rescuer)).toEqual(['dead', 'ready', 'ready'])
  })

  test.each([5, 0, -3, 'abc'])('when its counter is %j', async (pending) => {
    const first = await bench.sendOne()
    const second = await sendWaiting(bench, [first])
    await countAs(second, pending)
    expect(await sweep()).toEqual({ looked: 1, changed: 1 })
    expect(await states(second)).toEqual(['blocked'])
    await bench.settle(bench.done(await bench.claimOne(), { keep: true }))
    expect(await states(second)).toEqual(['ready'])
  })

  test('a part at a time, going on where the last look ended', async () => {
    const first = await bench.sendOne()
    for (let count = 0; count < 5; count++) await sendWaiting(bench, [first])
    expect(await sweep(2)).toEqual({ looked: 2, changed: 0 })
    await raw.hdel(`${keys}h`, first)
    expect(await sweep(2)).toEqual({ looked: 2, changed: 2 })
    expect(await sweep(2)).toEqual({ looked: 1, changed: 1 })
    expect(await sweep(2)).toEqual({ looked: 2, changed: 2 })
    expect(await sweep(2)).toEqual({ looked: 0, changed: 0 })
  })
})
