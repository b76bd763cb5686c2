import assert from 'node:assert/strict'
import { times } from '../bench.ts'
import type { Group } from '../suite.ts'

export const replaying: Group = {
  title: 'replaying',
  needs: ['store'],
  tests: {
    'a dead job is retried with all its attempts, and its history stays (X15)': async (bench) => {
      const id = await bench.sendOne()
      await bench.settle(bench.retry(await bench.claimOne()))
      await bench.settle(bench.dead(await bench.claimOne()))
      await bench.clock.advance(1_000)
      assert.deepEqual(await bench.store.retry([id]), ['requeued'])
      const record = await bench.record(id)
      assert.deepEqual([record.state, record.attempts, record.rescues, record.errors.length], ['ready', 0, 0, 2])
      assert.deepEqual([record.reason, record.finishedAt], [null, null])
      const lease = await bench.claimOne()
      assert.deepEqual([lease.envelope.id, lease.attempt], [id, 1])
      await bench.settle(bench.done(lease, { keep: true, result: '"good"' }))
      assert.deepEqual([(await bench.record(id)).state, (await bench.record(id)).result], ['succeeded', '"good"'])
    },
    'every kind of ended job can be retried': async (bench) => {
      for (const end of [bench.endings()[0], ...bench.endings().slice(2)]) {
        const id = await bench.sendOne()
        await bench.settle((end as NonNullable<typeof end>)(await bench.claimOne()))
        assert.deepEqual(await bench.store.retry([id]), ['requeued'])
        const { state, result, cancelRequested } = await bench.record(id)
        assert.deepEqual([state, result, cancelRequested], ['ready', null, false])
        await bench.settle(bench.done(await bench.claimOne()))
      }
    },
    'a retried poisoned job has all its rescues again': async (bench) => {
      const id = await bench.sendOne()
      for (let death = 0; death < 2; death++) {
        await bench.claimOne({ leaseMs: 1_000, maxRescues: 1 })
        await bench.clock.advance(1_000)
      }
      await bench.backend.reap(1)
      assert.deepEqual(await bench.store.retry([id]), ['requeued'])
      await bench.claimOne({ leaseMs: 1_000, maxRescues: 1 })
      await bench.clock.advance(1_000)
      assert.deepEqual(await bench.backend.reap(1), { returned: 1, poisoned: 0 })
    },
    'a retried cancelled job runs as if it had never been cancelled': async (bench) => {
      const id = await bench.sendOne()
      const lease = await bench.claimOne()
      await bench.store.cancel(id)
      await bench.settle(bench.cancelled(lease))
      assert.deepEqual(await bench.store.retry([id]), ['requeued'])
      await bench.settle(bench.retry(await bench.claimOne()))
      assert.equal((await bench.claimOne()).attempt, 2)
      assert.deepEqual((await bench.lease()).cancelled, [])
    },
    'answers are in the order of the requests': async (bench) => {
      const [dead, ready, running, scheduled] = await bench.send(
        { priority: 9 },
        { priority: 1 },
        { priority: 5 },
        { delayMs: 1_000 },
      )
      await bench.settle(bench.dead((await bench.claim({ limit: 1 }))[0] as never))
      await bench.claim({ limit: 1 })
      const ids = [ready, dead, 'nothing', running, scheduled, dead] as string[]
      assert.deepEqual(await bench.store.retry(ids), ['active', 'requeued', 'missing', 'active', 'active', 'active'])
    },
    'a job whose unique key is taken again is a conflict, and does not change': async (bench) => {
      const id = await bench.sendOne({ uniqueKey: 'k' })
      await bench.settle(bench.dead(await bench.claimOne()))
      const holder = await bench.sendOne({ uniqueKey: 'k' })
      assert.deepEqual(await bench.store.retry([id]), ['conflict'])
      assert.equal((await bench.record(id)).state, 'dead')
      await bench.settle(bench.done(await bench.claimOne()))
      assert.deepEqual(await bench.store.retry([id]), ['requeued'])
      assert.notEqual(holder, id)
    },
    'what holds the unique key of a job that is not put back can be asked for': async (bench) => {
      const dead = await bench.sendOne({ uniqueKey: 'k' })
      await bench.settle(bench.dead(await bench.claimOne()))
      const holder = await bench.sendOne({ uniqueKey: 'k' })
      const other = await bench.sendOne({ uniqueKey: 'other' })
      const none = await bench.sendOne({})
      assert.deepEqual(await bench.store.holders([dead, holder, other, none, 'nothing']), [holder, null, null, null, null])
      await bench.settle(...(await bench.claim({ limit: 3 })).map((lease) => bench.done(lease)))
      assert.deepEqual(await bench.store.holders([dead]), [null])
    },
    'a retried job holds its unique key again, even against others of the same call': async (bench) => {
      const ids: string[] = []
      for (let round = 0; round < 2; round++) {
        ids.push(await bench.sendOne({ uniqueKey: 'k' }))
        await bench.settle(bench.dead(await bench.claimOne()))
      }
      assert.deepEqual(await bench.store.retry(ids), ['requeued', 'conflict'])
      assert.deepEqual(await bench.backend.send([bench.envelope({ uniqueKey: 'k' })]), [{ id: ids[0], stored: false }])
    },
    'a thousand dead jobs are retried in one call': async (bench) => {
      const ids = await bench.send(...times(1_000, () => ({})))
      await bench.settle(...(await bench.claim({ limit: 1_000 })).map((lease) => bench.dead(lease)))
      const answers = await bench.store.retry(ids)
      assert.ok(answers.every((answer) => answer === 'requeued'))
      assert.equal((await bench.claim({ limit: 1_000 })).length, 1_000)
    },
  },
}
