import assert from 'node:assert/strict'
import { unlimited } from '../bench.ts'
import type { Group } from '../suite.ts'

const both = { jobs: unlimited('a', 'b') }

export const pausingJobs: Group = {
  title: 'pausing jobs',
  needs: ['store'],
  tests: {
    'a paused job is not claimed from any queue, and other jobs continue': async (bench) => {
      const [held, alsoHeld, free] = await bench.send(
        { job: 'a', priority: 9 },
        { job: 'a', queue: 'other' },
        { job: 'b', queue: 'other' },
      )
      await bench.store.setPaused({ job: 'a' }, true)
      assert.deepEqual(await bench.claimedIds(both), [free])
      await bench.assertNothingClaimable(both)
      await bench.store.setPaused({ job: 'a' }, false)
      assert.deepEqual(await bench.claimedIds(both), [held, alsoHeld])
    },
    'a job that was paused while a worker idled is not claimed': async (bench) => {
      await bench.send({ job: 'a' }, { job: 'b' })
      for (const lease of await bench.claim(both)) await bench.settle(bench.done(lease))
      await bench.assertNothingClaimable(both)
      await bench.store.setPaused({ job: 'a' }, true)
      const [, , free] = await bench.send({ job: 'a', priority: 9 }, { job: 'a' }, { job: 'b' })
      assert.deepEqual(await bench.claimedIds(both), [free])
      await bench.assertNothingClaimable(both)
    },
    'a paused job with groups is not claimed either': async (bench) => {
      await bench.store.setPaused({ job: 'a' }, true)
      const [held] = await bench.send({ job: 'a', group: 'one' })
      await bench.assertNothingClaimable(both)
      await bench.store.setPaused({ job: 'a' }, false)
      assert.deepEqual(await bench.claimedIds(both), [held])
    },
    'a queue and a job of the same name are paused separately': async (bench) => {
      await bench.store.setPaused({ job: 'mail' }, true)
      assert.deepEqual([(await bench.store.paused()).queues, (await bench.store.paused()).jobs], [[], ['mail']])
      const [inQueue] = await bench.send({ job: 'a', queue: 'mail' })
      assert.deepEqual(await bench.claimedIds(both), [inQueue])
      await bench.store.setPaused({ queue: 'mail' }, true)
      await bench.store.setPaused({ job: 'mail' }, false)
      assert.deepEqual([(await bench.store.paused()).queues, (await bench.store.paused()).jobs], [['mail'], []])
    },
    'a job that runs when its key is paused may be renewed and settled': async (bench) => {
      await bench.send({ job: 'a' })
      const lease = await bench.claimOne(both)
      await bench.store.setPaused({ job: 'a' }, true)
      assert.deepEqual(await bench.backend.extend([lease.token], 1_000), ['applied'])
      await bench.settle(bench.retry(lease))
      await bench.assertNothingClaimable(both)
    },
  },
}
