import assert from 'node:assert/strict'
import type { Envelope } from '../../../envelope/envelope.ts'
import type { Lease, Settlement } from '../../../queue/contract/contract.ts'
import { times } from '../bench.ts'
import type { Group } from '../suite.ts'
import { assertStates, childOf, claimJob, die, runningParent, succeed, waitsFor } from './links.ts'

export const parents: Group = {
  title: 'parents and children',
  needs: ['store'],
  tests: {
    'a finished parent keeps its result until its last child has ended, and then succeeds': async (bench) => {
      const { parent, children } = await runningParent(bench, ['one', 'two'])
      const id = parent.envelope.id
      assert.deepEqual(await bench.backend.settle([bench.done(parent, { keep: true, result: '"sum"' })]), ['blocked'])
      await assertStates(bench, { [id]: 'blocked' })
      await succeed(bench, children[0] as string, '1')
      await assertStates(bench, { [id]: 'blocked' })
      await bench.clock.advance(1_000)
      await succeed(bench, children[1] as string, '2')
      const { state, result, attempts, finishedAt } = await bench.record(id)
      assert.deepEqual([state, result, attempts, finishedAt], ['succeeded', '"sum"', 1, bench.clock.now()])
      await bench.assertNothingClaimable()
    },
    'a parent without retention is deleted when its last child has ended, and not before': async (bench) => {
      const { parent, children } = await runningParent(bench, ['one'])
      assert.deepEqual(await bench.backend.settle([bench.done(parent)]), ['blocked'])
      await assertStates(bench, { [parent.envelope.id]: 'blocked' })
      await succeed(bench, children[0] as string)
      assert.equal(await bench.store.get(parent.envelope.id), null)
    },
    'an unblocked parent runs again, without its former result, and waits again afterwards': async (bench) => {
      const { parent, children } = await runningParent(bench, ['one'])
      const { envelope } = parent
      assert.deepEqual(await bench.backend.settle([bench.done(parent, { keep: true, result: '"early"' })]), ['blocked'])
      const amendment = { id: envelope.id, expected: null, envelope: { ...envelope, links: null }, unblocks: true } as const
      assert.deepEqual(await bench.store.amend([amendment]), ['amended'])
      const { state, result } = await bench.record(envelope.id)
      assert.deepEqual([state, result], ['ready', null])
      const again = await claimJob(bench, envelope.id)
      assert.deepEqual(await bench.backend.settle([bench.done(again, { keep: true, result: '"late"' })]), ['blocked'])
      await succeed(bench, children[0] as string)
      assert.equal((await bench.record(envelope.id)).result, '"late"')
    },
    'a parent whose children have ended succeeds at once': async (bench) => {
      const { parent, children } = await runningParent(bench, ['one'])
      await succeed(bench, children[0] as string)
      await bench.settle(bench.done(parent, { keep: true }))
      await assertStates(bench, { [parent.envelope.id]: 'succeeded' })
    },
    'a failed child fails its parent, whether the parent is still running or not (demand 29)': async (bench) => {
      const early = await runningParent(bench, ['one'])
      await die(bench, early.children[0] as string)
      assert.deepEqual(await bench.backend.settle([bench.done(early.parent, { keep: true, result: '1' })]), ['failed'])
      const late = await runningParent(bench, ['one'])
      await bench.backend.settle([bench.done(late.parent, { keep: true, result: '1' })])
      await die(bench, late.children[0] as string)
      for (const { parent, children } of [early, late]) {
        const { state, reason, errors, result } = await bench.record(parent.envelope.id)
        assert.deepEqual([state, reason, result], ['dead', 'dependency', null])
        assert.match(errors.at(-1)?.message ?? '', new RegExp(`"work" \\(${children[0]}\\).*dead: it broke`))
      }
    },
    'parents, lost leases and jobs of many groups can be settled in one call': async (bench) => {
      const groups = ['acme', 'bolt', null, 'acme']
      await bench.send(...groups.map((group) => ({ group })), {}, {})
      const leases = await bench.claim()
      const alone = leases.filter(({ envelope }) => envelope.group !== null)
      const [parent, lost, other] = leases.filter(({ envelope }) => envelope.group === null) as [Lease, Lease, Lease]
      await bench.send({ job: 'other', links: childOf(parent, 'one') })
      await bench.settle(bench.snooze(lost, 1_000))
      const together = [parent, ...alone, lost, other, other].map((lease) => bench.done(lease, { keep: true }))
      const receipts = await bench.backend.settle(together)
      assert.deepEqual(receipts, ['blocked', 'applied', 'applied', 'applied', 'lost', 'applied', 'lost'])
      const { counts } = (await bench.store.counts()).find(({ job }) => job === 'work') ?? {}
      assert.deepEqual([counts?.succeeded, counts?.blocked, counts?.scheduled, counts?.running], [4, 1, 1, 0])
    },
    'a child whose failure is ignored counts as ended': async (bench) => {
      const { parent, children } = await runningParent(bench, ['one', 'two'], 'ignore')
      await die(bench, children[0] as string)
      assert.deepEqual(await bench.backend.settle([bench.done(parent, { keep: true })]), ['blocked'])
      await die(bench, children[1] as string)
      await assertStates(bench, { [parent.envelope.id]: 'succeeded' })
    },
    'a parent that continues does not wait for its other children': async (bench) => {
      for (const isDoneFirst of [true, false]) {
        const { parent, children } = await runningParent(bench, ['one', 'two'], 'continue')
        if (isDoneFirst) await bench.backend.settle([bench.done(parent, { keep: true })])
        await die(bench, children[0] as string)
        if (!isDoneFirst) await bench.settle(bench.done(parent, { keep: true }))
        await assertStates(bench, { [parent.envelope.id]: 'succeeded', [children[1] as string]: 'ready' })
        await succeed(bench, children[1] as string)
      }
    },
    'a waiting parent runs again when its children have ended, without using an attempt': async (bench) => {
      const { parent, children } = await runningParent(bench, ['one', 'two'])
      const id = parent.envelope.id
      await bench.settle(bench.wait(parent))
      const { state, attempts, leaseExpiresAt } = await bench.record(id)
      assert.deepEqual([state, attempts, leaseExpiresAt], ['blocked', 0, null])
      await succeed(bench, children[1] as string, '2')
      await succeed(bench, children[0] as string, '1')
      const again = await claimJob(bench, id)
      assert.equal(again.attempt, 1)
      assert.deepEqual(
        (await bench.store.links(id)).map(({ kind, key, result, waiting }) => [kind, key, result, waiting]),
        [
          ['child', 'one', '1', false],
          ['child', 'two', '2', false],
        ],
      )
      await bench.settle(bench.done(again, { keep: true }))
      await assertStates(bench, { [id]: 'succeeded' })
    },
    'a parent that waits for no children is ready at once': async (bench) => {
      const { parent, children } = await runningParent(bench, ['one'])
      await succeed(bench, children[0] as string)
      await bench.settle(bench.wait(parent))
      const again = await claimJob(bench, parent.envelope.id)
      await bench.settle(bench.done(again))
      await bench.send({})
      await bench.settle(bench.wait(await bench.claimOne()))
      assert.equal((await bench.claimOne()).attempt, 1)
    },
    'a parent that waits for a child that fails is dead': async (bench) => {
      const early = await runningParent(bench, ['one'])
      await die(bench, early.children[0] as string)
      assert.deepEqual(await bench.backend.settle([bench.wait(early.parent)]), ['failed'])
      const late = await runningParent(bench, ['one'])
      await bench.settle(bench.wait(late.parent))
      await die(bench, late.children[0] as string)
      await assertStates(bench, { [early.parent.envelope.id]: 'dead', [late.parent.envelope.id]: 'dead' })
    },
    'a parent and its last child can be settled in one call, in any order': async (bench) => {
      for (const isParentFirst of [true, false]) {
        for (const end of [(lease: Lease) => bench.done(lease, { keep: true }), (lease: Lease) => bench.wait(lease)]) {
          const { parent, children } = await runningParent(bench, ['one'])
          const child = bench.done(await claimJob(bench, children[0] as string))
          const together = isParentFirst ? [end(parent), child] : [child, end(parent)]
          await bench.backend.settle(together)
          if (end(parent).kind === 'wait') await succeed(bench, parent.envelope.id)
          await assertStates(bench, { [parent.envelope.id]: 'succeeded' })
          assert.equal((await bench.lease({ limit: 0 })).nextAt, null, 'nothing is waited for any more')
        }
      }
    },
    'a parent fails that is settled in one call with a child that fails': async (bench) => {
      for (const isParentFirst of [true, false]) {
        const { parent, children } = await runningParent(bench, ['one'])
        const child = bench.dead(await claimJob(bench, children[0] as string))
        const done = bench.done(parent, { keep: true })
        await bench.backend.settle(isParentFirst ? [done, child] : [child, done])
        await assertStates(bench, { [parent.envelope.id]: 'dead' })
      }
    },
    'a parent has one child for each key: the second send finds the first': async (bench) => {
      const { parent, children } = await runningParent(bench, ['one'])
      const again = bench.envelope({ links: childOf(parent, 'one') })
      const twins = times(2, () => bench.envelope({ links: childOf(parent, 'two') }))
      const receipts = await bench.backend.send([again, ...twins])
      assert.deepEqual(receipts, [
        { id: children[0], stored: false },
        { id: twins[0]?.id, stored: true },
        { id: twins[0]?.id, stored: false },
      ])
      assert.equal((await bench.store.links(parent.envelope.id)).length, 2)
    },
    'children are found again after a retry, a snooze and the death of a worker': async (bench) => {
      const { parent, children } = await runningParent(bench, ['one'])
      const id = parent.envelope.id
      await bench.settle(bench.retry(parent))
      await bench.settle(bench.snooze(await claimJob(bench, id)))
      await claimJob(bench, id)
      await bench.clock.advance(30_000)
      const again = await claimJob(bench, id)
      const [receipt] = await bench.backend.send([bench.envelope({ links: childOf(again, 'one') })])
      assert.deepEqual(receipt, { id: children[0], stored: false })
      assert.deepEqual(await bench.backend.settle([bench.done(again)]), ['blocked'])
    },
    'only the owner of the lease can make children': async (bench) => {
      const { parent } = await runningParent(bench, ['one'])
      await bench.settle(bench.snooze(parent))
      const late = bench.envelope({ links: childOf(parent, 'two') })
      const other = bench.envelope()
      assert.deepEqual(await bench.backend.send([late, other]), [
        { id: late.id, stored: false, refused: 'lost' },
        { id: other.id, stored: true },
      ])
      assert.equal(await bench.store.get(late.id), null)
      const again = await claimJob(bench, parent.envelope.id)
      const forged = { ...childOf(again, 'three'), parent: { ...childOf(again, 'three').parent, id: other.id } }
      const [receipt] = await bench.backend.send([bench.envelope({ links: forged as ReturnType<typeof childOf> })])
      assert.equal(receipt?.refused, 'lost')
    },
    'a parent that was asked to stop cannot make more children': async (bench) => {
      const { parent, children } = await runningParent(bench, ['one'])
      assert.deepEqual(await bench.store.cancel(parent.envelope.id, { tree: true }), { cancelled: 1, requested: 1, ended: 0 })
      const late = bench.envelope({ links: childOf(parent, 'two') })
      assert.deepEqual(await bench.backend.send([late]), [{ id: late.id, stored: false, refused: 'cancelled' }])
      await bench.settle(bench.cancelled(parent))
      await assertStates(bench, { [parent.envelope.id]: 'cancelled', [children[0] as string]: 'cancelled' })
      assert.equal(await bench.store.get(late.id), null)
    },
    'a child whose unique key is taken is the job that holds it': async (bench) => {
      const holder = await bench.sendOne({ uniqueKey: 'key' })
      const { parent } = await runningParent(bench, [])
      const [receipt] = await bench.backend.send([bench.envelope({ uniqueKey: 'key', links: childOf(parent, 'one') })])
      assert.deepEqual(receipt, { id: holder, stored: false })
      assert.deepEqual(await bench.backend.settle([bench.done(parent, { keep: true })]), ['blocked'])
      await succeed(bench, holder)
      await assertStates(bench, { [parent.envelope.id]: 'succeeded' })
    },
    'a child is not made if a job that waits for its parent holds its unique key': async (bench) => {
      const top = await bench.sendOne({ uniqueKey: 'top' })
      const parent = await claimJob(bench, top)
      const self = bench.envelope({ uniqueKey: 'top', links: childOf(parent, 'self') })
      assert.deepEqual(await bench.backend.send([self]), [{ id: top, stored: false, refused: 'circular' }])
      const middle = await bench.sendOne({ links: childOf(parent, 'middle') })
      await bench.backend.settle([{ token: parent.token, kind: 'wait' }])
      const deep = await bench.sendOne({ links: childOf(await claimJob(bench, middle), 'deep') })
      const lowest = await claimJob(bench, deep)
      const [back, beside] = ['top', 'other'].map((uniqueKey) => bench.envelope({ uniqueKey, links: childOf(lowest, uniqueKey) }))
      const receipts = await bench.backend.send([back as Envelope, beside as Envelope])
      assert.deepEqual(receipts, [
        { id: top, stored: false, refused: 'circular' },
        { id: beside?.id, stored: true },
      ])
      assert.deepEqual(
        (await bench.store.links(deep)).map(({ id }) => id),
        [beside?.id],
      )
    },
    'a child may wait for its siblings, and have children of its own': async (bench) => {
      const { parent, children } = await runningParent(bench, ['one'])
      const links = { ...childOf(parent, 'two'), waitsFor: waitsFor(children).waitsFor }
      const [second] = await bench.send({ links })
      await bench.backend.settle([bench.done(parent, { keep: true })])
      const first = await claimJob(bench, children[0] as string)
      const grandchild = await bench.sendOne({ links: { ...childOf(first, 'deep'), root: parent.envelope.id } })
      assert.deepEqual(await bench.backend.settle([bench.done(first, { keep: true })]), ['blocked'])
      await assertStates(bench, { [second as string]: 'blocked' })
      await succeed(bench, grandchild)
      await assertStates(bench, { [children[0] as string]: 'succeeded', [second as string]: 'ready' })
      await succeed(bench, second as string)
      await assertStates(bench, { [parent.envelope.id]: 'succeeded' })
    },
    'a job that depends on a parent waits for its children too': async (bench) => {
      const { parent, children } = await runningParent(bench, ['one'])
      const after = await bench.sendOne({ links: waitsFor([parent.envelope.id]) })
      await bench.backend.settle([bench.done(parent, { keep: false, result: '"all"' })])
      await assertStates(bench, { [after]: 'blocked' })
      await succeed(bench, children[0] as string)
      await assertStates(bench, { [after]: 'ready' })
      assert.equal((await bench.store.links(after))[0]?.result, '"all"')
    },
    'a parent that does not succeed does not touch its children': async (bench) => {
      const { parent, children } = await runningParent(bench, ['one'])
      await bench.settle(bench.dead(parent))
      await succeed(bench, children[0] as string)
      await assertStates(bench, { [parent.envelope.id]: 'dead', [children[0] as string]: 'succeeded' })
    },
    'a parent that was asked to stop does not wait for its children': async (bench) => {
      const { parent, children } = await runningParent(bench, ['one'])
      await bench.store.cancel(parent.envelope.id)
      assert.deepEqual(await bench.backend.settle([bench.done(parent, { keep: true })]), ['cancelled'])
      await assertStates(bench, { [parent.envelope.id]: 'cancelled', [children[0] as string]: 'ready' })
    },
    'a parent that was cancelled with its children is cancelled, not dead because of them': async (bench) => {
      const ends = [
        (lease: Lease) => bench.done(lease, { keep: true }),
        (lease: Lease): Settlement => ({ token: lease.token, kind: 'wait' }),
      ]
      for (const end of ends) {
        const { parent, children } = await runningParent(bench, ['one'])
        await bench.store.cancel(parent.envelope.id, { tree: true })
        assert.deepEqual(await bench.backend.settle([end(parent)]), ['cancelled'])
        await assertStates(bench, { [parent.envelope.id]: 'cancelled', [children[0] as string]: 'cancelled' })
      }
    },
    'a parent that was asked to stop while it left to wait gets its attempt back': async (bench) => {
      const { parent } = await runningParent(bench, ['one'])
      await bench.store.cancel(parent.envelope.id)
      assert.deepEqual(await bench.backend.settle([{ token: parent.token, kind: 'wait' }]), ['cancelled'])
      assert.equal((await bench.record(parent.envelope.id)).attempts, 0)
    },
    'a retried parent makes its failed children again and keeps the others': async (bench) => {
      const { parent, children } = await runningParent(bench, ['good', 'bad'])
      const id = parent.envelope.id
      await succeed(bench, children[0] as string)
      await die(bench, children[1] as string)
      await bench.backend.settle([bench.done(parent, { keep: true })])
      await bench.store.retry([id])
      const again = await claimJob(bench, id)
      const receipts = await bench.backend.send(['good', 'bad'].map((key) => bench.envelope({ links: childOf(again, key) })))
      assert.deepEqual(
        receipts.map(({ stored }) => stored),
        [false, true],
      )
      assert.deepEqual(await bench.backend.settle([bench.done(again, { keep: true })]), ['blocked'])
      await succeed(bench, receipts[1]?.id as string)
      await assertStates(bench, { [id]: 'succeeded' })
    },
  },
}
