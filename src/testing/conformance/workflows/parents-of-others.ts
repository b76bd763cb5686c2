import assert from 'node:assert/strict'
import type { Links } from '../../../envelope/envelope.ts'
import type { Group } from '../suite.ts'
import { assertStates, claimJob, die, runningParent, succeed, waitsFor } from './links.ts'

/** The links of a child that is created for a parent without holding its lease. */
function childFor(parent: string, key: string): Links {
  const longestWaitMs = 86_400_000
  const link = { id: parent, token: null, key, onFailure: 'fail', longestWaitMs } as const
  return { root: parent, parent: link, waitsFor: [], longestWaitMs }
}

export const parentsOfOthers: Group = {
  title: 'children that others make',
  needs: ['store'],
  tests: {
    'a running job waits for a child that another program made': async (bench) => {
      const { parent } = await runningParent(bench, [])
      const id = parent.envelope.id
      const [child] = (await bench.send({ links: childFor(id, 'one') })) as [string]
      assert.deepEqual([(await bench.record(child)).parent, (await bench.record(child)).root], [id, id])
      assert.deepEqual(await bench.backend.settle([bench.done(parent, { keep: true })]), ['blocked'])
      await succeed(bench, child)
      await assertStates(bench, { [id]: 'succeeded' })
    },
    'a job that may end only without children is kept while it has one to wait for': async (bench) => {
      for (const end of [{ keep: true }, { keep: true, result: '1' }, {}]) {
        const [parent, lonely] = [(await runningParent(bench, [])).parent, (await runningParent(bench, [])).parent]
        const id = parent.envelope.id
        const child = await bench.sendOne({ links: childFor(id, 'one') })
        const settlements = [parent, lonely].map((lease) => bench.done(lease, { ...end, alone: true }))
        assert.deepEqual(await bench.backend.settle(settlements), ['blocked', 'applied'])
        const { state, result, leaseExpiresAt } = await bench.record(id)
        assert.deepEqual([state, result, leaseExpiresAt], ['running', null, parent.expiresAt])
        await succeed(bench, child)
        await bench.settle(bench.done(parent, { ...end, alone: true }))
      }
    },
    'a job that waits for its children may get more of them': async (bench) => {
      for (const end of ['done', 'wait'] as const) {
        const { parent, children } = await runningParent(bench, ['one'])
        const id = parent.envelope.id
        await bench.backend.settle([end === 'wait' ? bench.wait(parent) : bench.done(parent, { keep: true })])
        const [second] = (await bench.send({ links: childFor(id, 'two') })) as [string]
        await succeed(bench, children[0] as string)
        await assertStates(bench, { [id]: 'blocked' })
        await succeed(bench, second)
        await assertStates(bench, { [id]: end === 'done' ? 'succeeded' : 'ready' })
        if (end === 'wait') await bench.settle(bench.done(await claimJob(bench, id)))
      }
    },
    'if such a child fails, its parent fails': async (bench) => {
      const { parent } = await runningParent(bench, ['one'])
      const id = parent.envelope.id
      await bench.backend.settle([bench.done(parent, { keep: true })])
      await die(bench, await bench.sendOne({ links: childFor(id, 'two') }))
      await assertStates(bench, { [id]: 'dead' })
    },
    'a child key that exists already refers to the existing child': async (bench) => {
      const { parent, children } = await runningParent(bench, ['one'])
      const receipts = await bench.backend.send([
        bench.envelope({ links: childFor(parent.envelope.id, 'one') }),
        bench.envelope({ links: childFor(parent.envelope.id, 'two') }),
        bench.envelope({ links: childFor(parent.envelope.id, 'two') }),
      ])
      assert.deepEqual(
        receipts.map(({ stored }) => stored),
        [false, true, false],
      )
      assert.deepEqual([receipts[0]?.id, receipts[2]?.id], [children[0], receipts[1]?.id])
    },
    'a job that is not running or waiting for children cannot get a child': async (bench) => {
      const [ready, scheduled] = (await bench.send({ queue: 'other' }, { delayMs: 1_000 })) as [string, string]
      const blocked = await bench.sendOne({ links: waitsFor([ready]) })
      const ended = await bench.sendOne()
      await succeed(bench, ended)
      for (const id of [ready, scheduled, blocked, ended, bench.newId(), 'nothing']) {
        const child = bench.envelope({ links: childFor(id, 'one') })
        assert.deepEqual(await bench.backend.send([child]), [{ id: child.id, stored: false, refused: 'lost' }])
        assert.equal(await bench.store.get(child.id), null)
      }
    },
    'a running job that was asked to stop cannot get a child': async (bench) => {
      const { parent } = await runningParent(bench, [])
      await bench.store.cancel(parent.envelope.id)
      const child = bench.envelope({ links: childFor(parent.envelope.id, 'one') })
      assert.deepEqual(await bench.backend.send([child]), [{ id: child.id, stored: false, refused: 'cancelled' }])
    },
    'a child whose unique key its own parent holds is not made': async (bench) => {
      const id = await bench.sendOne({ uniqueKey: 'k' })
      await claimJob(bench, id)
      const self = bench.envelope({ uniqueKey: 'k', links: childFor(id, 'self') })
      assert.deepEqual(await bench.backend.send([self]), [{ id, stored: false, refused: 'circular' }])
    },
  },
}
