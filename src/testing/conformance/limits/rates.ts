import assert from 'node:assert/strict'
import type { LeaseRequest, Rate } from '../../../queue/contract/contract.ts'
import { seededRandom } from '../../manual-clock.ts'
import { byGroup, times, unlimited } from '../bench.ts'
import type { Group } from '../suite.ts'
import { claimedGroups } from './group-limits.ts'

function rated(limit: number, perMs: number, job = 'work'): LeaseRequest['jobs'] {
  return [{ job, concurrency: null, rate: { limit, perMs } }]
}

export const rates: Group = {
  title: 'rates',
  needs: [],
  tests: {
    'no more jobs than the rate allows are claimed, across all owners, and the rest after the window (O4)': async (bench) => {
      const ids = await bench.send(...times(8, () => ({})))
      const jobs = rated(3, 1_000)
      assert.deepEqual(await bench.claimedIds({ jobs, limit: 2 }), ids.slice(0, 2))
      assert.deepEqual(await bench.claimedIds({ jobs, owner: 'worker-2' }), ids.slice(2, 3))
      await bench.clock.advance(999)
      await bench.assertNothingClaimable({ jobs })
      await bench.clock.advance(1)
      assert.deepEqual(await bench.claimedIds({ jobs }), ids.slice(3, 6))
    },
    'the window slides: two bursts around a boundary are not allowed': async (bench) => {
      await bench.send(...times(12, () => ({})))
      const jobs = rated(4, 1_000)
      await bench.clock.advance(900)
      assert.equal((await bench.claim({ jobs, limit: 3 })).length, 3)
      await bench.clock.advance(50)
      assert.equal((await bench.claim({ jobs })).length, 1)
      await bench.clock.advance(100)
      await bench.assertNothingClaimable({ jobs })
      await bench.clock.advance(850)
      assert.equal((await bench.claim({ jobs })).length, 3)
      await bench.clock.advance(50)
      assert.equal((await bench.claim({ jobs })).length, 1)
    },
    'an empty claim takes no token (X39)': async (bench) => {
      const jobs = rated(2, 1_000)
      for (let look = 0; look < 5; look++) await bench.assertNothingClaimable({ jobs })
      await bench.send({}, {}, {})
      assert.equal((await bench.claim({ jobs })).length, 2)
      for (let look = 0; look < 5; look++) await bench.assertNothingClaimable({ jobs })
      await bench.clock.advance(1_000)
      assert.equal((await bench.claim({ jobs })).length, 1)
    },
    'a job that waits for a token uses no attempt': async (bench) => {
      await bench.send({}, {})
      const jobs = rated(1, 1_000)
      await bench.settle(bench.done(await bench.claimOne({ jobs })))
      await bench.assertNothingClaimable({ jobs })
      await bench.clock.advance(1_000)
      assert.equal((await bench.claimOne({ jobs })).attempt, 1)
    },
    'a claim without a token learns when the next one is available': async (bench) => {
      await bench.send(...times(3, () => ({})))
      const jobs = rated(1, 5_000)
      const start = bench.clock.now()
      await bench.claim({ jobs })
      await bench.clock.advance(10)
      assert.equal((await bench.lease({ jobs })).nextAt, start + 5_000)
    },
    'a key without a token does not hold back other keys': async (bench) => {
      await bench.send(...times(3, () => ({ priority: 20 })))
      const other = await bench.sendOne({ job: 'other', priority: 1 })
      const jobs = [...rated(1, 1_000), { job: 'other', concurrency: null }]
      assert.equal((await bench.claim({ jobs, limit: 1 })).length, 1)
      assert.deepEqual(await bench.claimedIds({ jobs }), [other])
    },
    'a rate per group counts each group separately': async (bench) => {
      await bench.send(...times(3, () => ({ group: 'a' })), ...times(3, () => ({ group: 'b', queue: 'other' })), { group: 'c' })
      const jobs = byGroup({ rate: { limit: 2, perMs: 1_000 } })
      assert.deepEqual([...(await claimedGroups(bench, { jobs }))].sort(), ['a', 'a', 'b', 'b', 'c'])
      await bench.assertNothingClaimable({ jobs })
      await bench.clock.advance(1_000)
      assert.deepEqual([...(await claimedGroups(bench, { jobs }))].sort(), ['a', 'b'])
    },
    'the time of a group’s next token is announced, and other groups are not held back': async (bench) => {
      const jobs = byGroup({ rate: { limit: 1, perMs: 3_000 } })
      const start = bench.clock.now()
      await bench.send(...times(50, () => ({ group: 'a' })))
      await bench.claim({ jobs, leaseMs: 60_000 })
      assert.equal((await bench.lease({ jobs })).nextAt, start + 3_000)
      await bench.clock.advance(1_000)
      await bench.send({ group: 'b' })
      assert.deepEqual(await claimedGroups(bench, { jobs }), ['b'])
      await bench.clock.advance(2_000)
      assert.deepEqual(await claimedGroups(bench, { jobs }), ['a'])
    },
    'nobody waits for a group that has tokens again, not even a claim for other jobs': async (bench) => {
      const jobs = byGroup({ rate: { limit: 1, perMs: 1_000 } })
      await bench.send({ group: 'a' }, { group: 'a' })
      await bench.claim({ jobs, leaseMs: 60_000 })
      await bench.assertNothingClaimable({ jobs })
      await bench.clock.advance(1_000)
      const { nextAt } = await bench.lease({ jobs: unlimited('other') })
      assert.ok(nextAt === null || nextAt > bench.clock.now(), 'there is nothing to claim at once')
      assert.deepEqual(await claimedGroups(bench, { jobs }), ['a'])
    },
    'a group that was idle without a token is served when one of its jobs falls due': async (bench) => {
      const jobs = byGroup({ rate: { limit: 1, perMs: 1_000 } })
      const [first, second] = await bench.send({ group: 'a' }, { group: 'a', delayMs: 5_000 })
      const lease = await bench.claimOne({ jobs })
      await bench.assertNothingClaimable({ jobs })
      await bench.settle(bench.done(lease))
      await bench.clock.advance(5_000)
      assert.deepEqual([lease.envelope.id, ...(await bench.claimedIds({ jobs }))], [first, second])
    },
    'a new job of a group without a token waits for one as well, in any queue': async (bench) => {
      const jobs = byGroup({ rate: { limit: 1, perMs: 3_000 } })
      await bench.send({ group: 'a' }, { group: 'a' })
      await bench.claim({ jobs })
      await bench.send({ group: 'a', queue: 'other' }, { group: 'a' })
      await bench.assertNothingClaimable({ jobs })
      await bench.clock.advance(3_000)
      assert.deepEqual(await claimedGroups(bench, { jobs }), ['a'])
    },
    'a raised rate takes effect within a minute': async (bench) => {
      await bench.send(...times(3, () => ({ group: 'a' })))
      const slow = byGroup({ rate: { limit: 1, perMs: 86_400_000 } })
      await bench.claim({ jobs: slow, leaseMs: 600_000 })
      await bench.assertNothingClaimable({ jobs: slow })
      await bench.clock.advance(60_000)
      assert.equal((await bench.claim({ jobs: byGroup({ rate: { limit: 100, perMs: 86_400_000 } }) })).length, 2)
    },
    ...Object.fromEntries(
      [
        { limit: 5, perMs: 1_000 },
        { limit: 200, perMs: 1_000 },
      ].map((rate) => [
        `in no window are more claimed than the rate says (${rate.limit} a second)`,
        async (bench) => {
          const random = seededRandom(rate.limit)
          const jobs = [{ job: 'work', concurrency: null, rate }]
          const claims: number[] = []
          for (let step = 0; step < 120; step++) {
            await bench.send(...times(Math.floor(random() * rate.limit), () => ({})))
            const leases = await bench.claim({ jobs, limit: 1 + Math.floor(random() * rate.limit) })
            claims.push(...leases.map(() => bench.clock.now()))
            await bench.settle(...leases.map((lease) => bench.done(lease)))
            await bench.clock.advance(Math.floor(random() * 120))
          }
          assertKept(claims, rate)
        },
      ]),
    ),
  },
}

function assertKept(claims: readonly number[], { limit, perMs }: Rate): void {
  claims.forEach((at, index) => {
    const next = claims[index + limit]
    assert.ok(next === undefined || next - at >= perMs, `more than ${limit} claims within ${perMs} ms from ${at} on`)
  })
  const lasted = (claims.at(-1) as number) - (claims[0] as number)
  // Rates may be too strict by up to a sixtieth of the window, and the program is idle now and then by chance.
  assert.ok(claims.length > (0.6 * limit * lasted) / perMs, `only ${claims.length} claims in ${lasted} ms`)
}
