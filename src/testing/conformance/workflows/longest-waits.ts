import assert from 'node:assert/strict'
import type { Group } from '../suite.ts'
import { assertStates, claimJob, die, endJob, runningParent, sendWaiting, succeed, waitsFor } from './links.ts'

export const longestWaits: Group = {
  title: 'nothing waits forever',
  needs: ['store'],
  tests: {
    'a job that has waited too long is dead, and says what it waited for': async (bench) => {
      const first = await bench.sendOne({ delayMs: 86_400_000 })
      const second = await bench.sendOne({ links: waitsFor([first], 'ignore', { longestWaitMs: 60_000 }) })
      const third = await sendWaiting(bench, [second], 'ignore')
      await bench.clock.advance(59_999)
      assert.equal((await bench.lease()).nextAt, bench.clock.now() + 1)
      await assertStates(bench, { [second]: 'blocked' })
      await bench.clock.advance(1)
      assert.deepEqual(await bench.claimedIds(), [third])
      const { state, reason, errors } = await bench.record(second)
      assert.deepEqual([state, reason], ['dead', 'dependency'])
      assert.match(errors.at(-1)?.message ?? '', new RegExp(`longer than 1m for "work" \\(${first}\\)`))
    },
    'the wait is counted from its beginning and ends with it': async (bench) => {
      const first = await bench.sendOne()
      const second = await bench.sendOne({ links: waitsFor([first], 'fail', { longestWaitMs: 60_000 }) })
      await bench.clock.advance(50_000)
      await succeed(bench, first)
      await bench.clock.advance(600_000)
      assert.equal((await bench.claimOne()).envelope.id, second)
    },
    'a parent does not wait for its children forever either': async (bench) => {
      const { parent, children } = await runningParent(bench, ['one'])
      await bench.backend.settle([bench.done(parent, { keep: true })])
      await bench.clock.advance(86_400_000)
      await bench.settle(...(await bench.claim()).map((lease) => bench.snooze(lease)))
      const { state, reason } = await bench.record(parent.envelope.id)
      assert.deepEqual([state, reason], ['dead', 'dependency'])
      await succeed(bench, children[0] as string)
    },
    'a circular wait is ended by the wait timeout': async (bench) => {
      const [a, b] = [bench.newId(), bench.newId()]
      await bench.send(
        { id: a, links: waitsFor([b], 'fail', { longestWaitMs: 1_000 }) },
        { id: b, links: waitsFor([a], 'fail', { longestWaitMs: 5_000 }) },
      )
      await bench.clock.advance(1_000)
      await bench.assertNothingClaimable()
      await assertStates(bench, { [a]: 'dead', [b]: 'dead' })
    },
    'jobs that time out together, one because of the other, end once': async (bench) => {
      const first = await bench.sendOne({ delayMs: 86_400_000 })
      const second = await bench.sendOne({ links: waitsFor([first], 'fail', { longestWaitMs: 60_000 }) })
      const third = await bench.sendOne({ links: waitsFor([second], 'fail', { longestWaitMs: 60_000 }) })
      await bench.clock.advance(60_000)
      await bench.assertNothingClaimable()
      await assertStates(bench, { [second]: 'dead', [third]: 'dead' })
      assert.deepEqual([(await bench.record(second)).errors.length, (await bench.record(third)).errors.length], [1, 1])
      const { blocked, dead } = (await bench.store.counts())[0]?.counts ?? {}
      assert.deepEqual([blocked, dead], [0, 2])
    },
    'the check for stuck waits finds nothing in a healthy queue': async (bench) => {
      const { parent, children } = await runningParent(bench, ['one'])
      await bench.backend.settle([bench.done(parent, { keep: true })])
      const first = await bench.sendOne()
      const second = await sendWaiting(bench, [first])
      assert.equal((await bench.store.sweep({ part: 'waits', limit: 100 })).changed, 0)
      await assertStates(bench, { [second]: 'blocked', [parent.envelope.id]: 'blocked' })
      await die(bench, first)
      await endJob(bench, children[0] as string, (lease) => bench.done(lease))
      assert.deepEqual(await bench.store.sweep({ part: 'waits', limit: 100 }), { looked: 0, changed: 0 })
    },
    'an occurrence that its schedule withdraws counts as failed': async (bench) => {
      const at = bench.clock.now() + 60_000
      const envelope = bench.envelope({ runAt: at, occurrence: at })
      await bench.store.schedules.register([{ name: 'work', expression: '* * * * *', timezone: 'UTC', version: '1' }])
      await bench.store.schedules.enqueue([{ schedule: 'work', at, envelope }])
      const doomed = await sendWaiting(bench, [envelope.id])
      const brave = await sendWaiting(bench, [envelope.id], 'ignore')
      await bench.store.schedules.change('work', 'pause')
      await assertStates(bench, { [doomed]: 'dead', [brave]: 'ready' })
    },
    'an occurrence that is skipped before it begins counts as failed': async (bench) => {
      const at = bench.clock.now() + 60_000
      const envelope = bench.envelope({ runAt: at, occurrence: at })
      await bench.store.schedules.enqueue([{ schedule: 'work', at, envelope }])
      const doomed = await sendWaiting(bench, [envelope.id])
      await bench.clock.advance(60_001)
      const now = bench.clock.now()
      await bench.store.schedules.skipWaiting({ schedule: 'work', before: now, unseenOnly: false, why: 'late' })
      await assertStates(bench, { [envelope.id]: 'skipped', [doomed]: 'dead' })
    },
    'an occurrence with children does not end before they do': async (bench) => {
      const at = bench.clock.now()
      const envelope = bench.envelope({ job: 'parent', occurrence: at })
      await bench.store.schedules.enqueue([{ schedule: 'parent', at, envelope }])
      const parent = await claimJob(bench, envelope.id)
      const links = {
        root: envelope.id,
        parent: { id: envelope.id, token: parent.token, key: 'one', onFailure: 'fail', longestWaitMs: 60_000 },
      }
      const child = await bench.sendOne({
        links: { ...links, waitsFor: [], longestWaitMs: 60_000 } as ReturnType<typeof waitsFor>,
      })
      await bench.backend.settle([bench.done(parent)])
      const key = { schedule: 'parent', at }
      assert.equal((await bench.store.schedules.occurrences({ keys: [key] }))[0]?.outcome, null)
      await succeed(bench, child)
      assert.equal((await bench.store.schedules.occurrences({ keys: [key] }))[0]?.outcome, 'succeeded')
    },
  },
}
