import assert from 'node:assert/strict'
import type { Group } from '../suite.ts'

export const pausing: Group = {
  title: 'pausing queues',
  needs: ['store'],
  tests: {
    'nothing is claimed from a paused queue, and other queues continue': async (bench) => {
      const [held, free] = await bench.send({ queue: 'held', priority: 9 }, { queue: 'free' })
      await bench.store.setPaused({ queue: 'held' }, true)
      assert.deepEqual(await bench.claimedIds(), [free])
      await bench.assertNothingClaimable({ queues: ['held'] })
      await bench.store.setPaused({ queue: 'held' }, false)
      assert.deepEqual(await bench.claimedIds(), [held])
    },
    'nothing is claimed from a queue that was paused while a worker idled': async (bench) => {
      await bench.send({ queue: 'held' }, { queue: 'free' })
      for (const lease of await bench.claim()) await bench.settle(bench.done(lease))
      await bench.assertNothingClaimable()
      await bench.store.setPaused({ queue: 'held' }, true)
      const [, , free] = await bench.send({ queue: 'held', priority: 9 }, { queue: 'held' }, { queue: 'free' })
      assert.deepEqual(await bench.claimedIds(), [free])
      await bench.assertNothingClaimable()
    },
    'a paused queue still accepts jobs, delayed ones too, and they run when it is resumed': async (bench) => {
      await bench.store.setPaused({ queue: 'held' }, true)
      const ids = await bench.send({ queue: 'held' }, { queue: 'held', delayMs: 500 })
      await bench.clock.advance(1_000)
      await bench.assertNothingClaimable()
      await bench.store.setPaused({ queue: 'held' }, false)
      assert.deepEqual(await bench.claimedIds(), ids)
    },
    'a job that runs when its queue is paused may be renewed and settled': async (bench) => {
      await bench.send({ queue: 'held' })
      const lease = await bench.claimOne()
      await bench.store.setPaused({ queue: 'held' }, true)
      assert.deepEqual(await bench.backend.extend([lease.token], 1_000), ['applied'])
      await bench.settle(bench.retry(lease))
      await bench.assertNothingClaimable()
    },
    'paused queues are listed, each once': async (bench) => {
      assert.deepEqual((await bench.store.paused()).queues, [])
      for (const queue of ['\u{1f600}', '\uff00', 'ünï', 'a', 'a']) await bench.store.setPaused({ queue }, true)
      assert.deepEqual((await bench.store.paused()).queues, ['a', 'ünï', '\uff00', '\u{1f600}'])
      for (const queue of ['\u{1f600}', '\uff00', 'a']) await bench.store.setPaused({ queue }, false)
      await bench.store.setPaused({ queue: 'never-paused' }, false)
      assert.deepEqual((await bench.store.paused()).queues, ['ünï'])
    },
  },
}
