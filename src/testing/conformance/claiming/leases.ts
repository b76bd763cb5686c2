import assert from 'node:assert/strict'
import { times } from '../bench.ts'
import type { Group } from '../suite.ts'

export const leases: Group = {
  title: 'leases that expire',
  needs: [],
  tests: {
    'a job whose lease is not renewed is claimed again at its end, by one owner (J35)': async (bench) => {
      const id = await bench.sendOne()
      await bench.claimOne({ leaseMs: 1_000 })
      await bench.clock.advance(999)
      await bench.assertNothingClaimable({ owner: 'worker-2' })
      await bench.clock.advance(1)
      const claims = await Promise.all(['worker-2', 'worker-3'].map((owner) => bench.claimedIds({ owner })))
      assert.deepEqual(claims.flat(), [id])
    },
    'a rescue gives the attempt back: the worker failed, not the job (X3)': async (bench) => {
      await bench.send({})
      await bench.settle(bench.retry(await bench.claimOne()))
      assert.equal((await bench.claimOne({ leaseMs: 1_000 })).attempt, 2)
      await bench.clock.advance(1_000)
      assert.equal((await bench.claimOne()).attempt, 2)
    },
    'a lease that is renewed stays with its owner': async (bench) => {
      await bench.send({})
      const lease = await bench.claimOne({ leaseMs: 1_000 })
      for (let beat = 0; beat < 5; beat++) {
        await bench.clock.advance(900)
        assert.deepEqual(await bench.backend.extend([lease.token], 1_000), ['applied'])
        await bench.assertNothingClaimable({ owner: 'worker-2' })
      }
      await bench.clock.advance(999)
      await bench.assertNothingClaimable({ owner: 'worker-2' })
      await bench.clock.advance(1)
      assert.equal((await bench.claimOne({ owner: 'worker-2' })).envelope.id, lease.envelope.id)
    },
    'a renewal counts from now, and may shorten a lease': async (bench) => {
      await bench.send({})
      const lease = await bench.claimOne({ leaseMs: 60_000 })
      assert.deepEqual(await bench.backend.extend([lease.token], 500), ['applied'])
      assert.equal((await bench.lease()).nextAt, bench.clock.now() + 500)
    },
    'renewals are answered in order, including lost ones': async (bench) => {
      await bench.send({}, {})
      const [ended, alive] = await bench.claim()
      assert.ok(ended && alive)
      await bench.settle(bench.done(ended))
      assert.deepEqual(await bench.backend.extend([alive.token, ended.token], 1_000), ['applied', 'lost'])
    },
    'an owner that lost its lease can neither settle nor renew the next owner’s': async (bench) => {
      await bench.send({})
      const stale = await bench.claimOne({ owner: 'worker-1', leaseMs: 1_000 })
      await bench.clock.advance(1_000)
      const current = await bench.claimOne({ owner: 'worker-2', leaseMs: 10_000 })
      for (const end of [...bench.endings(), bench.retry.bind(bench), bench.snooze.bind(bench)]) {
        assert.deepEqual(await bench.backend.settle([end(stale)]), ['lost'])
      }
      assert.deepEqual(await bench.backend.extend([stale.token], 60_000), ['lost'])
      assert.deepEqual(await bench.backend.extend([current.token], 10_000), ['applied'])
      await bench.settle(bench.done(current))
    },
    'a lease is lost once its job was returned, even before anybody claims it': async (bench) => {
      await bench.send({})
      const stale = await bench.claimOne({ leaseMs: 1_000 })
      await bench.clock.advance(1_000)
      assert.deepEqual(await bench.backend.reap(3), { returned: 1, poisoned: 0 })
      assert.deepEqual(await bench.backend.settle([bench.done(stale)]), ['lost'])
      assert.equal((await bench.claimOne()).attempt, 1)
    },
    'an owner may settle or renew late until its job is returned': async (bench) => {
      await bench.send({}, {})
      const [one, two] = await bench.claim({ leaseMs: 1_000 })
      assert.ok(one && two)
      await bench.clock.advance(5_000)
      await bench.settle(bench.done(one))
      assert.deepEqual(await bench.backend.extend([two.token], 1_000), ['applied'])
      await bench.assertNothingClaimable({ owner: 'worker-2' })
    },
    'returning expired leases leaves live ones alone and counts what it did': async (bench) => {
      await bench.send({}, {}, {})
      await bench.claim({ limit: 2, leaseMs: 1_000 })
      await bench.claim({ limit: 1, leaseMs: 5_000 })
      await bench.clock.advance(1_000)
      assert.deepEqual(await bench.backend.reap(3), { returned: 2, poisoned: 0 })
      assert.deepEqual(await bench.backend.reap(3), { returned: 0, poisoned: 0 })
      assert.equal((await bench.claim()).length, 2)
    },
    'a job whose workers keep dying is given up after the maximum number of rescues': async (bench) => {
      await bench.send({})
      for (let death = 0; death < 3; death++) {
        await bench.claimOne({ leaseMs: 1_000, maxRescues: 2 })
        await bench.clock.advance(1_000)
      }
      await bench.assertNothingClaimable({ maxRescues: 2 })
      await bench.clock.advance(86_400_000)
      await bench.assertNothingClaimable({ maxRescues: 2 })
    },
    'giving up is reported, and with a maximum of zero it happens at the first rescue': async (bench) => {
      await bench.send({}, {})
      await bench.claim({ leaseMs: 1_000 })
      await bench.clock.advance(1_000)
      assert.deepEqual(await bench.backend.reap(0), { returned: 0, poisoned: 2 })
      await bench.assertNothingClaimable()
    },
    'a job that was claimed among others is never given up for the death of its owner': async (bench) => {
      await bench.send({}, {})
      for (let death = 0; death < 5; death++) {
        const held = await bench.claim({ leaseMs: 1_000, maxRescues: 1, amongOthers: true })
        assert.deepEqual(
          held.map(({ rescues, attempt }) => [rescues, attempt]),
          [
            [death, 1],
            [death, 1],
          ],
        )
        await bench.clock.advance(1_000)
        assert.deepEqual(await bench.backend.reap(1), { returned: 2, poisoned: 0 })
      }
    },
    'a job that was claimed among others and is now held alone is given up like any other': async (bench) => {
      await bench.send({}, {})
      for (const isLast of [false, true]) {
        const [guilty, innocent] = await bench.claim({ leaseMs: 1_000, maxRescues: 1, amongOthers: true })
        assert.ok(guilty && innocent)
        assert.deepEqual(await bench.backend.extend([guilty.token], 1_000, true), ['applied'])
        await bench.clock.advance(1_000)
        assert.deepEqual(await bench.backend.reap(1), isLast ? { returned: 1, poisoned: 1 } : { returned: 2, poisoned: 0 })
      }
      assert.equal((await bench.claimOne({ amongOthers: true })).rescues, 2)
    },
    'a job that must not start twice is interrupted, whether held alone or among others': async (bench) => {
      const [first, second] = await bench.send({}, {})
      const [alone, among] = await bench.claim({ leaseMs: 1_000, amongOthers: true })
      assert.ok(alone && among)
      await bench.backend.extend([alone.token], 1_000, true)
      await bench.backend.begin([alone.token, among.token])
      await bench.backend.extend([among.token], 1_000, true)
      await bench.clock.advance(1_000)
      assert.deepEqual(await bench.backend.reap(3), { returned: 0, poisoned: 0 })
      for (const id of [first, second])
        assert.equal((await bench.backend.store?.get(id as string))?.reason ?? 'interrupted', 'interrupted')
    },
    'jobs of owners known to be dead are returned at once, and live ones stay': async (bench) => {
      const [first, second, third] = await bench.send({}, {}, {})
      await bench.claim({ limit: 1, owner: 'dead-1' })
      await bench.claim({ limit: 1, owner: 'dead-2' })
      const alive = await bench.claimOne({ owner: 'alive' })
      assert.deepEqual(await bench.backend.reap(3, ['dead-1', 'dead-2', 'never-seen']), { returned: 2, poisoned: 0 })
      assert.deepEqual(await bench.backend.reap(3, ['dead-1', 'dead-2']), { returned: 0, poisoned: 0 })
      const again = await bench.claim({ owner: 'other' })
      assert.deepEqual(
        [again.map(({ envelope }) => envelope.id), again.map(({ attempt }) => attempt)],
        [
          [first, second],
          [1, 1],
        ],
      )
      await bench.settle(bench.done(alive))
      assert.equal(alive.envelope.id, third)
    },
    'only named owners count as dead': async (bench) => {
      await bench.send({})
      await bench.claim({ owner: 'alive' })
      assert.deepEqual(await bench.backend.reap(3, []), { returned: 0, poisoned: 0 })
      await bench.assertNothingClaimable({ owner: 'other' })
    },
    'leases of dead owners and expired leases are counted together': async (bench) => {
      await bench.send({}, {})
      await bench.claim({ limit: 1, owner: 'slow', leaseMs: 1_000 })
      await bench.claim({ limit: 1, owner: 'dead', leaseMs: 60_000 })
      await bench.clock.advance(1_000)
      assert.deepEqual(await bench.backend.reap(3, ['dead', 'slow']), { returned: 2, poisoned: 0 })
    },
    'a job that kills its workers is given up because of their deaths too': async (bench) => {
      await bench.send({})
      for (const owner of ['dead-1', 'dead-2']) {
        await bench.claimOne({ owner })
        assert.deepEqual(await bench.backend.reap(2, [owner]), { returned: 1, poisoned: 0 })
      }
      const last = await bench.claimOne({ owner: 'dead-3' })
      assert.deepEqual(await bench.backend.reap(2, ['dead-3']), { returned: 0, poisoned: 1 })
      await bench.assertNothingClaimable()
      assert.deepEqual(await bench.backend.settle([bench.done(last)]), ['lost'])
    },
    'a thousand leases that expire together are all returned': async (bench) => {
      const ids = await bench.send(...times(1_000, () => ({})))
      await bench.claim({ limit: 1_000, leaseMs: 1_000 })
      await bench.clock.advance(1_000)
      assert.deepEqual([...(await bench.claimedIds({ limit: 1_000 }))].sort(), [...ids].sort())
    },
  },
}
