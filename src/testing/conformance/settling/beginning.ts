import assert from 'node:assert/strict'
import type { Group } from '../suite.ts'

export const beginning: Group = {
  title: 'starting a job that must not start twice',
  needs: [],
  tests: {
    'a started job is never claimed again when its worker dies': async (bench) => {
      await bench.send({}, {})
      const [begun, other] = await bench.claim({ leaseMs: 1_000 })
      assert.ok(begun && other)
      assert.deepEqual(await bench.backend.begin([begun.token]), ['applied'])
      await bench.clock.advance(1_000)
      assert.deepEqual(await bench.backend.reap(3), { returned: 1, poisoned: 0 })
      assert.deepEqual(await bench.claimedIds(), [other.envelope.id])
    },
    'nor when the next claim finds it': async (bench) => {
      await bench.send({})
      await bench.backend.begin([(await bench.claimOne({ leaseMs: 1_000 })).token])
      await bench.clock.advance(1_000)
      await bench.assertNothingClaimable()
      await bench.assertNothingClaimable()
    },
    'nor when its owner is known to be dead': async (bench) => {
      await bench.send({})
      await bench.backend.begin([(await bench.claimOne({ owner: 'dead' })).token])
      await bench.backend.reap(3, ['dead'])
      await bench.assertNothingClaimable()
    },
    'its owner can renew and end it': async (bench) => {
      await bench.send({})
      const lease = await bench.claimOne({ leaseMs: 1_000 })
      await bench.backend.begin([lease.token])
      assert.deepEqual(await bench.backend.extend([lease.token], 60_000), ['applied'])
      await bench.clock.advance(30_000)
      await bench.settle(bench.done(lease))
    },
    'a lost lease cannot start': async (bench) => {
      await bench.send({}, {})
      const [expired, held] = await bench.claim({ leaseMs: 1_000 })
      assert.ok(expired && held)
      await bench.backend.extend([held.token], 60_000)
      await bench.clock.advance(1_000)
      await bench.backend.reap(3)
      assert.deepEqual(await bench.backend.begin([expired.token, held.token, 'nothing']), ['lost', 'applied', 'lost'])
      assert.equal((await bench.claimOne()).envelope.id, expired.envelope.id)
    },
    'a snooze takes the start back: the handler was not called': async (bench) => {
      await bench.send({})
      const first = await bench.claimOne()
      await bench.backend.begin([first.token])
      await bench.settle(bench.snooze(first))
      await bench.claimOne({ leaseMs: 1_000 })
      await bench.clock.advance(1_000)
      assert.deepEqual(await bench.backend.reap(3), { returned: 1, poisoned: 0 })
    },
  },
}

export const beginningRecorded: Group = {
  title: 'records of jobs that must not start twice',
  needs: ['store'],
  tests: {
    'it is dead as interrupted, and says why': async (bench) => {
      const id = await bench.sendOne()
      await bench.backend.begin([(await bench.claimOne({ leaseMs: 1_000, owner: 'worker-9' })).token])
      await bench.clock.advance(1_000)
      await bench.backend.reap(3)
      const { state, reason, errors, finishedAt } = await bench.record(id)
      assert.deepEqual([state, reason, errors.length, finishedAt], ['dead', 'interrupted', 1, bench.clock.now()])
      assert.match(errors[0]?.message ?? '', /worker-9 died or hung.*must not start twice/)
      assert.equal((await bench.store.counts())[0]?.counts.dead, 1)
    },
    'it was asked to stop, and so it is cancelled': async (bench) => {
      const id = await bench.sendOne()
      await bench.backend.begin([(await bench.claimOne({ leaseMs: 1_000 })).token])
      await bench.store.cancel(id)
      await bench.clock.advance(1_000)
      await bench.backend.reap(3)
      assert.equal((await bench.record(id)).state, 'cancelled')
    },
    'it can be retried, and has then not started': async (bench) => {
      const id = await bench.sendOne()
      await bench.backend.begin([(await bench.claimOne({ leaseMs: 1_000 })).token])
      await bench.clock.advance(1_000)
      await bench.backend.reap(3)
      assert.deepEqual(await bench.store.retry([id]), ['requeued'])
      await bench.claimOne({ leaseMs: 1_000 })
      await bench.clock.advance(1_000)
      assert.deepEqual(await bench.backend.reap(3), { returned: 1, poisoned: 0 })
    },
    'a skipped job keeps its given result': async (bench) => {
      const [one, two] = await bench.send({}, {})
      const [first, second] = await bench.claim()
      assert.ok(first && second)
      await bench.settle({ token: first.token, kind: 'skipped', why: 'done before', keep: true, result: '[1]' })
      await bench.settle({ token: second.token, kind: 'skipped', why: 'a filter', keep: true })
      assert.deepEqual([(await bench.record(one as string)).result, (await bench.record(two as string)).result], ['[1]', null])
    },
  },
}
