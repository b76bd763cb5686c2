import assert from 'node:assert/strict'
import { treeCounts } from '../../../queue/contract/queue-counts.ts'
import { times } from '../bench.ts'
import type { Group } from '../suite.ts'
import { assertStates, childOf, claimJob, die, endJob, runningParent, sendWaiting, succeed, waitsFor } from './links.ts'

const none = { ready: 0, scheduled: 0, blocked: 0, running: 0, succeeded: 0, dead: 0, cancelled: 0, skipped: 0 }

export const trees: Group = {
  title: 'workflows as a whole',
  needs: ['store'],
  tests: {
    'the jobs of a workflow are counted by their states': async (bench) => {
      const { parent, children } = await runningParent(bench, ['one', 'two', 'three'])
      const root = parent.envelope.id
      assert.deepEqual(await treeCounts(bench.store, root), { total: 4, counts: { ...none, running: 1, ready: 3 } })
      await succeed(bench, children[0] as string)
      await bench.backend.settle([bench.done(parent)])
      assert.deepEqual(await treeCounts(bench.store, root), { total: 4, counts: { ...none, blocked: 1, ready: 2, succeeded: 1 } })
      assert.deepEqual(await treeCounts(bench.store, bench.newId()), { total: 0, counts: none })
    },
    'deleted jobs of a workflow are counted while any other of its jobs exists': async (bench) => {
      const { parent, children } = await runningParent(bench, ['one', 'two'])
      const root = parent.envelope.id
      await bench.backend.settle([bench.done(parent)])
      await endJob(bench, children[0] as string, (lease) => bench.done(lease))
      assert.deepEqual((await treeCounts(bench.store, root)).counts, { ...none, blocked: 1, ready: 1, succeeded: 1 })
      await die(bench, children[1] as string)
      assert.equal(await bench.store.remove({ state: 'dead', ids: [children[1] as string], limit: 1 }), 1)
      assert.deepEqual((await treeCounts(bench.store, root)).counts, { ...none, dead: 2, succeeded: 1 })
      assert.equal(await bench.store.remove({ state: 'dead', limit: 10 }), 1)
      assert.equal((await treeCounts(bench.store, root)).total, 0)
    },
    'each job names its parent and its root, and a list can be limited to one workflow': async (bench) => {
      const { parent, children } = await runningParent(bench, ['one'])
      const root = parent.envelope.id
      await bench.send({})
      assert.deepEqual(
        (await bench.store.list({ root, limit: 10 })).map((job) => [job.id, job.parent, job.root]),
        [
          [children[0], root, root],
          [root, null, root],
        ],
      )
    },
    'cancelling a tree ends a job’s children and dependents, and asks running ones to stop': async (bench) => {
      const { parent, children } = await runningParent(bench, ['one', 'two', 'three'])
      const root = parent.envelope.id
      const [done, busy, idle] = children as [string, string, string]
      await succeed(bench, done)
      const lease = await claimJob(bench, busy)
      const grandchild = await bench.sendOne({ links: { ...childOf(lease, 'deep'), root } })
      const after = await sendWaiting(bench, [root])
      const muchLater = await sendWaiting(bench, [after], 'ignore')
      const other = await bench.sendOne()
      await bench.backend.settle([bench.done(parent, { keep: true })])
      assert.deepEqual(await bench.store.cancel(root, { tree: true }), { cancelled: 5, requested: 1, ended: 1 })
      await assertStates(bench, {
        [root]: 'cancelled',
        [done]: 'succeeded',
        [busy]: 'running',
        [idle]: 'cancelled',
        [grandchild]: 'cancelled',
        [after]: 'cancelled',
        [muchLater]: 'cancelled',
        [other]: 'ready',
      })
      assert.deepEqual((await bench.lease({ limit: 0 })).cancelled, [lease.token])
      await bench.settle(bench.cancelled(lease))
      await assertStates(bench, { [busy]: 'cancelled' })
    },
    'cancelling a child and its tree leaves the rest to the parent’s failure policy': async (bench) => {
      const { parent, children } = await runningParent(bench, ['one', 'two'])
      await bench.backend.settle([bench.done(parent, { keep: true })])
      assert.deepEqual(await bench.store.cancel(children[0] as string, { tree: true }), { cancelled: 1, requested: 0, ended: 0 })
      await assertStates(bench, { [parent.envelope.id]: 'dead', [children[1] as string]: 'ready' })
    },
    'cancelling by the name of a workflow ends all of its jobs': async (bench) => {
      const root = bench.newId()
      const members = times(3, () => bench.newId())
      await bench.send(...members.map((id) => ({ id, links: waitsFor([], 'fail', { root }) })))
      const last = await bench.sendOne({ links: waitsFor(members, 'ignore', { root }) })
      await succeed(bench, members[0] as string)
      assert.deepEqual(await bench.store.cancel(root, { tree: true }), { cancelled: 3, requested: 0, ended: 1 })
      await assertStates(bench, { [last]: 'cancelled' })
      assert.deepEqual(await bench.store.cancel(bench.newId(), { tree: true }), { cancelled: 0, requested: 0, ended: 0 })
    },
    'an ordinary job is a tree of its own when it is cancelled': async (bench) => {
      const id = await bench.sendOne()
      assert.deepEqual(await bench.store.cancel(id, { tree: true }), { cancelled: 1, requested: 0, ended: 0 })
      assert.deepEqual(await bench.store.cancel(id, { tree: true }), { cancelled: 0, requested: 0, ended: 1 })
    },
  },
}
