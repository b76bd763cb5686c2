import assert from 'node:assert/strict'
import type { Links } from '../../envelope/envelope.ts'
import type { Lease } from '../../queue/contract/contract.ts'
import type { Bench } from './bench.ts'
import type { Group } from './suite.ts'

function waiting(bench: Bench, on: string, onFailure: 'fail' | 'rescue' = 'fail', longestWaitMs = 86_400_000): Links {
  return { root: bench.newId(), parent: null, waitsFor: [{ id: on, onFailure }], longestWaitMs }
}

async function claimOnce(bench: Bench, lease: Lease): Promise<string> {
  return (await bench.coordination.claimOnce('k', lease.envelope.id)).kind
}

/** Cases in which engines once disagreed. */
export const decidedRules: Group = {
  title: 'edge cases on which engines could differ',
  needs: ['store', 'coordination'],
  tests: {
    'an occurrence that follows one whose unique key is taken is not stored': async (bench) => {
      const { schedules } = bench.store
      const now = bench.clock.now()
      await bench.send({ uniqueKey: 'k' })
      const first = { schedule: 's', at: now + 1_000, envelope: bench.envelope({ uniqueKey: 'k', runAt: now + 1_000 }) }
      const next = { schedule: 's', at: now + 2_000, envelope: bench.envelope({ runAt: now + 2_000 }), follows: now + 1_000 }
      assert.deepEqual(await schedules.enqueue([first, next]), [false, false])
      assert.deepEqual(await schedules.enqueue([{ ...next, follows: null }]), [true])
    },
    'an idempotency key belongs to the run that claimed it, not to the next run of the same job': async (bench) => {
      await bench.send({}, {})
      const [one, two] = (await bench.claim()) as [Lease, Lease]
      assert.equal(await claimOnce(bench, one), 'claimed')
      assert.equal(await claimOnce(bench, two), 'busy')
      await bench.settle(bench.retry(one))
      await bench.claimOne()
      assert.equal(await claimOnce(bench, two), 'claimed')
    },
    'a job that does not run holds no idempotency key, and leaves nothing to sweep': async (bench) => {
      const [ready, other] = await bench.send({}, {})
      assert.deepEqual(await bench.coordination.claimOnce('k', ready as string), { kind: 'claimed' })
      assert.deepEqual(await bench.coordination.claimOnce('k', other as string), { kind: 'claimed' })
      await bench.clock.advance(86_400_000)
      assert.equal((await bench.store.sweep({ part: 'keys', limit: 10 })).changed, 0)
    },
    'a new group stands behind waiting ones, however long its job has been due': async (bench) => {
      await bench.send({ group: 'a' })
      await bench.send({ group: 'b', runAt: bench.clock.now() - 60_000 })
      const [first, second] = await bench.claim()
      assert.deepEqual([first?.envelope.group, second?.envelope.group], ['a', 'b'])
    },
    'a group whose only job is moved away and back is a new group': async (bench) => {
      const [moved] = await bench.send({ group: 'a' }, { group: 'b' })
      await bench.store.amend([{ id: moved as string, runAt: bench.clock.now() + 1_000 }])
      await bench.store.amend([{ id: moved as string, runAt: bench.clock.now() - 60_000 }])
      const [first, second] = await bench.claim()
      assert.deepEqual([first?.envelope.group, second?.envelope.group], ['b', 'a'])
    },
    'a group keeps its turn when its ready job is rescheduled': async (bench) => {
      const [moved] = await bench.send({ group: 'a' }, { group: 'b' })
      await bench.store.amend([{ id: moved as string, runAt: bench.clock.now() }])
      const [first, second] = await bench.claim()
      assert.deepEqual([first?.envelope.group, second?.envelope.group], ['a', 'b'])
    },
    'a retried job waits for a dependency that was sent after it had failed': async (bench) => {
      const id = bench.newId()
      const waiter = await bench.sendOne({ links: waiting(bench, id) })
      assert.equal((await bench.record(waiter)).state, 'dead')
      await bench.send({ id })
      assert.deepEqual(await bench.store.retry([waiter]), ['requeued'])
      await bench.settle(bench.done(await bench.claimOne(), { keep: true }))
      assert.equal((await bench.claimOne()).envelope.id, waiter)
    },
    'a job may have been due before 1970': async (bench) => {
      const [late, early] = await bench.send({ runAt: -1_000 }, { runAt: -500_000_000_000 })
      const { runAt, spoilt } = await bench.record(early as string)
      assert.deepEqual([runAt, spoilt], [-500_000_000_000, undefined])
      assert.deepEqual(await bench.claimedIds(), [early, late])
    },
    'a job without a unique key holds none until anything': async (bench) => {
      await bench.backend.send([{ ...bench.envelope(), uniqueUntil: 'ever' }])
      const { envelope } = await bench.claimOne()
      assert.deepEqual([envelope.uniqueKey, envelope.uniqueUntil], [null, 'ended'])
    },
    'a job that is sent again is found by its id, whichever job holds its unique key': async (bench) => {
      const envelope = bench.envelope({ uniqueKey: 'k' })
      await bench.backend.send([envelope])
      await bench.settle(bench.done(await bench.claimOne(), { keep: true }))
      await bench.send({ uniqueKey: 'k' })
      assert.deepEqual(await bench.backend.send([envelope]), [{ id: envelope.id, stored: false }])
    },
    'a job that is not stored because of its number holds no unique key': async (bench) => {
      const number = await bench.numbers.reserve(1)
      await bench.send({ number })
      const refused = bench.envelope({ number, uniqueKey: 'k', uniqueUntil: 'ever' })
      assert.equal((await bench.backend.send([refused]))[0]?.stored, false)
      await bench.sendOne({ uniqueKey: 'k' })
    },
    'an owner learns of a cancellation even after its job was moved to another queue': async (bench) => {
      const id = await bench.sendOne()
      const { token } = await bench.claimOne()
      const envelope = bench.envelope({ id, queue: 'other', priority: 1 })
      assert.deepEqual(await bench.store.amend([{ id, expected: null, envelope, inAnyState: true }]), ['amended'])
      await bench.store.report([{ token, progress: '1' }])
      assert.equal((await bench.record(id)).progress, '1')
      assert.deepEqual(
        (await bench.store.leases({ owners: ['worker-1'] })).map((lease) => lease.token),
        [token],
      )
      await bench.store.cancel(id)
      assert.deepEqual((await bench.lease()).cancelled, [token])
      assert.deepEqual(await bench.backend.extend([token], 1_000), ['applied'])
    },
    'a job that is released because another one timed out is claimed by the same call': async (bench) => {
      const first = await bench.sendOne({ delayMs: 60_000 })
      const impatient = await bench.sendOne({ links: waiting(bench, first, 'fail', 1_000) })
      const rescuer = await bench.sendOne({ links: waiting(bench, impatient, 'rescue', 1_000) })
      await bench.clock.advance(1_000)
      assert.deepEqual(await bench.claimedIds(), [rescuer])
      assert.equal((await bench.record(impatient)).state, 'dead')
    },
    'the first of several settlements of a lease counts': async (bench) => {
      await bench.send({})
      const lease = await bench.claimOne()
      const settlements = [bench.retry(lease), bench.done(lease, { keep: true })]
      assert.deepEqual(await bench.backend.settle(settlements), ['applied', 'lost'])
    },
    'a job that is cancelled instead of retried keeps its due time': async (bench) => {
      const id = await bench.sendOne()
      const { runAt } = await bench.record(id)
      await bench.clock.advance(1_000)
      const lease = await bench.claimOne()
      await bench.store.cancel(id)
      assert.deepEqual(await bench.backend.settle([bench.retry(lease, 60_000)]), ['cancelled'])
      assert.equal((await bench.record(id)).runAt, runAt)
    },
  },
}
