import assert from 'node:assert/strict'
import { nonZeroCounts, reality } from '../managing/listing.ts'
import type { Group } from '../suite.ts'
import { entry, minute, occurrence, scheduled, standing, statesOf, waitingCount } from './schedules.ts'

export const schedulePausing: Group = {
  title: 'pausing and removing schedules',
  needs: ['store'],
  tests: {
    'a paused schedule stores nothing and withdraws future occurrences, not due ones': async (bench) => {
      const { schedules } = bench.store
      const [due, waiting] = await scheduled(bench, 0, 1)
      assert.ok(due && waiting)
      assert.equal(await schedules.change('digest', 'pause'), true)
      assert.deepEqual(await statesOf(bench, [due, waiting]), ['ready', undefined])
      assert.equal(await waitingCount(bench), 1)
      assert.deepEqual(await schedules.enqueue([occurrence(bench, waiting.at)]), [false])
      assert.deepEqual(await schedules.occurrences({ keys: [waiting] }), [null])
      const [listed] = await schedules.list()
      assert.deepEqual([(await standing(bench)).paused, listed?.paused], [true, true])
    },
    'a due job that was not yet promoted stays when its schedule is paused': async (bench) => {
      const due = await scheduled(bench, 1)
      await bench.clock.advance(minute)
      await bench.store.schedules.change('digest', 'pause')
      assert.equal((await bench.claimOne()).envelope.id, due[0]?.envelope.id)
    },
    'pausing one schedule does not affect others': async (bench) => {
      const { schedules } = bench.store
      await schedules.register([entry(), entry('* * * * *', 'UTC', 'other')])
      const waiting = occurrence(bench, bench.clock.now() + minute, 'other')
      await schedules.enqueue([waiting])
      await schedules.change('digest', 'pause')
      assert.deepEqual(await statesOf(bench, [waiting]), ['scheduled'])
      assert.deepEqual(await schedules.enqueue([occurrence(bench, waiting.at + minute, 'other')]), [true])
    },
    'pausing twice is the same as once, and a missing schedule cannot be paused, resumed or removed': async (bench) => {
      const { schedules } = bench.store
      await schedules.register([entry()])
      assert.deepEqual([await schedules.change('digest', 'pause'), await schedules.change('digest', 'pause')], [true, true])
      assert.deepEqual([await schedules.change('digest', 'resume'), await schedules.change('digest', 'resume')], [true, true])
      assert.deepEqual(await schedules.enqueue([occurrence(bench, bench.clock.now(), 'unregistered')]), [true])
      for (const name of ['never', 'unregistered']) {
        assert.deepEqual(
          [await schedules.change(name, 'pause'), await schedules.change(name, 'resume'), await schedules.change(name, 'remove')],
          [false, false, false],
        )
      }
      assert.deepEqual(
        (await schedules.list()).map(({ name }) => name),
        ['digest'],
      )
    },
    'a resumed schedule counts from then on and stores occurrences again, even withdrawn ones': async (bench) => {
      const { schedules } = bench.store
      const [waiting] = await scheduled(bench, 3)
      assert.ok(waiting)
      await schedules.change('digest', 'pause')
      await bench.clock.advance(minute)
      await schedules.change('digest', 'resume')
      assert.deepEqual(await standing(bench), {
        name: 'digest',
        version: 'v1',
        since: bench.clock.now(),
        paused: false,
        latest: null,
      })
      assert.deepEqual(await schedules.enqueue([occurrence(bench, waiting.at)]), [true])
    },
    'resuming a schedule that was not paused changes nothing': async (bench) => {
      await scheduled(bench, 1)
      const before = await standing(bench)
      await bench.clock.advance(5)
      await bench.store.schedules.change('digest', 'resume')
      assert.deepEqual(await standing(bench), before)
    },
    'a paused schedule stays paused when its expression changes': async (bench) => {
      const { schedules } = bench.store
      await schedules.register([entry()])
      await schedules.change('digest', 'pause')
      await schedules.register([entry('0 0 * * *')])
      assert.equal((await standing(bench)).paused, true)
      assert.deepEqual(await schedules.enqueue([occurrence(bench, bench.clock.now())]), [false])
    },
    'a removed schedule takes its occurrences with it, and its future and due jobs that have not started': async (bench) => {
      const { schedules } = bench.store
      const [late, due, waiting] = await scheduled(bench, -1, 1, 2)
      assert.ok(late && due && waiting)
      await bench.clock.advance(minute)
      assert.equal(await schedules.change('digest', 'remove'), true)
      assert.deepEqual([await schedules.list(), await schedules.standings()], [[], []])
      assert.deepEqual(await schedules.occurrences({ keys: [late, due, waiting] }), [null, null, null])
      assert.deepEqual(await statesOf(bench, [late, due, waiting]), ['skipped', 'skipped', undefined])
      assert.equal((await bench.record(due.envelope.id)).finishedAt, bench.clock.now())
      assert.deepEqual(await nonZeroCounts(bench), await reality(bench))
      await bench.assertNothingClaimable()
      assert.equal(await schedules.change('digest', 'remove'), false)
    },
    'jobs of a removed schedule that have started continue, even if they wait for another attempt': async (bench) => {
      const begun = await scheduled(bench, -3, -2, -1)
      const [retried, snoozed] = await bench.claim({ limit: 2 })
      assert.ok(retried && snoozed)
      await bench.claimOne()
      await bench.settle(bench.retry(retried, minute), bench.snooze(snoozed))
      await bench.store.schedules.change('digest', 'remove')
      assert.deepEqual(await statesOf(bench, begun), ['scheduled', 'ready', 'running'])
    },
    'a removal does not touch jobs of other schedules or manual dispatches': async (bench) => {
      const { schedules } = bench.store
      await scheduled(bench, 0)
      await schedules.enqueue([occurrence(bench, bench.clock.now(), 'other')])
      await bench.send({})
      await schedules.change('digest', 'remove')
      assert.equal((await bench.claim()).length, 2)
    },
    'a run of a removed schedule continues, and its end does not count for a new occurrence at its instant': async (bench) => {
      const { schedules } = bench.store
      const [due] = await scheduled(bench, 0)
      assert.ok(due)
      const lease = await bench.claimOne()
      await schedules.change('digest', 'remove')
      await schedules.register([entry()])
      const anew = occurrence(bench, due.at)
      assert.deepEqual(await schedules.enqueue([anew]), [true])
      await bench.settle(bench.dead(lease))
      const [found] = await schedules.occurrences({ keys: [anew] })
      assert.deepEqual([found?.jobId, found?.outcome], [anew.envelope.id, null])
    },
    'a schedule that was removed while paused is not paused when it is made again': async (bench) => {
      const { schedules } = bench.store
      await schedules.register([entry()])
      await schedules.change('digest', 'pause')
      await schedules.change('digest', 'remove')
      await schedules.register([entry()])
      assert.equal((await standing(bench)).paused, false)
    },
  },
}
