import assert from 'node:assert/strict'
import { unlimited } from '../bench.ts'
import type { Group } from '../suite.ts'

const both = { jobs: unlimited('a', 'b') }

export const pausingJobs: Group = {
  title: 'pausing jobs',
  needs: ['store'],
  tests: {
    'nothing with the key of a paused job is claimed from any queue, and other jobs go on': async (bench) => {
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
    'nothing is claimed of a job that was paused while a worker idled': async (bench) => {
      await bench.send({ job: 'a' }, { job: 'b' })
      for (const lease of await bench.claim(both)) await bench.settle(bench.done(lease))
      await bench.assertNothingClaimable(both)
      await bench.store.setPaused({ job: 'a' }, true)
      const [, , free] = await bench.send({ job: 'a', priority: 9 }, { job: 'a' }, { job: 'b' })
      assert.deepEqual(await bench.claimedIds(both), [free])
      await bench.assertNothingClaimable(both)
    },
    'a paused job of groups is not claimed either': async (bench) => {
      await bench.store.setPaused({ job: 'a' }, true)
      const [held] = await bench.send({ job: 'a', group: 'one' })
      await bench.assertNothingClaimable(both)
      await bench.store.setPaused({ job: 'a' }, false)
      assert.deepEqual(await bench.claimedIds(both), [held])
    },
    'a queue and a job of one name are paused each by itself': async (bench) => {
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
