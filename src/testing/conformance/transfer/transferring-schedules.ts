import assert from 'node:assert/strict'
import { entry, minute, occurrence } from '../schedules/schedules.ts'
import type { Group } from '../suite.ts'
import { copyFacts, elsewhere, handOver, seen } from './handing-over.ts'

export const transferringSchedules: Group = {
  title: 'handing schedules over to another queue',
  needs: ['store', 'coordination', 'transfer'],
  tests: {
    'a schedule arrives with its position, its last run and the next one': async (bench) => {
      const { schedules } = bench.store
      await schedules.register([entry(), entry('* * * * *', 'UTC', 'stopped')])
      await schedules.change('stopped', 'pause')
      const now = bench.clock.now()
      await schedules.enqueue([occurrence(bench, now)])
      await bench.settle(bench.done(await bench.claimOne()))
      await schedules.enqueue([occurrence(bench, now + minute)])
      const [standings, jobs] = [await schedules.standings(), await seen(bench)]
      const other = elsewhere(bench)
      await handOver(bench, other)
      await copyFacts(bench, other)
      assert.deepEqual(await other.store.schedules.standings(), standings)
      assert.deepEqual(await seen(other), jobs)
      assert.deepEqual(
        await other.store.schedules.occurrences({ schedule: 'digest', upTo: now, limit: 9 }),
        await schedules.occurrences({ schedule: 'digest', upTo: now, limit: 9 }),
      )
      await handOver(other, bench)
      assert.deepEqual(await schedules.standings(), standings)
      assert.deepEqual(await seen(bench), jobs)
    },
    'the source queue stores no more of its runs, even if it is registered again': async (bench) => {
      const { schedules } = bench.store
      await schedules.register([entry()])
      await handOver(bench, elsewhere(bench))
      await schedules.register([entry()])
      assert.deepEqual(await schedules.enqueue([occurrence(bench, bench.clock.now())]), [false])
    },
    'a run that both queues have stored is run once': async (bench) => {
      const other = elsewhere(bench)
      for (const each of [bench, other]) {
        await each.store.schedules.register([entry()])
        await each.store.schedules.enqueue([occurrence(each, bench.clock.now())])
      }
      assert.deepEqual(await handOver(other, bench), [])
      assert.deepEqual(await other.claimedIds(), [])
      assert.equal((await bench.claim()).length, 1)
    },
    'a run that has started and that both have stored stays where it started': async (bench) => {
      const other = elsewhere(bench)
      for (const each of [bench, other]) {
        await each.store.schedules.enqueue([occurrence(each, bench.clock.now())])
      }
      await other.settle(other.retry(await other.claimOne()))
      assert.equal((await handOver(other, bench)).length, 1)
      assert.equal((await other.claim()).length, 1)
    },
    'a run that ended in the other queue counts as ended': async (bench) => {
      const now = bench.clock.now()
      await bench.store.schedules.enqueue([occurrence(bench, now)])
      const other = elsewhere(bench)
      await handOver(bench, other)
      await other.settle(other.done(await other.claimOne()))
      await copyFacts(bench, other)
      assert.equal(
        (await other.store.schedules.occurrences({ schedule: 'digest', upTo: now, limit: 1 }))[0]?.outcome,
        'succeeded',
      )
      await copyFacts(other, bench)
      assert.equal(
        (await bench.store.schedules.occurrences({ schedule: 'digest', upTo: now, limit: 1 }))[0]?.outcome,
        'succeeded',
      )
    },
  },
}
