import assert from 'node:assert/strict'
import { treeCounts } from '../../../queue/contract/queue-counts.ts'
import { times, until } from '../bench.ts'
import type { Group } from '../suite.ts'
import { assertStates, claimJob, die, endJob, knownEnds, sendWaiting, succeed, waitsFor } from './links.ts'

export const dependencies: Group = {
  title: 'jobs that wait for others',
  needs: ['store'],
  tests: {
    'a job that depends on another is blocked until that one has succeeded (X6)': async (bench) => {
      const first = await bench.sendOne()
      const second = await sendWaiting(bench, [first])
      await assertStates(bench, { [first]: 'ready', [second]: 'blocked' })
      assert.deepEqual(await bench.claimedIds({ limit: 1 }), [first])
      await bench.assertNothingClaimable()
      await bench.clock.advance(60_000)
      await succeed(bench, first)
      assert.equal((await bench.claimOne()).envelope.id, second)
    },
    'it waits for all of them': async (bench) => {
      const [one, two, three] = (await bench.send({}, {}, {})) as [string, string, string]
      const last = await sendWaiting(bench, [one, two, three])
      await succeed(bench, two)
      await succeed(bench, one)
      await assertStates(bench, { [last]: 'blocked' })
      await succeed(bench, three)
      await assertStates(bench, { [last]: 'ready' })
    },
    'jobs of one batch may wait for each other in any order': async (bench) => {
      const [a, b, c] = times(3, () => bench.newId()) as [string, string, string]
      await bench.send({ id: c, links: waitsFor([b, a]) }, { id: b, links: waitsFor([a]) }, { id: a })
      await assertStates(bench, { [a]: 'ready', [b]: 'blocked', [c]: 'blocked' })
      await succeed(bench, a)
      await assertStates(bench, { [b]: 'ready', [c]: 'blocked' })
      await succeed(bench, b)
      await assertStates(bench, { [c]: 'ready' })
    },
    'a job does not wait for another one in whose place it stands itself': async (bench) => {
      const [one, other] = times(2, () => bench.newId()) as [string, string]
      const waiter = bench.envelope({ id: one, uniqueKey: 'same', links: waitsFor([other]) })
      const receipts = await bench.backend.send([waiter, bench.envelope({ id: other, uniqueKey: 'same' })])
      assert.deepEqual(
        receipts.map(({ id }) => id),
        [one, one],
      )
      await assertStates(bench, { [one]: 'ready' })
    },
    'a job that has already succeeded is not waited for': async (bench) => {
      const first = await bench.sendOne()
      await succeed(bench, first, '{"n":1}')
      const second = await sendWaiting(bench, [first])
      await assertStates(bench, { [second]: 'ready' })
      assert.deepEqual(await knownEnds(bench, second), [{ state: 'succeeded', result: '{"n":1}', error: null }])
    },
    'a job whose time has not come is scheduled when it is released': async (bench) => {
      const first = await bench.sendOne()
      const second = await sendWaiting(bench, [first], 'fail', { delayMs: 10_000 })
      await succeed(bench, first)
      await assertStates(bench, { [second]: 'scheduled' })
      await bench.clock.advance(10_000)
      assert.equal((await bench.claimOne()).envelope.id, second)
    },
    'the result of a job is available to its dependents, even if the job is deleted at once': async (bench) => {
      const first = await bench.sendOne({ payload: '"first"' })
      const second = await sendWaiting(bench, [first])
      await endJob(bench, first, (lease) => bench.done(lease, { result: '{"pages":3}' }))
      assert.equal(await bench.store.get(first), null)
      assert.deepEqual(await bench.store.links(second), [
        {
          kind: 'dependency',
          id: first,
          job: 'work',
          key: null,
          onFailure: 'fail',
          state: 'succeeded',
          waiting: false,
          result: '{"pages":3}',
          seal: null,
          error: null,
        },
      ])
      await assertStates(bench, { [second]: 'ready' })
    },
    'what a job waits for is listed in the given order, with its state': async (bench) => {
      const [one, two, three] = (await bench.send({}, { delayMs: 5_000 }, {})) as [string, string, string]
      const last = await sendWaiting(bench, [three, one, two], 'ignore')
      await die(bench, one)
      await claimJob(bench, three)
      const links = await bench.store.links(last)
      assert.deepEqual(
        links.map(({ id, state, waiting, error }) => [id, state, waiting, error]),
        [
          [three, 'running', true, null],
          [one, 'dead', false, 'it broke'],
          [two, 'scheduled', true, null],
        ],
      )
      assert.deepEqual(await bench.store.links(one), [])
      assert.deepEqual(await bench.store.links(bench.newId()), [])
    },
    'a retry or a snooze is not an end, and a later attempt may succeed': async (bench) => {
      const first = await bench.sendOne()
      const second = await sendWaiting(bench, [first])
      await bench.settle(bench.retry(await claimJob(bench, first)))
      await bench.settle(bench.snooze(await claimJob(bench, first)))
      await assertStates(bench, { [second]: 'blocked' })
      await succeed(bench, first)
      await assertStates(bench, { [second]: 'ready' })
    },
    'a duplicate that was skipped with the result of the first run has succeeded': async (bench) => {
      const [one, two] = (await bench.send({}, {})) as [string, string]
      const after = await sendWaiting(bench, [one])
      const doomed = await sendWaiting(bench, [two])
      await endJob(bench, one, ({ token }) => ({ token, kind: 'skipped', why: 'a duplicate', result: '7', keep: false }))
      await endJob(bench, two, ({ token }) => ({ token, kind: 'skipped', why: 'a filter', keep: true }))
      await assertStates(bench, { [after]: 'ready', [doomed]: 'dead' })
      assert.deepEqual(await knownEnds(bench, after), [{ state: 'skipped', result: '7', error: null }])
    },
    'the same job named twice is waited for once': async (bench) => {
      const first = await bench.sendOne()
      const second = await sendWaiting(bench, [first, first])
      await succeed(bench, first)
      await assertStates(bench, { [second]: 'ready' })
    },
    'if a unique key is taken, the job that holds it is waited for': async (bench) => {
      const holder = await bench.sendOne({ uniqueKey: 'report' })
      const [refused, waiter] = [bench.envelope({ uniqueKey: 'report' }), bench.newId()]
      const receipts = await bench.backend.send([refused, bench.envelope({ id: waiter, links: waitsFor([refused.id]) })])
      assert.deepEqual(receipts, [
        { id: holder, stored: false },
        { id: waiter, stored: true },
      ])
      await assertStates(bench, { [waiter]: 'blocked' })
      await succeed(bench, holder)
      await assertStates(bench, { [waiter]: 'ready' })
    },
    'a blocked job can be rescheduled, and still waits': async (bench) => {
      const first = await bench.sendOne()
      const second = await sendWaiting(bench, [first])
      assert.equal((await bench.store.amend([{ id: second, runAt: bench.clock.now() + 5_000 }]))[0], 'moved')
      await assertStates(bench, { [second]: 'blocked' })
      await succeed(bench, first)
      await assertStates(bench, { [second]: 'scheduled' })
    },
    'blocked jobs are counted and listed': async (bench) => {
      const first = await bench.sendOne()
      const second = await sendWaiting(bench, [first])
      assert.deepEqual(
        (await bench.store.list({ state: 'blocked', limit: 10 })).map(({ id, parent, root }) => [id, parent, root]),
        [[second, null, first]],
      )
      assert.equal((await bench.store.counts())[0]?.counts.blocked, 1)
      await succeed(bench, first)
      assert.deepEqual(await bench.store.list({ state: 'blocked', limit: 10 }), [])
    },
    'a worker that sleeps is woken when a blocked job becomes ready': async (bench) => {
      const first = await bench.sendOne()
      await sendWaiting(bench, [first])
      const lease = await claimJob(bench, first)
      let wakes = 0
      const watch = bench.backend.watch(() => wakes++)
      await bench.settle(bench.done(lease))
      await until(() => wakes > 0, 'the release woke the watcher')
      watch.close()
    },
    'ten thousand jobs that wait for one are all released, and so is one that waits for ten thousand': async (bench) => {
      const count = 10_000
      const first = await bench.sendOne()
      const members = times(count, () => bench.newId())
      await bench.send(...members.map((id) => ({ id, links: waitsFor([first], 'fail', { root: 'fan' }) })))
      const last = await bench.sendOne({ links: waitsFor(members, 'ignore', { root: 'fan' }) })
      await succeed(bench, first)
      assert.equal((await treeCounts(bench.store, 'fan')).counts.ready, count)
      const leases = await bench.claim({ limit: count })
      assert.equal(leases.length, count)
      await bench.settle(...leases.map((lease) => bench.done(lease, { keep: true })))
      await assertStates(bench, { [last]: 'ready' })
    },
  },
}
