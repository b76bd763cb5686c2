import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { RedisBackend } from '../../../src/engines/redis/index.ts'
import { Bench } from '../../../src/testing/conformance/bench.ts'
import { ManualClock } from '../../../src/testing/manual-clock.ts'
import { freshPrefix, openFresh, rawClient, redisUrl } from '../redis-ground.ts'

describe.skipIf(redisUrl() === null)('the memory of a queue in Redis', () => {
  const jobCount = 1_000
  const prefix = freshPrefix()
  const clock = new ManualClock()
  let client: Awaited<ReturnType<typeof rawClient>>
  let backend: RedisBackend
  let bench: Bench
  beforeEach(async () => {
    client = await rawClient()
    const keys = await keysOfQueue()
    if (keys.length > 0) await client.del(keys)
    backend = await openFresh({ clock, prefix })
    bench = new Bench(backend, clock)
  })
  afterEach(async () => {
    await backend[Symbol.asyncDispose]()
    client.disconnect()
  })

  const keysOfQueue = () => client.keys(`{${prefix}}:*`)

  /** Of all keys of the queue, as the server accounts for it. */
  async function bytes(): Promise<number> {
    const pipeline = client.pipeline()
    for (const key of await keysOfQueue()) pipeline.call('MEMORY', 'USAGE', key, 'SAMPLES', '0')
    const answers = (await pipeline.exec()) ?? []
    return answers.reduce((sum, [, size]) => sum + Number(size ?? 0), 0)
  }

  const fill = async (payload: string) => {
    for (let sent = 0; sent < jobCount; sent += 500) await bench.send(...Array.from({ length: 500 }, () => ({ payload })))
  }

  async function bytesPerJob(payload: string): Promise<number> {
    const before = await bytes()
    await fill(payload)
    return ((await bytes()) - before) / jobCount
  }

  test('a waiting job takes a bounded amount beside its payload, which is stored once', async () => {
    const small = await bytesPerJob(JSON.stringify('x'.repeat(50)))
    const large = await bytesPerJob(JSON.stringify('x'.repeat(5_050)))
    // docs/redis.md names about 900; a server may use another allocator.
    expect(small).toBeLessThan(1_350)
    // A second copy would cost 10,000 bytes more. Allocators round up.
    expect(large - small).toBeLessThan(1.5 * 5_000)
  })

  test('a finished job takes no more than a waiting one, and nothing once its retention has passed', async () => {
    const before = { bytes: await bytes(), keys: (await keysOfQueue()).length }
    await fill('{"n":1}')
    const waiting = (await bytes()) - before.bytes
    for (let done = 0; done < jobCount; ) {
      const leases = await bench.claim({ limit: 500 })
      await bench.settle(...leases.map(({ token }) => ({ token, kind: 'done', result: null, keep: true }) as const))
      done += leases.length
    }
    expect((await bytes()) - before.bytes).toBeLessThan(1.5 * waiting)
    await clock.advance(1)
    while ((await bench.store.remove({ state: 'succeeded', finishedBefore: clock.now(), limit: 500 })) > 0);
    expect((await bytes()) - before.bytes).toBeLessThan(0.02 * waiting)
    // Counters and the like are there whether there are jobs or not.
    expect((await keysOfQueue()).length - before.keys).toBeLessThan(20)
  })
})
