import assert from 'node:assert/strict'
import { cancelOutcome } from '../../../queue/contract/queue-counts.ts'
import { limited } from '../bench.ts'
import { oddText } from '../claiming/sending.ts'
import type { Group } from '../suite.ts'

export const cancelling: Group = {
  title: 'cancelling and rescheduling',
  needs: ['store'],
  tests: {
    'a waiting job that is cancelled ends and is never claimed': async (bench) => {
      const [ready, scheduled, other] = await bench.send({}, { delayMs: 1_000 }, {})
      assert.equal(cancelOutcome(await bench.store.cancel(ready as string)), 'cancelled')
      assert.equal(cancelOutcome(await bench.store.cancel(scheduled as string)), 'cancelled')
      await bench.clock.advance(1_000)
      assert.deepEqual(await bench.claimedIds(), [other])
      const record = await bench.record(ready as string)
      assert.deepEqual([record.state, record.finishedAt, record.attempts], ['cancelled', bench.clock.now() - 1_000, 0])
    },
    'cancelling a waiting job frees its unique key': async (bench) => {
      const id = await bench.sendOne({ uniqueKey: 'k' })
      await bench.store.cancel(id)
      await bench.send({ uniqueKey: 'k' })
    },
    'the owner of a running job learns of its cancellation with its next claim, and others do not': async (bench) => {
      const [mine, , theirs] = await bench.send({}, {}, {})
      const leases = await bench.claim({ owner: oddText, limit: 2 })
      await bench.claim({ owner: 'worker-2' })
      assert.deepEqual((await bench.lease({ owner: oddText })).cancelled, [])
      assert.equal(cancelOutcome(await bench.store.cancel(mine as string)), 'requested')
      assert.equal(cancelOutcome(await bench.store.cancel(mine as string)), 'requested')
      assert.equal((await bench.record(mine as string)).cancelRequested, true)
      assert.equal((await bench.record(mine as string)).state, 'running')
      assert.deepEqual((await bench.lease({ owner: 'worker-2' })).cancelled, [])
      assert.deepEqual((await bench.lease({ owner: oddText, limit: 0 })).cancelled, [leases[0]?.token])
      assert.equal((await bench.record(theirs as string)).cancelRequested, false)
    },
    'an owner that found nothing learns of it together with the next job': async (bench) => {
      const running = await bench.sendOne()
      const lease = await bench.claimOne()
      await bench.assertNothingClaimable()
      await bench.store.cancel(running)
      const next = await bench.sendOne()
      const { leases, cancelled } = await bench.lease()
      assert.deepEqual([leases.map(({ envelope }) => envelope.id), cancelled], [[next], [lease.token]])
    },
    'a job that was asked to stop may still end as its owner decides, and is then no longer announced': async (bench) => {
      const [stopped, finished] = await bench.send({}, {})
      const [one, two] = await bench.claim()
      assert.ok(one && two)
      for (const id of [stopped, finished]) await bench.store.cancel(id as string)
      await bench.settle(bench.cancelled(one), bench.done(two, { keep: true, result: '1' }))
      const records = [await bench.record(stopped as string), await bench.record(finished as string)]
      assert.deepEqual(
        records.map(({ state, cancelRequested }) => [state, cancelRequested]),
        [
          ['cancelled', false],
          ['succeeded', false],
        ],
      )
      assert.deepEqual((await bench.lease()).cancelled, [])
    },
    'a job that was asked to stop does not run again after a retry, a snooze or a lost lease': async (bench) => {
      const ids = await bench.send({}, {}, {})
      const [one, two] = await bench.claim({ leaseMs: 1_000 })
      assert.ok(one && two)
      for (const id of ids) await bench.store.cancel(id)
      assert.deepEqual(await bench.backend.settle([bench.retry(one, 100), bench.snooze(two)]), ['cancelled', 'cancelled'])
      await bench.clock.advance(1_000)
      await bench.assertNothingClaimable()
      for (const id of ids) assert.equal((await bench.record(id)).state, 'cancelled')
      assert.equal((await bench.record(ids[0] as string)).errors.length, 1)
      assert.equal((await bench.record(ids[2] as string)).rescues, 1, 'that its worker died is known')
    },
    'cancelling reports when it is too late': async (bench) => {
      const id = await bench.sendOne()
      await bench.settle(bench.done(await bench.claimOne(), { keep: true }))
      assert.equal(cancelOutcome(await bench.store.cancel(id)), 'ended')
      assert.equal(cancelOutcome(await bench.store.cancel('nothing')), 'missing')
      assert.equal((await bench.record(id)).state, 'succeeded')
    },
    'a cancelled job frees no slot that it did not hold': async (bench) => {
      const [, waiting] = await bench.send({}, {}, {})
      await bench.claimOne({ jobs: limited('work', 1) })
      await bench.store.cancel(waiting as string)
      await bench.assertNothingClaimable({ jobs: limited('work', 1) })
    },
    'a waiting job can be rescheduled to a later time': async (bench) => {
      const id = await bench.sendOne()
      const at = bench.clock.now() + 5_000
      assert.equal((await bench.store.amend([{ id, runAt: at }]))[0], 'moved')
      const record = await bench.record(id)
      assert.deepEqual([record.state, record.runAt], ['scheduled', at])
      assert.equal((await bench.lease()).nextAt, at)
      await bench.clock.advance(4_999)
      await bench.assertNothingClaimable()
      await bench.clock.advance(1)
      assert.equal((await bench.claimOne()).attempt, 1)
    },
    'a waiting job can be rescheduled to an earlier time, and to now': async (bench) => {
      const [sooner, now] = await bench.send({ delayMs: 60_000 }, { delayMs: 60_000 })
      assert.equal((await bench.store.amend([{ id: sooner as string, runAt: bench.clock.now() + 10 }]))[0], 'moved')
      assert.equal((await bench.store.amend([{ id: now as string, runAt: bench.clock.now() }]))[0], 'moved')
      assert.equal((await bench.record(now as string)).state, 'ready')
      assert.deepEqual(await bench.claimedIds(), [now])
      await bench.clock.advance(10)
      assert.deepEqual(await bench.claimedIds(), [sooner])
    },
    'rescheduling reports when it is too late (X42)': async (bench) => {
      const id = await bench.sendOne()
      const lease = await bench.claimOne()
      assert.equal((await bench.store.amend([{ id, runAt: bench.clock.now() + 1_000 }]))[0], 'claimed')
      await bench.settle(bench.done(lease, { keep: true }))
      assert.equal((await bench.store.amend([{ id, runAt: bench.clock.now() + 1_000 }]))[0], 'ended')
      assert.equal((await bench.store.amend([{ id: 'nothing', runAt: 0 }]))[0], 'missing')
      await bench.clock.advance(1_000)
      await bench.assertNothingClaimable()
    },
  },
}
