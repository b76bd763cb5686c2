import assert from 'node:assert/strict'
import type { Amendment } from '../../../queue/contract/store.ts'
import type { Bench, Wanted } from '../bench.ts'
import { nonZeroCounts, reality } from '../managing/listing.ts'
import type { Group } from '../suite.ts'

/** An amendment by a caller that read the job before it was moved. */
function amendment(bench: Bench, id: string, wanted: Wanted): Amendment {
  return { id, expected: null, envelope: bench.envelope({ ...wanted, id, payload: '"new"' }), inAnyState: true, keepsTime: true }
}

async function amend(bench: Bench, amendments: readonly Amendment[]): Promise<void> {
  assert.deepEqual(
    await bench.store.amend(amendments),
    amendments.map(() => 'amended'),
  )
  assert.deepEqual(await nonZeroCounts(bench), await reality(bench))
}

export const amendingKeepsTime: Group = {
  title: 'amending and keeping the time',
  needs: ['store'],
  tests: {
    'a repeating job stays at its next time': async (bench) => {
      const id = await bench.sendOne()
      const stale = amendment(bench, id, { priority: 9, queue: 'mail' })
      await bench.settle(bench.again(await bench.claimOne(), { delayMs: 60_000 }))
      const { runAt } = await bench.record(id)
      await amend(bench, [stale])
      const record = await bench.record(id)
      assert.deepEqual([record.state, record.runAt, record.payload], ['scheduled', runAt, '"new"'])
      assert.deepEqual([record.priority, record.queue], [9, 'mail'])
      await bench.assertNothingClaimable()
      await bench.clock.advance(60_000)
      assert.equal((await bench.claimOne()).envelope.payload, '"new"')
    },
    'a due job stays due, even if it only just became due': async (bench) => {
      const ids = (await bench.send({}, { delayMs: 1_000 })) as [string, string]
      await bench.clock.advance(1_000)
      const times = await Promise.all(ids.map(async (id) => (await bench.record(id)).runAt))
      await amend(
        bench,
        ids.map((id) => amendment(bench, id, { delayMs: 60_000 })),
      )
      assert.deepEqual(await Promise.all(ids.map(async (id) => (await bench.record(id)).runAt)), times)
      assert.deepEqual(new Set(await bench.claimedIds()), new Set(ids))
    },
    'a running job returns to its former time': async (bench) => {
      const id = await bench.sendOne()
      const lease = await bench.claimOne()
      await amend(bench, [amendment(bench, id, { delayMs: 60_000 })])
      await bench.settle(bench.snooze(lease))
      assert.equal((await bench.claimOne()).envelope.payload, '"new"')
    },
    'an ended job is shown with its former time': async (bench) => {
      const id = await bench.sendOne()
      await bench.settle(bench.dead(await bench.claimOne()))
      const { runAt } = await bench.record(id)
      await amend(bench, [amendment(bench, id, { delayMs: 60_000 })])
      assert.equal((await bench.record(id)).runAt, runAt)
    },
    'of several amendments, the last one that gives a time decides it': async (bench) => {
      const id = await bench.sendOne()
      const { keepsTime: _, ...moving } = amendment(bench, id, { delayMs: 5_000 })
      await amend(bench, [moving, amendment(bench, id, { delayMs: 60_000 })])
      assert.equal((await bench.record(id)).runAt, bench.clock.now() + 5_000)
    },
  },
}
