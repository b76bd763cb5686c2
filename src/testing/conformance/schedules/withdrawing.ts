import assert from 'node:assert/strict'
import { oddName } from '../claiming/sending.ts'
import type { Group } from '../suite.ts'
import { entry, minute, occurrence, remade, scheduled, standing, statesOf, waitingCount } from './schedules.ts'

export const withdrawing: Group = {
  title: 'withdrawing occurrences',
  needs: ['store'],
  tests: {
    'a changed expression withdraws waiting occurrences, and their instants can be stored again': async (bench) => {
      const { schedules } = bench.store
      const [due, first, second] = await scheduled(bench, 0, 1, 2)
      assert.ok(due && first && second)
      await schedules.register([entry('*/2 * * * *')])
      assert.deepEqual(await statesOf(bench, [due, first, second]), ['ready', undefined, undefined])
      assert.equal((await standing(bench)).latest?.at, due.at)
      assert.deepEqual(await schedules.enqueue([occurrence(bench, due.at), occurrence(bench, second.at)]), [false, true])
      await bench.clock.advance(2 * minute)
      assert.equal((await bench.claim()).length, 2)
    },
    'a changed time zone withdraws as well': async (bench) => {
      const [waiting] = await scheduled(bench, 1)
      assert.ok(waiting)
      await bench.store.schedules.register([entry('* * * * *', 'Europe/Paris')])
      assert.deepEqual(await statesOf(bench, [waiting]), [undefined])
    },
    'a changed version withdraws future occurrences, not due ones, and continues from the same point': async (bench) => {
      const { schedules } = bench.store
      const since = bench.clock.now()
      const [due, waiting] = await scheduled(bench, 1, 2)
      assert.ok(due && waiting)
      await bench.clock.advance(minute)
      await schedules.register([remade(oddName)])
      assert.deepEqual(await statesOf(bench, [due, waiting]), ['scheduled', undefined])
      assert.equal((await bench.claimOne()).envelope.id, due.envelope.id)
      const { version, since: still, latest } = await standing(bench)
      assert.deepEqual([version, still, latest?.at], [oddName, since, due.at])
      assert.deepEqual(await schedules.enqueue([occurrence(bench, waiting.at)]), [true])
    },
    'registering the same again, or another schedule, withdraws nothing': async (bench) => {
      const { schedules } = bench.store
      const waiting = await scheduled(bench, 1)
      await schedules.register([entry(), entry('0 0 * * *', 'UTC', 'other')])
      await schedules.register([entry(), entry('0 1 * * *', 'UTC', 'other')])
      assert.deepEqual(await statesOf(bench, waiting), ['scheduled'])
    },
    'a withdrawal does not touch running, ended or manually dispatched jobs': async (bench) => {
      await scheduled(bench, 0, -1)
      const [one] = await bench.claim()
      assert.ok(one)
      await bench.settle(bench.done(one, { keep: true }))
      await bench.send({ delayMs: minute })
      await bench.store.schedules.register([entry('0 0 * * *')])
      const states = (await bench.store.list({ limit: 10 })).map(({ state }) => state)
      assert.deepEqual([...states].sort(), ['running', 'scheduled', 'succeeded'])
    },
    'a withdrawal does not touch jobs that wait for another attempt': async (bench) => {
      const begun = await scheduled(bench, 0, 0.1)
      await bench.clock.advance(minute)
      const [one, two] = await bench.claim()
      assert.ok(one && two)
      await bench.settle(bench.retry(one, minute), bench.snooze(two, minute))
      await bench.store.schedules.change('digest', 'pause')
      assert.deepEqual(await statesOf(bench, begun), ['scheduled', 'scheduled'])
    },
    'a withdrawn job is no longer counted and frees its unique key': async (bench) => {
      const { schedules } = bench.store
      await schedules.register([entry()])
      await schedules.enqueue([occurrence(bench, bench.clock.now() + minute, 'digest', { uniqueKey: 'k' })])
      await schedules.register([entry('0 0 * * *')])
      assert.equal(await waitingCount(bench), 0)
      await bench.send({ uniqueKey: 'k' })
    },
  },
}
