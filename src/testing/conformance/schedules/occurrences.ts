import assert from 'node:assert/strict'
import type { Lease } from '../../../queue/contract/contract.ts'
import { lastOccurrences } from '../../../queue/contract/schedule-store.ts'
import { times } from '../bench.ts'
import { oddName } from '../claiming/sending.ts'
import type { Group } from '../suite.ts'
import { entry, minute, occurrence, remade, scheduled } from './schedules.ts'

export const occurrences: Group = {
  title: 'occurrences of schedules',
  needs: ['store'],
  tests: {
    'an occurrence is stored once, however often it is offered (J20)': async (bench) => {
      const { schedules } = bench.store
      const at = bench.clock.now() + minute
      assert.deepEqual(await schedules.enqueue([occurrence(bench, at)]), [true])
      assert.deepEqual(await schedules.enqueue([occurrence(bench, at), occurrence(bench, at + minute)]), [false, true])
      assert.deepEqual(await schedules.enqueue([]), [])
      await bench.clock.advance(2 * minute)
      assert.equal((await bench.claim()).length, 2)
    },
    'any number of schedulers store an occurrence once (X37)': async (bench) => {
      const at = bench.clock.now()
      const answers = await Promise.all(
        times(10, () => bench.store.schedules.enqueue([occurrence(bench, at), occurrence(bench, at + minute)])),
      )
      assert.equal(answers.flat().filter((stored) => stored).length, 2)
      assert.equal((await bench.claim()).length, 1)
    },
    'the same occurrence twice in one call is stored once': async (bench) => {
      const at = bench.clock.now()
      assert.deepEqual(await bench.store.schedules.enqueue([occurrence(bench, at), occurrence(bench, at)]), [true, false])
    },
    'two schedules are independent, even at the same instant for the same job': async (bench) => {
      const at = bench.clock.now()
      const both = [occurrence(bench, at, 'one'), occurrence(bench, at, oddName)]
      assert.deepEqual(await bench.store.schedules.enqueue(both), [true, true])
      assert.equal((await bench.claim()).length, 2)
    },
    'an occurrence that ran and was deleted is not stored again (X37)': async (bench) => {
      const at = bench.clock.now()
      await bench.store.schedules.enqueue([occurrence(bench, at)])
      await bench.settle(bench.done(await bench.claimOne()))
      await bench.clock.advance(minute)
      assert.deepEqual(await bench.store.schedules.enqueue([occurrence(bench, at)]), [false])
      await bench.assertNothingClaimable()
    },
    'an occurrence becomes a job that waits for its instant and knows its schedule': async (bench) => {
      const each = occurrence(bench, bench.clock.now() + minute, oddName)
      await bench.store.schedules.enqueue([each])
      const record = await bench.record(each.envelope.id)
      assert.deepEqual([record.state, record.schedule, record.runAt], ['scheduled', oddName, each.at])
      await bench.clock.advance(minute - 1)
      await bench.assertNothingClaimable()
      await bench.clock.advance(1)
      assert.equal((await bench.claimOne()).envelope.id, each.envelope.id)
    },
    'a scheduled job may also be dispatched by hand, at the same instant (J20)': async (bench) => {
      const at = bench.clock.now()
      await bench.store.schedules.enqueue([occurrence(bench, at)])
      await bench.send({ runAt: at })
      assert.equal((await bench.claim()).length, 2)
    },
    'an occurrence whose unique key is taken is not stored, and may be offered again': async (bench) => {
      const { schedules } = bench.store
      const at = bench.clock.now()
      await bench.send({ uniqueKey: 'k' })
      const barred = () => occurrence(bench, at, 'digest', { uniqueKey: 'k' })
      assert.deepEqual(await schedules.enqueue([barred(), occurrence(bench, at + minute)]), [false, true])
      assert.deepEqual(await schedules.occurrences({ keys: [{ schedule: 'digest', at }] }), [null])
      assert.equal((await schedules.neighbours({ schedule: 'digest', at: at + minute })).unended, null)
      await bench.settle(bench.done(await bench.claimOne()))
      assert.deepEqual(await schedules.enqueue([barred()]), [true])
    },
    'an occurrence that follows another is stored only while that is the latest': async (bench) => {
      const { schedules } = bench.store
      const at = bench.clock.now()
      const after = (follows: number | null, instant: number) => schedules.enqueue([{ ...occurrence(bench, instant), follows }])
      assert.deepEqual(await after(at - minute, at), [false])
      assert.deepEqual(await after(null, at), [true])
      assert.deepEqual(await after(null, at + minute), [false])
      assert.deepEqual(await after(at, at + minute), [true])
      assert.deepEqual(await after(at, at + 2 * minute), [false])
      assert.deepEqual(await schedules.enqueue([occurrence(bench, at + 3 * minute, 'other')]), [true])
      assert.deepEqual(await after(at + minute, at + 2 * minute), [true])
    },
    'occurrences of one call may follow each other, and a break in the chain ends it': async (bench) => {
      const at = bench.clock.now()
      const chain = [
        { ...occurrence(bench, at), follows: null },
        { ...occurrence(bench, at + minute), follows: at },
        { ...occurrence(bench, at + 3 * minute), follows: at + 2 * minute },
        { ...occurrence(bench, at + 4 * minute), follows: at + 3 * minute },
      ]
      assert.deepEqual(await bench.store.schedules.enqueue(chain), [true, true, false, false])
    },
    'of ten schedulers that go on from the same latest occurrence to different ones, one does (X37)': async (bench) => {
      const [latest] = await scheduled(bench, 0)
      assert.ok(latest)
      const answers = await Promise.all(
        times(10, (index) =>
          bench.store.schedules.enqueue([{ ...occurrence(bench, latest.at + index + 1), follows: latest.at }]),
        ),
      )
      assert.equal(answers.flat().filter((stored) => stored).length, 1)
    },
    'an occurrence of a version is stored only while its schedule is registered with that version': async (bench) => {
      const { schedules } = bench.store
      const at = bench.clock.now()
      const offer = (version: string, minutes: number, schedule = 'digest') =>
        schedules.enqueue([{ ...occurrence(bench, at + minutes * minute, schedule), version }])
      await schedules.register([entry()])
      assert.deepEqual([await offer('v2', 1), await offer('v1', 1)], [[false], [true]])
      await schedules.register([remade(oddName)])
      assert.deepEqual([await offer('v1', 2), await offer(oddName, 2)], [[false], [true]])
      assert.deepEqual(await schedules.occurrences({ keys: [{ schedule: 'digest', at: at + minute }] }), [null])
      assert.deepEqual(await schedules.enqueue([occurrence(bench, at + 3 * minute)]), [true])
      assert.deepEqual(await offer('any', 1, 'unregistered'), [true])
      await schedules.change('digest', 'remove')
      assert.deepEqual(await offer('v1', 4), [true])
    },
    'each occurrence of a call is checked against its own version and predecessor': async (bench) => {
      const { schedules } = bench.store
      const at = bench.clock.now()
      await schedules.register([entry(), entry('* * * * *', 'UTC', 'other', 'v2')])
      const offered = [
        { ...occurrence(bench, at), version: 'v1', follows: at - minute },
        { ...occurrence(bench, at), version: 'v2', follows: null },
        { ...occurrence(bench, at, 'other'), version: 'v2', follows: null },
        { ...occurrence(bench, at), version: 'v1', follows: null },
      ]
      assert.deepEqual(await schedules.enqueue(offered), [false, false, true, true])
    },
    'the last occurrences up to an instant are listed, latest first': async (bench) => {
      const { schedules } = bench.store
      const [first, second, third] = await scheduled(bench, -2, -1, 1)
      assert.ok(first && second && third)
      await schedules.enqueue([occurrence(bench, second.at + 1, 'other')])
      await bench.settle(bench.dead((await bench.claim({ limit: 1 }))[0] as Lease))
      const found = async (upTo: number, limit: number) =>
        (await lastOccurrences(schedules, 'digest', upTo, limit)).map(({ at }) => at)
      assert.deepEqual(await found(third.at, 10), [third.at, second.at, first.at])
      assert.deepEqual(await found(third.at - 1, 10), [second.at, first.at])
      assert.deepEqual(await found(third.at, 2), [third.at, second.at])
      assert.deepEqual([await found(third.at, 0), await found(first.at - 1, 10)], [[], []])
      assert.deepEqual(
        await schedules.occurrences({ schedule: 'digest', upTo: first.at, limit: 1 }),
        await schedules.occurrences({ keys: [first] }),
      )
      assert.deepEqual(await schedules.occurrences({ schedule: 'never', upTo: third.at, limit: 10 }), [])
    },
    'occurrences are found by schedule and instant, in the requested order': async (bench) => {
      const { schedules } = bench.store
      const at = bench.clock.now()
      const [one, two] = [occurrence(bench, at, oddName), occurrence(bench, at + minute, oddName)]
      await schedules.enqueue([one, two])
      const unended = { outcome: null, startedAt: null, finishedAt: null }
      assert.deepEqual(
        await schedules.occurrences({ keys: [two, { schedule: oddName, at: at + 1 }, { schedule: 'digest', at }, one] }),
        [
          { schedule: oddName, at: two.at, jobId: two.envelope.id, ...unended },
          null,
          null,
          { schedule: oddName, at, jobId: one.envelope.id, ...unended },
        ],
      )
      assert.deepEqual(await schedules.occurrences({ keys: [] }), [])
    },
  },
}
