import assert from 'node:assert/strict'
import { type Bench, limited, times, unlimited, type Wanted } from './bench.ts'
import type { Group } from './suite.ts'

/** Backends may expect that a worker which found nothing is woken for what it found before. */
export const idling: Group = {
  title: 'claims of a worker that idled',
  needs: [],
  tests: {
    'the best jobs are claimed first, in their order, and no more than were asked for': async (bench) => {
      await idle(bench, { priority: 1 }, { priority: 9 }, { queue: 'other' })
      const ids = await bench.send({ priority: 1 }, { queue: 'other' }, { priority: 9 }, { priority: 9 })
      assert.deepEqual(await bench.claimedIds({ limit: 3 }), [ids[2], ids[3], ids[1]])
      assert.deepEqual(await bench.claimedIds({ limit: 3 }), [ids[0]])
    },
    'jobs that are like none before them are claimed together with the others': async (bench) => {
      await idle(bench, {})
      const jobs = unlimited('work', 'new')
      const ids = await bench.send({}, { job: 'new', priority: 3 }, { queue: 'new', priority: 1 })
      assert.deepEqual(await bench.claimedIds({ jobs }), ids)
      await bench.assertNothingClaimable({ jobs })
      const [later] = await bench.send({ job: 'new' })
      assert.deepEqual(await bench.claimedIds({ jobs }), [later])
    },
    'only what is asked for is claimed': async (bench) => {
      const wanted = [{ job: 'mine' }, { job: 'foreign' }, { job: 'mine', queue: 'other' }, { job: 'mine', priority: 1 }]
      await idle(bench, ...wanted)
      const [mine, foreign, other, low] = await bench.send(...wanted)
      const jobs = unlimited('mine')
      assert.deepEqual(await bench.claimedIds({ jobs, queues: ['other'] }), [other])
      await bench.assertNothingClaimable({ jobs, queues: ['other'] })
      assert.deepEqual(await bench.claimedIds({ jobs, priority: 1 }), [low])
      await bench.assertNothingClaimable({ jobs, priority: 1 })
      assert.deepEqual(await bench.claimedIds({ jobs }), [mine])
      await bench.assertNothingClaimable({ jobs })
      assert.deepEqual(await bench.claimedIds({ jobs: unlimited('foreign') }), [foreign])
    },
    'delayed jobs that are due and jobs of dead workers are claimed with those that are ready': async (bench) => {
      await idle(bench, {})
      const [late] = await bench.send({ delayMs: 1_000 })
      const [lost] = await bench.send({})
      await bench.claimOne({ leaseMs: 500, owner: 'worker-2' })
      await bench.assertNothingClaimable()
      await bench.clock.advance(1_000)
      const [ready] = await bench.send({})
      assert.deepEqual([...(await bench.claimedIds())].sort(), [late, lost, ready].sort())
    },
    'limits hold': async (bench) => {
      const jobs = [...limited('narrow', 1), ...unlimited('work')]
      await idle(bench, { job: 'narrow' }, {})
      await bench.assertNothingClaimable({ jobs })
      const ids = await bench.send({ job: 'narrow' }, { job: 'narrow' }, {})
      assert.deepEqual(await bench.claimedIds({ jobs }), [ids[0], ids[2]])
      await bench.assertNothingClaimable({ jobs })
    },
    'owners that idled never get the same job': async (bench) => {
      await idle(bench, {})
      const ids = await bench.send(...times(100, () => ({})))
      const claims = await Promise.all(times(10, (index) => bench.claimedIds({ owner: `worker-${index}`, limit: 20 })))
      assert.equal(claims.flat().length, 100)
      assert.deepEqual([...claims.flat()].sort(), [...ids].sort())
    },
    'the next claim is due when the first of the leases ends': async (bench) => {
      await idle(bench, {})
      await bench.send({})
      assert.equal((await bench.lease({ leaseMs: 7_000 })).nextAt, bench.clock.now() + 7_000)
    },
  },
}

/** Jobs like these were there and were done; now there are none. */
async function idle(bench: Bench, ...wanted: readonly Wanted[]): Promise<void> {
  await bench.send(...wanted)
  const jobs = unlimited('work', ...wanted.flatMap(({ job }) => job ?? []))
  for (const lease of await bench.claim({ jobs })) await bench.settle(bench.done(lease))
  await bench.assertNothingClaimable({ jobs })
}
