import assert from 'node:assert/strict'
import { times } from '../bench.ts'
import type { Group } from '../suite.ts'

export const timing: Group = {
  title: 'time',
  needs: [],
  tests: {
    'a delayed job is claimed at its millisecond and not before': async (bench) => {
      const id = await bench.sendOne({ delayMs: 1_234 })
      await bench.clock.advance(1_233)
      await bench.assertNothingClaimable()
      await bench.clock.advance(1)
      assert.deepEqual(await bench.claimedIds(), [id])
    },
    'a job that falls due takes its place by priority': async (bench) => {
      const [urgentLater, now] = await bench.send({ delayMs: 10, priority: 9 }, { priority: 5 })
      await bench.clock.advance(10)
      assert.deepEqual(await bench.claimedIds(), [urgentLater, now])
    },
    'jobs that fall due together are claimed in the order of their due times': async (bench) => {
      const [third, first, second] = await bench.send({ delayMs: 300 }, { delayMs: 100 }, { delayMs: 200 })
      await bench.clock.advance(300)
      assert.deepEqual(await bench.claimedIds(), [first, second, third])
    },
    'thousands of jobs that fall due together are all claimed, each once': async (bench) => {
      const ids = await bench.send(...times(2_500, () => ({ delayMs: 1_000 })))
      await bench.clock.advance(1_000)
      const seen: string[] = []
      for (let found = await bench.claimedIds({ limit: 400 }); found.length > 0; found = await bench.claimedIds({ limit: 400 })) {
        seen.push(...found)
      }
      assert.deepEqual(seen, ids)
    },
    'many future jobs do not hold back a ready one': async (bench) => {
      await bench.send(...times(500, (index) => ({ delayMs: 60_000 + index, priority: 20 })))
      const ready = await bench.sendOne({ priority: 1 })
      assert.deepEqual(await bench.claimedIds(), [ready])
    },
    'a claim reports when the next waiting job falls due': async (bench) => {
      const start = bench.clock.now()
      await bench.send({ delayMs: 9_000 }, { delayMs: 4_000 })
      const batch = await bench.lease()
      assert.deepEqual(batch.leases, [])
      assert.equal(batch.nextAt, start + 4_000)
    },
    'a claim reports when the next lease expires': async (bench) => {
      const start = bench.clock.now()
      await bench.send({}, { delayMs: 60_000 })
      await bench.claimOne({ leaseMs: 5_000 })
      assert.equal((await bench.lease()).nextAt, start + 5_000)
    },
    'nothing is announced when nothing waits and nothing runs': async (bench) => {
      assert.equal((await bench.lease()).nextAt, null)
      await bench.send({})
      await bench.settle(bench.done(await bench.claimOne(), { keep: true }))
      assert.equal((await bench.lease()).nextAt, null)
    },
    'a worker that sleeps until the announced instant finds the job': async (bench) => {
      const id = await bench.sendOne({ delayMs: 777 })
      const { nextAt } = await bench.lease()
      await bench.clock.advance((nextAt as number) - bench.clock.now())
      assert.deepEqual(await bench.claimedIds(), [id])
    },
  },
}
