import { describe, expect, test } from 'vitest'
import { Bench } from '../../../src/testing/conformance/bench.ts'
import { ManualClock } from '../../../src/testing/manual-clock.ts'
import { freshPrefix, openFresh, rawClient, redisUrl } from '../redis-ground.ts'

describe.skipIf(redisUrl() === null)('a queue in Redis', () => {
  test('that an earlier build has filled loses the lists that nobody needs any more, and keeps its jobs', async () => {
    const prefix = freshPrefix()
    const clock = new ManualClock()
    await using raw = await rawClient()
    const sent = await filledBefore(prefix, clock, raw)
    await using backend = await openFresh({ prefix, clock })
    expect(await raw.keys(`{${prefix}}:own:*`)).toEqual([])
    expect(await raw.exists(`{${prefix}}:all:running`)).toBe(0)
    const bench = new Bench(backend, clock)
    expect((await bench.store.list({ state: 'running', limit: 9 })).map(({ id }) => id)).toEqual([sent[0]])
    expect((await bench.store.list({ limit: 9 })).map(({ id }) => id)).toEqual([...sent].reverse())
    expect((await bench.store.leases({ owners: ['worker-1'] })).map(({ job }) => job)).toHaveLength(1)
    expect(await backend.reap(3, ['worker-1'])).toMatchObject({ returned: 1 })
    expect([...(await bench.claimedIds())].sort()).toEqual([...sent].sort())
  })

  test('lists the jobs that run from the newest on, page by page', async () => {
    const clock = new ManualClock()
    await using backend = await openFresh({ clock })
    const bench = new Bench(backend, clock)
    const sent = await bench.send({}, {}, {}, {}, {})
    await bench.claim({ limit: 4 })
    const page = (before?: string) => bench.store.list({ state: 'running', limit: 3, ...(before !== undefined && { before }) })
    const first = (await page()).map(({ id }) => id)
    expect([...first, ...(await page(first.at(-1))).map(({ id }) => id)]).toEqual(sent.slice(0, 4).reverse())
  })
})

/** What a build wrote that kept a list of the jobs that run, and one for each owner. */
async function filledBefore(prefix: string, clock: ManualClock, raw: Awaited<ReturnType<typeof rawClient>>) {
  await using backend = await openFresh({ prefix, clock })
  const bench = new Bench(backend, clock)
  const sent = await bench.send({}, {}, {})
  const lease = await bench.claimOne({ limit: 1 })
  const [list, own] = [`{${prefix}}:all:running`, `{${prefix}}:own:worker-1`]
  await raw.zadd(list, 0, lease.envelope.id)
  await raw.zadd(own, clock.now(), lease.envelope.id)
  await raw.hset(`{${prefix}}:meta`, 'listed', 1)
  return sent
}
