import assert from 'node:assert/strict'
import type { LeaseBatch } from '../../../queue/contract/contract.ts'
import { type Bench, limited, times, unlimited, type Wanted } from '../bench.ts'
import type { Group } from '../suite.ts'

/** Far more than any test needs. */
const mostBatches = 100

/** Backends may rely on an idle worker being woken for new jobs like those it has claimed before. */
export const idling: Group = {
  title: 'claims of an idle worker that is woken',
  needs: [],
  tests: {
    'the best jobs are claimed in order, and no more than requested': async (bench) => {
      await idle(bench, { priority: 1 }, { priority: 9 }, { queue: 'other' })
      const ids = await bench.send({ priority: 1 }, { queue: 'other' }, { priority: 9 }, { priority: 9 })
      assert.deepEqual(await bench.claimedIds({ limit: 3 }), [ids[2], ids[3], ids[1]])
      assert.deepEqual(await claimedAtOnce(bench, { limit: 3 }), [ids[0]])
    },
    'jobs of new lanes are claimed together with the others': async (bench) => {
      await idle(bench, {})
      const jobs = unlimited('work', 'new')
      const ids = await bench.send({}, { job: 'new', priority: 3 }, { queue: 'new', priority: 1 })
      assert.deepEqual(await claimedAtOnce(bench, { jobs }), ids)
      await bench.assertNothingClaimable({ jobs })
      const [later] = await bench.send({ job: 'new' })
      assert.deepEqual(await claimedAtOnce(bench, { jobs }), [later])
    },
    'only what was requested is claimed': async (bench) => {
      const wanted = [{ job: 'mine' }, { job: 'foreign' }, { job: 'mine', queue: 'other' }, { job: 'mine', priority: 1 }]
      await idle(bench, ...wanted)
      const [mine, foreign, other, low] = await bench.send(...wanted)
      const jobs = unlimited('mine')
      assert.deepEqual(await claimedAtOnce(bench, { jobs, queues: ['other'] }), [other])
      await bench.assertNothingClaimable({ jobs, queues: ['other'] })
      assert.deepEqual(await claimedAtOnce(bench, { jobs, priority: 1 }), [low])
      await bench.assertNothingClaimable({ jobs, priority: 1 })
      assert.deepEqual(await claimedAtOnce(bench, { jobs }), [mine])
      await bench.assertNothingClaimable({ jobs })
      assert.deepEqual(await claimedAtOnce(bench, { jobs: unlimited('foreign') }), [foreign])
    },
    'delayed jobs that are due and jobs of dead workers are claimed with those that are ready': async (bench) => {
      await idle(bench, {})
      const [late] = await bench.send({ delayMs: 1_000 })
      const [lost] = await bench.send({})
      await bench.claimOne({ leaseMs: 500, owner: 'worker-2' })
      await bench.assertNothingClaimable()
      await bench.clock.advance(1_000)
      const [ready] = await bench.send({})
      assert.deepEqual([...(await claimedAtOnce(bench))].sort(), [late, lost, ready].sort())
    },
    'jobs of dead workers are taken from them before others are claimed': async (bench) => {
      await idle(bench, {})
      await bench.send({})
      const dead = await bench.claimOne({ leaseMs: 500, owner: 'worker-2' })
      await bench.assertNothingClaimable()
      await bench.send({})
      await bench.clock.advance(500)
      await bench.lease({ limit: 1 })
      assert.deepEqual(await bench.backend.settle([bench.done(dead)]), ['lost'])
    },
    'limits hold': async (bench) => {
      const jobs = [...limited('narrow', 1), ...unlimited('work')]
      await idle(bench, { job: 'narrow' }, {})
      await bench.assertNothingClaimable({ jobs })
      const ids = await bench.send({ job: 'narrow' }, { job: 'narrow' }, {})
      assert.deepEqual(await claimedAtOnce(bench, { jobs }), [ids[0], ids[2]])
      await bench.assertNothingClaimable({ jobs })
    },
    'idle owners never get the same job': async (bench) => {
      await idle(bench, {})
      const ids = await bench.send(...times(100, () => ({})))
      const claims = await Promise.all(times(10, (index) => claimedAtOnce(bench, { owner: `worker-${index}`, limit: 20 })))
      assert.equal(claims.flat().length, 100)
      assert.deepEqual([...claims.flat()].sort(), [...ids].sort())
    },
    'the next claim is due when the first lease ends': async (bench) => {
      await idle(bench, {})
      await bench.send({})
      const batches = await batchesAtOnce(bench, { leaseMs: 7_000 })
      assert.equal(batches.at(-1)?.nextAt, bench.clock.now() + 7_000)
    },
  },
}

export const idlingOfStoredJobs: Group = {
  title: 'claims of an idle worker while jobs change',
  needs: ['store'],
  tests: {
    'no jobs are claimed from a queue that was paused in the meantime': async (bench) => {
      await idle(bench, {}, { queue: 'other' })
      await bench.store.setPaused({ queue: 'other' }, true)
      const [open] = await bench.send({}, { queue: 'other' })
      assert.deepEqual(await claimedAtOnce(bench), [open])
    },
    'cancellations are reported': async (bench) => {
      await idle(bench, {})
      await bench.send({})
      const { token, envelope } = await bench.claimOne()
      await bench.assertNothingClaimable()
      await bench.store.cancel(envelope.id)
      await bench.send({})
      const batches = await batchesAtOnce(bench, {})
      assert.deepEqual([...new Set(batches.flatMap(({ cancelled }) => cancelled))], [token])
    },
  },
}

/** What a worker gets if it keeps claiming for as long as there may be more. */
async function claimedAtOnce(bench: Bench, request: Parameters<Bench['lease']>[0] = {}): Promise<readonly string[]> {
  const batches = await batchesAtOnce(bench, request)
  return batches.flatMap(({ leases }) => leases.map(({ envelope }) => envelope.id))
}

async function batchesAtOnce(bench: Bench, request: Parameters<Bench['lease']>[0]): Promise<readonly LeaseBatch[]> {
  const batches = [await bench.lease(request)]
  for (let batch = batches[0]; batch?.nextAt != null && batch.nextAt <= bench.clock.now(); ) {
    batch = await bench.lease(request)
    batches.push(batch)
    if (batches.length > mostBatches) throw new Error('There seems to be more and more to claim')
  }
  return batches
}

/** Sends jobs like these and completes them, so that there are none left and a worker waits for more. */
async function idle(bench: Bench, ...wanted: readonly Wanted[]): Promise<void> {
  bench.backend.watch(() => {})
  await bench.send(...wanted)
  const jobs = unlimited('work', ...wanted.flatMap(({ job }) => job ?? []))
  for (const lease of await bench.claim({ jobs })) await bench.settle(bench.done(lease))
  await bench.assertNothingClaimable({ jobs })
}
