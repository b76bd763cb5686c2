import assert from 'node:assert/strict'
import type { Lease } from '../../../queue/contract/contract.ts'
import { limited, times, unlimited } from '../bench.ts'
import type { Group } from '../suite.ts'

export const limits: Group = {
  title: 'limits',
  needs: [],
  tests: {
    'no more jobs than the limit run at the same time, across all owners (J31)': async (bench) => {
      await bench.send(...times(5, () => ({})))
      const jobs = limited('work', 3)
      assert.equal((await bench.claim({ jobs, owner: 'worker-1', limit: 2 })).length, 2)
      assert.equal((await bench.claim({ jobs, owner: 'worker-2' })).length, 1)
      await bench.assertNothingClaimable({ jobs, owner: 'worker-3' })
    },
    'a job over the limit uses no attempt and gets the next free slot (X5)': async (bench) => {
      const [first, second] = await bench.send({}, {})
      const jobs = limited('work', 1)
      const running = await bench.claimOne({ jobs })
      for (const owner of ['worker-2', 'worker-3']) await bench.assertNothingClaimable({ jobs, owner })
      await bench.settle(bench.done(running))
      const next = await bench.claimOne({ jobs, owner: 'worker-2' })
      assert.deepEqual([running.envelope.id, next.envelope.id], [first, second])
      assert.equal(next.attempt, 1)
    },
    'the limit holds when several owners claim at the same time': async (bench) => {
      await bench.send(...times(50, () => ({})))
      const jobs = limited('work', 4)
      const claims = await Promise.all(times(10, (index) => bench.claim({ jobs, owner: `worker-${index}`, limit: 3 })))
      assert.equal(claims.flat().length, 4)
    },
    'a key at its limit does not hold back other keys': async (bench) => {
      await bench.send(...times(3, () => ({ job: 'narrow', priority: 20 })))
      const other = await bench.sendOne({ job: 'wide', priority: 1 })
      const jobs = [...limited('narrow', 1), ...unlimited('wide')]
      assert.equal((await bench.claim({ jobs, limit: 1 })).length, 1)
      assert.deepEqual(await bench.claimedIds({ jobs }), [other])
    },
    'the limit counts a job key across all queues and priorities': async (bench) => {
      const [best, , other] = await bench.send(
        { queue: 'a', priority: 9 },
        { queue: 'b', priority: 5 },
        { queue: 'c', priority: 7 },
      )
      assert.deepEqual(await bench.claimedIds({ jobs: limited('work', 2) }), [best, other])
      await bench.assertNothingClaimable({ jobs: limited('work', 2), queues: ['b'] })
    },
    'a job that must run alone waits while another of its key runs': async (bench) => {
      const [first, second] = await bench.send({ singleInstance: true }, { singleInstance: true, queue: 'other' })
      const running = await bench.claimOne()
      assert.equal(running.envelope.id, first)
      await bench.assertNothingClaimable({ owner: 'worker-2' })
      await bench.settle(bench.retry(running, 60_000))
      assert.equal((await bench.claimOne({ owner: 'worker-2' })).envelope.id, second)
    },
    'with very many limited lanes, the best jobs that may start are claimed': async (bench) => {
      const keys = times(40, (index) => `job-${index}`)
      const wanted = times(400, (index) => ({
        job: keys[(index * 7) % 40] as string,
        queue: `queue-${index % 3}`,
        singleInstance: index % 40 === 39,
        runAt: bench.clock.now() - ((index * 53) % 211),
      }))
      const ids = await bench.send(...wanted)
      const alone = new Set(wanted.filter(({ singleInstance }) => singleInstance).map(({ job }) => job))
      const running = new Map<string, number>()
      const mayStart = (job: string) => (running.get(job) ?? 0) < (alone.has(job) ? 1 : 2)
      const expected = wanted
        .map((each, index) => ({ ...each, index }))
        .sort((a, b) => a.runAt - b.runAt || a.index - b.index)
        .filter(({ job }) => mayStart(job) && running.set(job, (running.get(job) ?? 0) + 1))
        .map(({ index }) => ids[index])
      const jobs = keys.map((job) => ({ job, concurrency: 2 }))
      const claimed: string[] = []
      for (const limit of [1, 10, 30, 100]) claimed.push(...(await bench.claimedIds({ jobs, limit })))
      assert.deepEqual(claimed, expected)
      await bench.assertNothingClaimable({ jobs })
    },
    'jobs that must run alone do so per key: two keys run side by side': async (bench) => {
      const ids = await bench.send({ job: 'a', singleInstance: true }, { job: 'b', singleInstance: true })
      assert.deepEqual(await bench.claimedIds({ jobs: unlimited('a', 'b') }), ids)
    },
    'every way to end a lease frees its slot': async (bench) => {
      const jobs = limited('work', 1)
      const ends = [
        ...bench.endings(),
        (lease: Lease) => bench.retry(lease, 60_000),
        (lease: Lease) => bench.snooze(lease, 60_000),
      ]
      await bench.send(...times(ends.length, () => ({})))
      for (const end of ends) await bench.settle(end(await bench.claimOne({ jobs })))
      await bench.assertNothingClaimable({ jobs })
    },
    'a lease that expires frees its slot': async (bench) => {
      const [dying, waiting] = await bench.send({ priority: 5 }, { priority: 9, delayMs: 1 })
      const jobs = limited('work', 1)
      assert.equal((await bench.claimOne({ jobs, leaseMs: 1_000 })).envelope.id, dying)
      await bench.clock.advance(999)
      await bench.assertNothingClaimable({ jobs })
      await bench.clock.advance(1)
      assert.equal((await bench.claimOne({ jobs })).envelope.id, waiting)
    },
    'a limited job that waits behind its limit keeps its place': async (bench) => {
      const ids = await bench.send(...times(6, () => ({})))
      const jobs = limited('work', 2)
      const seen: string[] = []
      for (let leases = await bench.claim({ jobs }); leases.length > 0; leases = await bench.claim({ jobs })) {
        assert.equal(leases.length, 2)
        seen.push(...leases.map(({ envelope }) => envelope.id))
        await bench.settle(...leases.map((lease) => bench.done(lease)))
      }
      assert.deepEqual(seen, ids)
    },
  },
}
