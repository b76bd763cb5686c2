import assert from 'node:assert/strict'
import { sealOf } from '../../../envelope/envelope.ts'
import type { Amendment } from '../../../queue/contract/store.ts'
import { type Bench, byGroup, times, unlimited, type Wanted } from '../bench.ts'
import { nonZeroCounts, reality } from '../managing/listing.ts'
import type { Group } from '../suite.ts'

function amendment(bench: Bench, id: string, wanted: Wanted, was: string | null = null): Amendment {
  const expected = was === null ? null : sealOf(bench.envelope({ id, payload: was }))
  return { id, expected, envelope: bench.envelope({ ...wanted, id }), inAnyState: true }
}

async function amend(bench: Bench, id: string, wanted: Wanted): Promise<void> {
  assert.deepEqual(await bench.store.amend([amendment(bench, id, wanted)]), ['amended'])
  assert.deepEqual(await nonZeroCounts(bench), await reality(bench))
}

const anotherPlace = { payload: '"new"', queue: 'mail', priority: 9, maxRetries: 7, job: 'other', group: 'g' }

export const amendingInAnyState: Group = {
  title: 'amending in any state',
  needs: ['store'],
  tests: {
    'a running job is shown as amended, and its lease stays': async (bench) => {
      const id = await bench.sendOne()
      const lease = await bench.claimOne()
      await amend(bench, id, { ...anotherPlace, delayMs: 60_000 })
      const { state, payload, queue, priority, maxRetries, job, group, runAt, attempts } = await bench.record(id)
      assert.deepEqual([state, payload, queue, priority, maxRetries], ['running', '"new"', 'mail', 9, 7])
      assert.deepEqual([job, group, runAt, attempts], ['other', 'g', bench.clock.now() + 60_000, 1])
      assert.deepEqual(await bench.backend.extend([lease.token], 30_000), ['applied'])
    },
    'the counts stay correct however its run ends': async (bench) => {
      const ends = [...bench.endings(), bench.retry.bind(bench), bench.snooze.bind(bench), bench.again.bind(bench)]
      for (const [index, end] of ends.entries()) {
        const [id] = await bench.send({ job: 'work', group: index % 2 === 0 ? 'h' : null })
        const lease = await bench.claimOne({ jobs: unlimited('work') })
        await amend(bench, id as string, { ...anotherPlace, group: index % 3 === 0 ? 'g' : null })
        await bench.settle(end(lease))
        assert.deepEqual(await nonZeroCounts(bench), await reality(bench), `ending ${index}`)
        const rest = await bench.claim({ jobs: unlimited('work', 'other') })
        await bench.settle(...rest.map((each) => bench.done(each)))
      }
    },
    'one of many that end together is counted in its own lane': async (bench) => {
      const ids = await bench.send(...times(10, () => ({})))
      const leases = await bench.claim()
      await amend(bench, ids[3] as string, anotherPlace)
      await bench.settle(...leases.map((lease) => bench.done(lease, { keep: true })))
      assert.deepEqual(await nonZeroCounts(bench), await reality(bench))
      assert.equal((await bench.store.list({ state: 'succeeded', job: 'other', limit: 10 })).length, 1)
    },
    'after a lost lease it is ready as amended, at the amended time': async (bench) => {
      const [id, other] = (await bench.send({}, {})) as [string, string]
      await bench.claim({ leaseMs: 1_000 })
      await amend(bench, id, { ...anotherPlace, delayMs: 5_000 })
      await amend(bench, other, anotherPlace)
      await bench.clock.advance(1_000)
      assert.deepEqual(await bench.backend.reap(3), { returned: 2, poisoned: 0 })
      const back = await bench.claimOne({ jobs: byGroup({}, 'other') })
      const { payload, queue, priority, group } = back.envelope
      assert.deepEqual([back.envelope.id, payload, queue, priority, group], [other, '"new"', 'mail', 9, 'g'])
      await bench.clock.advance(4_000)
      assert.equal((await bench.claimOne({ jobs: byGroup({}, 'other') })).envelope.id, id)
    },
    'a running job that is given back goes to the amended time': async (bench) => {
      const id = await bench.sendOne()
      const lease = await bench.claimOne()
      await amend(bench, id, { delayMs: 5_000 })
      await bench.settle(bench.snooze(lease))
      await bench.assertNothingClaimable()
      await bench.clock.advance(5_000)
      assert.deepEqual(await bench.claimedIds(), [id])
    },
    'an ended job is amended and has ended as before': async (bench) => {
      const id = await bench.sendOne()
      await bench.settle(bench.dead(await bench.claimOne()))
      const before = await bench.record(id)
      await amend(bench, id, anotherPlace)
      const after = await bench.record(id)
      assert.deepEqual([after.state, after.finishedAt, after.reason], ['dead', before.finishedAt, before.reason])
      assert.deepEqual([after.payload, after.job, after.queue, after.priority], ['"new"', 'other', 'mail', 9])
      await bench.store.retry([id])
      assert.equal((await bench.claimOne({ jobs: unlimited('other') })).envelope.payload, '"new"')
    },
    'a waiting job is amended as usual, even to another name': async (bench) => {
      const [id] = await bench.send({ uniqueKey: 'k' })
      await amend(bench, id as string, { ...anotherPlace, delayMs: 1_000 })
      assert.equal((await bench.record(id as string)).state, 'scheduled')
      assert.deepEqual(await bench.backend.send([bench.envelope({ uniqueKey: 'k' })]), [{ id, stored: false }])
      await bench.clock.advance(1_000)
      assert.equal((await bench.claimOne({ jobs: unlimited('other') })).envelope.uniqueKey, 'k')
    },
    'a payload that has changed is left alone, and an unknown job is missing': async (bench) => {
      const id = await bench.sendOne({ payload: '1' })
      await bench.claimOne()
      const changes = [
        amendment(bench, id, { payload: '2' }, '1'),
        amendment(bench, id, { payload: '3' }, '1'),
        amendment(bench, bench.newId(), {}),
      ]
      assert.deepEqual(await bench.store.amend(changes), ['amended', 'changed', 'missing'])
      assert.equal((await bench.record(id)).payload, '2')
    },
    'listed leases show the amended job, and their tokens are valid': async (bench) => {
      const id = await bench.sendOne()
      await bench.claimOne()
      await amend(bench, id, anotherPlace)
      const [held] = await bench.store.leases({ ids: [id] })
      assert.ok(held)
      assert.equal(held.job, 'other')
      await bench.settle({ token: held.token, kind: 'done', result: null, keep: true })
      assert.deepEqual(await nonZeroCounts(bench), await reality(bench))
    },
  },
}
