import assert from 'node:assert/strict'
import type { Lease } from '../../../queue/contract/contract.ts'
import { type Bench, times, unlimited } from '../bench.ts'
import type { Group } from '../suite.ts'

export const claiming: Group = {
  title: 'claiming',
  needs: [],
  tests: {
    'a worker claims only job keys that it knows (J30)': async (bench) => {
      const [mine, foreign] = await bench.send({ job: 'mine', priority: 1 }, { job: 'foreign', priority: 9 })
      assert.deepEqual(await bench.claimedIds({ jobs: unlimited('mine', 'unheard-of') }), [mine])
      assert.deepEqual(await bench.claimedIds({ jobs: unlimited('foreign') }), [foreign])
    },
    'a worker that knows no job claims none': async (bench) => {
      await bench.send({})
      await bench.assertNothingClaimable({ jobs: [] })
    },
    'only the given queues are claimed from': async (bench) => {
      const [one, two, three] = await bench.send({ queue: 'one' }, { queue: 'two' }, { queue: 'three' })
      await bench.assertNothingClaimable({ queues: [] })
      await bench.assertNothingClaimable({ queues: ['four'] })
      assert.deepEqual(await bench.claimedIds({ queues: ['three', 'one'] }), [one, three])
      assert.deepEqual(await bench.claimedIds({ queues: null }), [two])
    },
    'only the given priority is claimed, whatever else waits': async (bench) => {
      const [low, high, normal] = await bench.send({ priority: 1 }, { priority: 20 }, { priority: 5 })
      await bench.assertNothingClaimable({ priority: 10 })
      assert.deepEqual(await bench.claimedIds({ priority: 5 }), [normal])
      assert.deepEqual(await bench.claimedIds({ priority: null }), [high, low])
    },
    'a claim takes at most as many as it asks for': async (bench) => {
      const ids = await bench.send({}, {}, {})
      assert.deepEqual(await bench.claimedIds({ limit: 0 }), [])
      assert.deepEqual(await bench.claimedIds({ limit: 1 }), ids.slice(0, 1))
      assert.deepEqual(await bench.claimedIds({ limit: 2 }), ids.slice(1))
    },
    'a claimed job belongs to one owner': async (bench) => {
      await bench.send({})
      await bench.claimOne({ owner: 'worker-1' })
      await bench.assertNothingClaimable({ owner: 'worker-2' })
      await bench.assertNothingClaimable({ owner: 'worker-1' })
    },
    'owners that claim at the same time never get the same job': async (bench) => {
      const ids = await bench.send(...times(200, () => ({})))
      const claims = await Promise.all(times(20, (index) => claimAll(bench, `worker-${index}`, 15)))
      const claimed = claims.flat().map(({ envelope }) => envelope.id)
      assert.equal(claimed.length, 200)
      assert.deepEqual([...claimed].sort(), [...ids].sort())
    },
    'each claim has a token of its own': async (bench) => {
      await bench.send(...times(50, () => ({})))
      const leases = await bench.claim()
      assert.equal(new Set(leases.map(({ token }) => token)).size, 50)
    },
    'a lease ends exactly when it was asked to': async (bench) => {
      await bench.send({})
      const lease = await bench.claimOne({ leaseMs: 12_345 })
      assert.equal(lease.expiresAt, bench.clock.now() + 12_345)
    },
    'lanes of different queues, keys and priorities are merged in the right order': async (bench) => {
      const wanted = times(120, (index) => ({
        job: `job-${index % 3}`,
        queue: `queue-${index % 4}`,
        priority: (index * 7) % 5,
        runAt: bench.clock.now() - ((index * 13) % 17),
      }))
      const ids = await bench.send(...wanted)
      const expected = wanted
        .map((each, index) => ({ ...each, index }))
        .sort((a, b) => b.priority - a.priority || a.runAt - b.runAt || a.index - b.index)
        .map(({ index }) => ids[index])
      const claimed: string[] = []
      const request = { jobs: unlimited('job-0', 'job-1', 'job-2'), limit: 7 }
      while (claimed.length < 120) claimed.push(...(await bench.claimedIds(request)))
      assert.deepEqual(claimed, expected)
    },
    'with very many lanes, deep and shallow, the best jobs are claimed in order': async (bench) => {
      const keys = times(90, (index) => `job-${index}`)
      // Every third job has the same key, so that one lane keeps winning between the others.
      const wanted = times(360, (index) => ({
        job: keys[index % 3 === 0 ? 0 : (index * 31) % 90] as string,
        queue: `queue-${(index * 5) % 2}`,
        priority: index % 10 === 0 ? 9 : 5,
        runAt: bench.clock.now() - ((index * 37) % 101),
      }))
      const ids = await bench.send(...wanted)
      const expected = wanted
        .map((each, index) => ({ ...each, index }))
        .sort((a, b) => b.priority - a.priority || a.runAt - b.runAt || a.index - b.index)
        .map(({ index }) => ids[index])
      const claimed: string[] = []
      for (let limit = 1; claimed.length < 360; limit = (limit * 3) % 64) {
        claimed.push(...(await bench.claimedIds({ jobs: unlimited(...keys), limit })))
      }
      assert.deepEqual(claimed, expected)
    },
  },
}

/** Claims again as long as there may be more at once: an owner that others overtook gets fewer than it asked for. */
async function claimAll(bench: Bench, owner: string, limit: number): Promise<readonly Lease[]> {
  const found: Lease[] = []
  while (found.length < limit) {
    const { leases, nextAt } = await bench.lease({ owner, limit: limit - found.length })
    found.push(...leases)
    if (nextAt === null || nextAt > bench.clock.now()) break
  }
  return found
}
