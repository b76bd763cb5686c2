import assert from 'node:assert/strict'
import { times } from '../bench.ts'
import type { Group } from '../suite.ts'

export const settling: Group = {
  title: 'settling',
  needs: [],
  tests: {
    'a job that has ended is not claimed again, however it ended': async (bench) => {
      for (const end of bench.endings()) {
        await bench.send({})
        await bench.settle(end(await bench.claimOne()))
      }
      await bench.clock.advance(86_400_000)
      await bench.assertNothingClaimable()
      assert.deepEqual(await bench.backend.reap(0), { returned: 0, poisoned: 0 })
    },
    'a retry is ready after its delay, to the millisecond, as the next attempt (X3)': async (bench) => {
      const id = await bench.sendOne()
      await bench.settle(bench.retry(await bench.claimOne(), 2_500))
      await bench.clock.advance(2_499)
      await bench.assertNothingClaimable()
      await bench.clock.advance(1)
      const again = await bench.claimOne()
      assert.deepEqual([again.envelope.id, again.attempt], [id, 2])
    },
    'a retry without delay is ready at once': async (bench) => {
      await bench.send({})
      await bench.settle(bench.retry(await bench.claimOne()))
      assert.equal((await bench.claimOne()).attempt, 2)
    },
    'attempts are counted one by one': async (bench) => {
      await bench.send({})
      for (const attempt of [1, 2, 3, 4, 5]) {
        const lease = await bench.claimOne()
        assert.equal(lease.attempt, attempt)
        await bench.settle(bench.retry(lease, 100))
        await bench.clock.advance(100)
      }
    },
    'a snoozed job is ready after its delay, and its attempt does not count (X3)': async (bench) => {
      await bench.send({})
      await bench.settle(bench.snooze(await bench.claimOne(), 400))
      await bench.clock.advance(399)
      await bench.assertNothingClaimable()
      await bench.clock.advance(1)
      const again = await bench.claimOne()
      assert.equal(again.attempt, 1)
      await bench.settle(bench.snooze(again))
      assert.equal((await bench.claimOne()).attempt, 1)
    },
    'a job that is returned without a delay keeps its place': async (bench) => {
      const [first] = await bench.send({})
      const lease = await bench.claimOne()
      await bench.clock.advance(10)
      await bench.send({})
      await bench.settle(bench.snooze(lease))
      assert.equal((await bench.claimedIds())[0], first)
    },
    'a retry keeps the priority of the job': async (bench) => {
      const [urgent] = await bench.send({ priority: 9 })
      await bench.settle(bench.retry(await bench.claimOne()))
      await bench.send({ priority: 5 })
      assert.equal((await bench.claimedIds())[0], urgent)
    },
    'a lease is settled once; the second time it is lost': async (bench) => {
      await bench.send({})
      const lease = await bench.claimOne()
      await bench.settle(bench.retry(lease, 1_000))
      assert.deepEqual(await bench.backend.settle([bench.done(lease)]), ['lost'])
      await bench.clock.advance(1_000)
      assert.equal((await bench.claimOne()).attempt, 2)
    },
    'the same token twice in one batch is applied once': async (bench) => {
      await bench.send({})
      const lease = await bench.claimOne()
      assert.deepEqual(await bench.backend.settle([bench.done(lease), bench.retry(lease)]), ['applied', 'lost'])
      await bench.assertNothingClaimable()
    },
    'an unknown token is lost, whatever it looks like': async (bench) => {
      await bench.send({})
      const lease = await bench.claimOne()
      for (const token of ['', 'x', '1.1.1', `${lease.token}x`, `x${lease.token}`, "'; --", '日本語']) {
        assert.deepEqual(
          await bench.backend.settle([{ ...bench.done(lease), token }]),
          ['lost'],
          `token ${JSON.stringify(token)}`,
        )
        assert.deepEqual(await bench.backend.extend([token], 1_000), ['lost'])
      }
      await bench.settle(bench.done(lease))
    },
    'a lost settlement does not affect the others of its batch, and answers keep the order': async (bench) => {
      await bench.send({}, {}, {})
      const [one, two, three] = await bench.claim()
      assert.ok(one && two && three)
      await bench.settle(bench.done(two))
      const receipts = await bench.backend.settle([bench.done(one), bench.retry(two), bench.retry(three)])
      assert.deepEqual(receipts, ['applied', 'lost', 'applied'])
      assert.deepEqual(await bench.claimedIds(), [three.envelope.id])
    },
    'a batch of 1,000 mixed settlements is applied job by job': async (bench) => {
      await bench.send(...times(1_000, () => ({})))
      const leases = await bench.claim({ limit: 1_000 })
      assert.equal(leases.length, 1_000)
      const ends = [...bench.endings(), bench.retry.bind(bench), bench.snooze.bind(bench)]
      await bench.settle(...leases.map((lease, index) => (ends[index % ends.length] as (typeof ends)[number])(lease)))
      const back = await bench.claim({ limit: 1_000 })
      const expected = leases.filter((_, index) => index % ends.length >= 5).map(({ envelope }) => envelope.id)
      assert.deepEqual(back.map(({ envelope }) => envelope.id).sort(), [...expected].sort())
      assert.equal(
        back.filter(({ attempt }) => attempt === 2).length,
        leases.filter((_, index) => index % ends.length === 5).length,
      )
    },
  },
}
