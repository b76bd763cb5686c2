import assert from 'node:assert/strict'
import { times } from '../bench.ts'
import type { Group } from '../suite.ts'

export const heldLeases: Group = {
  title: 'leases of owners',
  needs: ['store'],
  tests: {
    'a lease is shown with everything its owner received, and when it was claimed': async (bench) => {
      const envelope = bench.envelope({ timeoutMs: 1_500, maxRetries: 7 })
      await bench.backend.send([envelope])
      await bench.clock.advance(250)
      const claimedAt = bench.clock.now()
      const lease = await bench.claimOne({ owner: 'worker-1', leaseMs: 4_000 })
      const { id, job, identity } = envelope
      const held = { token: lease.token, owner: 'worker-1', id, job, identity, attempt: 1, claimedAt }
      assert.deepEqual(await bench.store.leases({ owners: ['worker-1'] }), [{ ...held, expiresAt: claimedAt + 4_000 }])
      await bench.clock.advance(1_000)
      await bench.backend.extend([lease.token], 9_000)
      assert.deepEqual(await bench.store.leases({ owners: ['worker-1'] }), [{ ...held, expiresAt: claimedAt + 10_000 }])
    },
    'only the requested owners are shown, and nothing that waits or has ended': async (bench) => {
      const [first, second, third] = await bench.send({}, {}, {}, { delayMs: 1_000 })
      const one = await bench.claim({ limit: 1, owner: 'one' })
      await bench.claim({ limit: 1, owner: 'two' })
      await bench.claim({ limit: 1, owner: 'three' })
      const idsOf = async (...owners: readonly string[]) => (await bench.store.leases({ owners })).map(({ id }) => id)
      assert.deepEqual(await idsOf('one', 'three', 'nobody'), [first, third])
      await bench.settle(...one.map((lease) => bench.done(lease, { keep: true })))
      assert.deepEqual(await idsOf('one', 'two'), [second])
      assert.deepEqual(await idsOf(), [])
    },
    'leases are listed in the order in which they were claimed': async (bench) => {
      const late = await bench.send(...times(3, () => ({ priority: 1 })))
      const first = await bench.claimedIds({ limit: 2 })
      await bench.clock.advance(1)
      const urgent = await bench.send({ priority: 9 })
      await bench.claim()
      const held = await bench.store.leases({ owners: ['worker-1'] })
      assert.deepEqual(first, late.slice(0, 2))
      assert.deepEqual(
        held.map(({ id }) => id),
        [...late.slice(0, 2), ...urgent, ...late.slice(2)],
      )
    },
    'the leases of jobs are shown for any owner, and nothing for jobs that are not running': async (bench) => {
      const [first, second, third, waiting] = (await bench.send({}, {}, {}, { delayMs: 1_000 })) as [
        string,
        string,
        string,
        string,
      ]
      const [ended] = await bench.claim({ limit: 1, owner: 'one' })
      assert.ok(ended)
      await bench.claim({ limit: 1, owner: 'two' })
      await bench.clock.advance(1)
      await bench.claim({ limit: 1, owner: 'three' })
      await bench.settle(bench.done(ended, { keep: true }))
      const held = await bench.store.leases({ ids: [waiting, third, 'nothing', first, second, bench.newId()] })
      assert.deepEqual(held, await bench.store.leases({ owners: ['two', 'three'] }))
      assert.deepEqual(
        held.map(({ id, owner }) => [id, owner]),
        [
          [second, 'two'],
          [third, 'three'],
        ],
      )
      assert.deepEqual(await bench.store.leases({ ids: [] }), [])
    },
    'the token of a listed lease settles it': async (bench) => {
      const id = await bench.sendOne()
      const lease = await bench.claimOne()
      const [held] = await bench.store.leases({ owners: ['worker-1'] })
      assert.ok(held)
      await bench.settle({ token: held.token, kind: 'retry', delayMs: 0, error: bench.error(held.attempt, 'it was killed') })
      assert.deepEqual(await bench.backend.settle([bench.done(lease)]), ['lost'])
      const record = await bench.record(id)
      assert.deepEqual(
        [record.state, record.attempts, record.errors.map(({ message }) => message)],
        ['ready', 1, ['it was killed']],
      )
    },
  },
}
