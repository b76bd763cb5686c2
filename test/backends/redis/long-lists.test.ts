import { describe, expect, test } from 'vitest'
import { Bench } from '../../../src/testing/conformance/bench.ts'
import { ManualClock } from '../../../src/testing/manual-clock.ts'
import { freshPrefix, openFresh, rawClient, readFields, redisUrl } from '../redis-ground.ts'

/** More than one command of a script takes. */
const many = 9_000

describe.skipIf(redisUrl() === null)('a list that is longer than what a script writes at once', () => {
  test('is stored, claimed and ended as a whole, and a job that is in it twice is stored once', async () => {
    const clock = new ManualClock()
    await using backend = await openFresh({ clock })
    const bench = new Bench(backend, clock)
    const envelopes = Array.from({ length: many }, () => bench.envelope())
    const [first] = envelopes as [(typeof envelopes)[number]]
    const receipts = await backend.send([...envelopes, first])
    expect(receipts.filter(({ stored }) => stored)).toHaveLength(many)
    expect(receipts.at(-1)).toEqual({ id: first.id, stored: false })

    const leases = await bench.claim({ limit: many + 1 })
    expect(leases.map(({ envelope }) => envelope.id)).toEqual(envelopes.map(({ id }) => id))
    const ends = leases.map(({ token }, index) => ({ token, kind: 'done', result: null, keep: index % 2 === 0 }) as const)
    expect(new Set(await backend.settle(ends))).toEqual(new Set(['applied']))
    const [counted] = await bench.store.counts()
    expect(counted?.counts).toMatchObject({ ready: 0, running: 0, succeeded: many / 2 })
  })

  test('is read from its newest jobs on, and no further than the caller asks', async () => {
    const clock = new ManualClock()
    const prefix = freshPrefix()
    await using backend = await openFresh({ clock, prefix })
    await using client = await rawClient()
    const bench = new Bench(backend, clock)
    const envelopes = Array.from({ length: 1_000 }, () => bench.envelope())
    await backend.send(envelopes)
    const ids: string[] = []
    const list = (limit: number) => async () => {
      const found = await backend.store.list({ limit })
      ids.push(...found.map(({ id }) => id))
    }
    expect(await readFields(client, `{${prefix}}:`, list(1))).toBeLessThan(100)
    expect(ids).toEqual([envelopes.at(-1)?.id])
    ids.length = 0
    await list(1_000)()
    expect(ids).toEqual(envelopes.map(({ id }) => id).toReversed())
  })
})
