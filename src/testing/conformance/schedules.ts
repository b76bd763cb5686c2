import assert from 'node:assert/strict'
import type { Occurrence } from '../../backends/store.ts'
import type { Bench, Wanted } from './bench.ts'
import { times } from './bench.ts'
import { oddName } from './sending.ts'
import type { Group } from './suite.ts'

const minute = 60_000

function occurrence(bench: Bench, at: number, schedule = 'digest', wanted: Wanted = {}): Occurrence {
  return { schedule, at, envelope: bench.envelope({ runAt: at, ...wanted }) }
}

function entry(expression = '* * * * *', timezone = 'UTC', name = 'digest') {
  return { name, expression, timezone }
}

export const schedules: Group = {
  title: 'schedules',
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
    'two schedules do not meet, also not at the same instant for the same job': async (bench) => {
      const at = bench.clock.now()
      const both = [occurrence(bench, at, 'one'), occurrence(bench, at, oddName)]
      assert.deepEqual(await bench.store.schedules.enqueue(both), [true, true])
      assert.equal((await bench.claim()).length, 2)
    },
    'an occurrence that ran and was deleted does not come again (X37)': async (bench) => {
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
    'a changed expression withdraws what still waits, and its instants may be stored anew': async (bench) => {
      const { schedules } = bench.store
      await schedules.register([entry('* * * * *')])
      const [due, first, second] = [0, 1, 2].map((minutes) => occurrence(bench, bench.clock.now() + minutes * minute))
      assert.ok(due && first && second)
      await schedules.enqueue([due, first, second])
      await schedules.register([entry('*/2 * * * *')])
      assert.equal(await bench.store.get(first.envelope.id), null)
      assert.equal(await bench.store.get(second.envelope.id), null)
      assert.deepEqual(await schedules.enqueue([occurrence(bench, due.at), occurrence(bench, second.at)]), [false, true])
      await bench.clock.advance(2 * minute)
      assert.equal((await bench.claim()).length, 2)
    },
    'a changed time zone withdraws as well': async (bench) => {
      const { schedules } = bench.store
      await schedules.register([entry('0 9 * * *', 'UTC')])
      const waiting = occurrence(bench, bench.clock.now() + minute)
      await schedules.enqueue([waiting])
      await schedules.register([entry('0 9 * * *', 'Europe/Paris')])
      assert.equal(await bench.store.get(waiting.envelope.id), null)
    },
    'registering the same again, or another schedule, withdraws nothing': async (bench) => {
      const { schedules } = bench.store
      await schedules.register([entry(), entry('0 0 * * *', 'UTC', 'other')])
      const waiting = occurrence(bench, bench.clock.now() + minute)
      await schedules.enqueue([waiting])
      await schedules.register([entry(), entry('0 1 * * *', 'UTC', 'other')])
      assert.equal((await bench.record(waiting.envelope.id)).state, 'scheduled')
    },
    'a withdrawal leaves alone what runs, what has ended and what was dispatched by hand': async (bench) => {
      const { schedules } = bench.store
      await schedules.register([entry()])
      const now = bench.clock.now()
      await schedules.enqueue([occurrence(bench, now), occurrence(bench, now - minute)])
      const [one] = await bench.claim()
      assert.ok(one)
      await bench.settle(bench.done(one, { keep: true }))
      await bench.send({ delayMs: minute })
      await schedules.register([entry('0 0 * * *')])
      const states = (await bench.store.list({ limit: 10 })).map(({ state }) => state)
      assert.deepEqual([...states].sort(), ['running', 'scheduled', 'succeeded'])
    },
    'a withdrawn job leaves the counts and frees its unique key': async (bench) => {
      const { schedules } = bench.store
      await schedules.register([entry()])
      await schedules.enqueue([occurrence(bench, bench.clock.now() + minute, 'digest', { uniqueKey: 'k' })])
      await schedules.register([entry('0 0 * * *')])
      assert.equal(
        (await bench.store.counts()).reduce((sum, { counts }) => sum + counts.scheduled, 0),
        0,
      )
      await bench.send({ uniqueKey: 'k' })
    },
    'schedules are listed with their last and next occurrence': async (bench) => {
      const { schedules } = bench.store
      const now = bench.clock.now()
      await schedules.register([entry('*/5 * * * *', 'Asia/Tokyo', oddName), entry('0 0 * * *', 'UTC', 'never-ran')])
      await schedules.enqueue([-2, -1, 1, 2].map((minutes) => occurrence(bench, now + minutes * minute, oddName)))
      const listed = [...(await schedules.list())].sort((a, b) => (a.name === 'never-ran' ? 1 : b.name === 'never-ran' ? -1 : 0))
      assert.deepEqual(
        listed.map((each) => ({ ...each })),
        [
          { ...entry('*/5 * * * *', 'Asia/Tokyo', oddName), lastAt: now - minute, nextAt: now + minute },
          { ...entry('0 0 * * *', 'UTC', 'never-ran'), lastAt: null, nextAt: null },
        ],
      )
    },
    'a schedule is listed as it was registered last': async (bench) => {
      const { schedules } = bench.store
      await schedules.register([entry('* * * * *')])
      await schedules.register([entry('0 0 * * *', 'Europe/Paris')])
      const listed = await schedules.list()
      assert.deepEqual([listed.length, listed[0]?.expression, listed[0]?.timezone], [1, '0 0 * * *', 'Europe/Paris'])
    },
    'old occurrences are forgotten, at most as many as asked for': async (bench) => {
      const { schedules } = bench.store
      const now = bench.clock.now()
      await schedules.enqueue([-3, -2, -1, 0].map((minutes) => occurrence(bench, now + minutes * minute)))
      assert.equal(await schedules.forget(now, 2), 2)
      assert.equal(await schedules.forget(now, 10), 1)
      assert.equal(await schedules.forget(now, 10), 0)
      assert.deepEqual(await schedules.enqueue([occurrence(bench, now)]), [false])
      assert.equal((await bench.claim()).length, 4)
    },
  },
}
