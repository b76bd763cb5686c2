import assert from 'node:assert/strict'
import { byGroup, times, unlimited } from '../bench.ts'
import type { Group } from '../suite.ts'

export const ageing: Group = {
  title: 'priority that increases with waiting time',
  needs: [],
  tests: {
    'a job that has waited long comes before one of a higher priority': async (bench) => {
      const now = bench.clock.now()
      const [old, high, low] = await bench.send(
        { priority: 1, runAt: now - 5_001 },
        { priority: 6, runAt: now },
        { priority: 1, runAt: now - 4_999 },
      )
      assert.deepEqual(await bench.claimedIds({ ageingMs: 1_000 }), [old, high, low])
    },
    'without it priority is strict': async (bench) => {
      const now = bench.clock.now()
      const [old, high] = await bench.send({ priority: 1, runAt: now - 900_000 }, { priority: 2 })
      assert.deepEqual(await bench.claimedIds({ ageingMs: null, limit: 1 }), [high])
      assert.deepEqual(await bench.claimedIds({ limit: 1 }), [old])
    },
    'workers with and without it can take turns': async (bench) => {
      const now = bench.clock.now()
      const ids = await bench.send(...times(8, (index) => ({ priority: index, runAt: now - 10_000 * (8 - index) })))
      const best = (index: number) => [ids[index]]
      assert.deepEqual(await bench.claimedIds({ limit: 1 }), best(7))
      assert.deepEqual(await bench.claimedIds({ limit: 1, ageingMs: 1_000 }), best(0))
      assert.deepEqual(await bench.claimedIds({ limit: 1 }), best(6))
      assert.deepEqual(await bench.claimedIds({ limit: 1, ageingMs: 1_000 }), best(1))
    },
    'across very many lanes the order combines due time and priority': async (bench) => {
      const ageingMs = 50
      const keys = times(60, (index) => `job-${index}`)
      const wanted = times(240, (index) => ({
        job: keys[(index * 31) % 60] as string,
        priority: (index * 7) % 10,
        runAt: bench.clock.now() - ((index * 37) % 401),
      }))
      const ids = await bench.send(...wanted)
      const expected = wanted
        .map((each, index) => ({ ...each, index, rank: each.runAt - each.priority * ageingMs }))
        .sort((a, b) => a.rank - b.rank || a.index - b.index)
        .map(({ index }) => ids[index])
      const claimed: string[] = []
      while (claimed.length < 240) claimed.push(...(await bench.claimedIds({ jobs: unlimited(...keys), limit: 17, ageingMs })))
      assert.deepEqual(claimed, expected)
    },
    'grouped jobs age like others': async (bench) => {
      const now = bench.clock.now()
      const [old, high] = await bench.send(
        { priority: 1, group: 'a', runAt: now - 60_000 },
        { priority: 9, group: 'b', runAt: now },
      )
      assert.deepEqual(await bench.claimedIds({ jobs: byGroup(), ageingMs: 1_000 }), [old, high])
    },
  },
}
