import assert from 'node:assert/strict'
import type { Lease, LeaseRequest } from '../../../queue/contract/contract.ts'
import { type Bench, byGroup, times, unlimited } from '../bench.ts'
import { oddText } from '../claiming/sending.ts'
import type { Group } from '../suite.ts'

/** The groups of the claimed jobs, in order. */
export async function claimedGroups(bench: Bench, request: Partial<LeaseRequest>): Promise<readonly (string | null)[]> {
  return (await bench.claim(request)).map(({ envelope }) => envelope.group)
}

export const groupLimits: Group = {
  title: 'limits of groups',
  needs: [],
  tests: {
    'a job is claimed with its group, or without one': async (bench) => {
      await bench.send({ group: oddText }, {}, { group: 'a' })
      assert.deepEqual(await claimedGroups(bench, {}), [oddText, null, 'a'])
    },
    'no more jobs of a group than its limit run at the same time, across all owners': async (bench) => {
      await bench.send(...times(5, () => ({ group: 'a' })), { group: 'b' })
      const jobs = byGroup({ concurrency: 2 })
      assert.deepEqual(await claimedGroups(bench, { jobs, limit: 2 }), ['a', 'b'])
      assert.deepEqual(await claimedGroups(bench, { jobs, owner: 'worker-2' }), ['a'])
      await bench.assertNothingClaimable({ jobs, owner: 'worker-3' })
    },
    'a group over its limit uses no attempt and continues when one of its jobs ends': async (bench) => {
      const [first, second] = await bench.send({ group: 'a' }, { group: 'a' })
      const jobs = byGroup({ concurrency: 1 })
      const running = await bench.claimOne({ jobs })
      for (const owner of ['worker-2', 'worker-3']) await bench.assertNothingClaimable({ jobs, owner })
      await bench.settle(bench.done(running))
      const next = await bench.claimOne({ jobs })
      assert.deepEqual([running.envelope.id, next.envelope.id, next.attempt], [first, second, 1])
    },
    'the limit counts a group across all queues and priorities, separately for each key': async (bench) => {
      const jobs = [...byGroup({ concurrency: 2 }), ...byGroup({ concurrency: 2 }, 'other')]
      const [best, , second] = await bench.send(
        { group: 'a', queue: 'x', priority: 9 },
        { group: 'a', queue: 'y', priority: 1 },
        { group: 'a', queue: 'z', priority: 5 },
      )
      const other = await bench.sendOne({ group: 'a', queue: 'x', job: 'other', priority: 9 })
      assert.deepEqual(await bench.claimedIds({ jobs }), [best, other, second])
      await bench.assertNothingClaimable({ jobs })
    },
    'a job in a new queue counts what its group runs in other queues': async (bench) => {
      const jobs = byGroup({ concurrency: 1 })
      await bench.sendOne({ group: 'a', queue: 'x' })
      const running = await bench.claimOne({ jobs })
      const later = await bench.sendOne({ group: 'a', queue: 'y' })
      await bench.assertNothingClaimable({ jobs })
      await bench.settle(bench.done(running))
      assert.deepEqual(await bench.claimedIds({ jobs }), [later])
    },
    "jobs without a group are nobody's, and no limit of groups counts them": async (bench) => {
      await bench.send(...times(4, () => ({})))
      assert.equal((await bench.claim({ jobs: byGroup({ concurrency: 1 }) })).length, 4)
    },
    'a full group does not hold back others, however many of its jobs wait': async (bench) => {
      await bench.send(...times(300, () => ({ group: 'big' })))
      await bench.clock.advance(1)
      await bench.send(...times(20, (index) => ({ group: `small-${index % 10}` })), {})
      const jobs = byGroup({ concurrency: 1 })
      const groups = await claimedGroups(bench, { jobs, limit: 100 })
      assert.deepEqual([...groups].sort(), ['big', ...times(10, (index) => `small-${index}`), null].sort())
      await bench.assertNothingClaimable({ jobs })
    },
    'each worker applies the limits that it knows': async (bench) => {
      await bench.send(...times(6, () => ({ group: 'a' })))
      assert.equal((await bench.claim({ jobs: byGroup({ concurrency: 3 }) })).length, 3)
      await bench.assertNothingClaimable({ jobs: byGroup({ concurrency: 2 }), owner: 'worker-2' })
      assert.equal((await bench.claim({ jobs: byGroup({ concurrency: 4 }), owner: 'worker-2' })).length, 1)
      assert.equal((await bench.claim({ jobs: unlimited('work'), owner: 'worker-3' })).length, 2)
    },
    'the limit of a key holds in addition to those of its groups': async (bench) => {
      await bench.send(...times(9, (index) => ({ group: `g${index % 3}` })))
      const jobs = byGroup({ concurrency: 2 }).map((each) => ({ ...each, concurrency: 4 }))
      const groups = await claimedGroups(bench, { jobs })
      assert.deepEqual(groups, ['g0', 'g1', 'g2', 'g0'])
    },
    'a job of a group that must run alone waits for the whole key': async (bench) => {
      const [first, second] = await bench.send({ group: 'a', singleInstance: true }, { group: 'b', singleInstance: true })
      const running = await bench.claimOne()
      assert.equal(running.envelope.id, first)
      await bench.assertNothingClaimable()
      await bench.settle(bench.done(running))
      assert.deepEqual(await bench.claimedIds(), [second])
    },
    'every way to end a lease gives its group a slot back': async (bench) => {
      const jobs = byGroup({ concurrency: 1 })
      const ends = [
        ...bench.endings(),
        (lease: Lease) => bench.retry(lease, 60_000),
        (lease: Lease) => bench.snooze(lease, 60_000),
        (lease: Lease) => bench.retry(lease),
      ]
      await bench.send(...times(ends.length, () => ({ group: 'a' })))
      for (const end of ends) await bench.settle(end(await bench.claimOne({ jobs })))
      await bench.claimOne({ jobs })
      await bench.clock.advance(30_000)
      await bench.claimOne({ jobs })
      await bench.assertNothingClaimable({ jobs })
    },
    'the limit of a group holds when several owners claim at the same time': async (bench) => {
      await bench.send(...times(60, (index) => ({ group: `g${index % 3}` })))
      const jobs = byGroup({ concurrency: 2 })
      const claims = await Promise.all(times(10, (index) => bench.claim({ jobs, owner: `worker-${index}`, limit: 5 })))
      assert.equal(claims.flat().length, 6)
    },
    'a group whose jobs are all gone comes back as a new one': async (bench) => {
      const jobs = byGroup({ concurrency: 1 })
      for (let round = 0; round < 3; round++) {
        const ids = await bench.send({ group: 'a' }, { group: 'a' })
        for (const id of ids) {
          const lease = await bench.claimOne({ jobs })
          assert.equal(lease.envelope.id, id)
          await bench.settle(bench.done(lease))
        }
      }
    },
    'a group whose job is not stored leaves nothing behind': async (bench) => {
      await bench.sendOne({ uniqueKey: 'k', group: 'a' })
      const [receipt] = await bench.backend.send([bench.envelope({ uniqueKey: 'k', group: 'b' })])
      assert.equal(receipt?.stored, false)
      assert.deepEqual(await claimedGroups(bench, {}), ['a'])
      await bench.send({ group: 'b' })
      assert.deepEqual(await claimedGroups(bench, {}), ['b'])
    },
  },
}
