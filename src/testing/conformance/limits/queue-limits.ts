import assert from 'node:assert/strict'
import { limited, times, unlimited } from '../bench.ts'
import type { Group } from '../suite.ts'

const jobs = unlimited('a', 'b')

export const queueLimits: Group = {
  title: 'limits of queues',
  needs: [],
  tests: {
    'no more jobs of a queue than its limit run at the same time, whatever their keys are': async (bench) => {
      await bench.send(...times(6, (index) => ({ job: index % 2 ? 'a' : 'b', queue: 'narrow', priority: index })))
      const queueLimits = [{ queue: 'narrow', concurrency: 3, rate: null }]
      const first = await bench.claim({ jobs, queueLimits, limit: 2 })
      assert.equal((await bench.claim({ jobs, queueLimits, owner: 'worker-2' })).length, 1)
      await bench.assertNothingClaimable({ jobs, queueLimits })
      await bench.settle(...first.map((lease) => bench.done(lease)))
      assert.equal((await bench.claim({ jobs, queueLimits })).length, 2)
    },
    'a full queue does not hold back others': async (bench) => {
      await bench.send(...times(4, () => ({ job: 'a', queue: 'narrow', priority: 9 })))
      const ids = await bench.send({ job: 'a', queue: 'wide' }, { job: 'b', queue: 'wide' })
      const queueLimits = [{ queue: 'narrow', concurrency: 1, rate: null }]
      assert.equal((await bench.claim({ jobs, queueLimits, limit: 1 })).length, 1)
      assert.deepEqual(await bench.claimedIds({ jobs, queueLimits }), ids)
    },
    'the rate of a queue counts the claims of all its jobs': async (bench) => {
      await bench.send(...times(6, (index) => ({ job: index % 2 ? 'a' : 'b', queue: 'narrow' })))
      const queueLimits = [{ queue: 'narrow', concurrency: null, rate: { limit: 2, perMs: 1_000 } }]
      const start = bench.clock.now()
      assert.equal((await bench.claim({ jobs, queueLimits })).length, 2)
      assert.equal((await bench.lease({ jobs, queueLimits })).nextAt, start + 1_000)
      await bench.clock.advance(1_000)
      assert.equal((await bench.claim({ jobs, queueLimits })).length, 2)
    },
    'for a key in many queues, the limits of the key and of its queues both hold': async (bench) => {
      await bench.send(...times(40, (index) => ({ job: 'a', queue: `q${index % 20}` })))
      const queueLimits = times(20, (index) => ({ queue: `q${index}`, concurrency: index === 0 ? 2 : 1, rate: null }))
      assert.equal((await bench.claim({ jobs: limited('a', 30), queueLimits, limit: 5 })).length, 5)
      assert.equal((await bench.claim({ jobs: limited('a', 30), queueLimits })).length, 16)
      await bench.assertNothingClaimable({ jobs: limited('a', 30), queueLimits })
    },
    'groups in a limited queue take turns': async (bench) => {
      await bench.send(...times(4, () => ({ job: 'a', queue: 'narrow', group: 'x' })), { job: 'a', queue: 'narrow', group: 'y' })
      const queueLimits = [{ queue: 'narrow', concurrency: 2, rate: null }]
      const groups = (await bench.claim({ jobs, queueLimits })).map(({ envelope }) => envelope.group)
      assert.deepEqual(groups, ['x', 'y'])
    },
  },
}
