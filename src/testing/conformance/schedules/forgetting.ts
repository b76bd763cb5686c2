import assert from 'node:assert/strict'
import type { Group } from '../suite.ts'
import { neighbours } from './neighbours.ts'
import { minute, occurrence, scheduled } from './schedules.ts'

export const forgetting: Group = {
  title: 'forgetting occurrences',
  needs: ['store'],
  tests: {
    'old occurrences that have ended are forgotten, at most as many as asked for': async (bench) => {
      const { schedules } = bench.store
      await scheduled(bench, -3, -2, -1, 0)
      const now = bench.clock.now()
      await bench.settle(...(await bench.claim()).map((lease) => bench.done(lease)))
      assert.equal((await bench.store.sweep({ part: 'occurrences', before: now, limit: 2 })).changed, 2)
      assert.equal((await bench.store.sweep({ part: 'occurrences', before: now, limit: 10 })).changed, 1)
      assert.equal((await bench.store.sweep({ part: 'occurrences', before: now, limit: 10 })).changed, 0)
      assert.deepEqual(await schedules.enqueue([occurrence(bench, now)]), [false])
    },
    'the latest occurrence of a schedule is never forgotten': async (bench) => {
      const { schedules } = bench.store
      const [, latest] = await scheduled(bench, -2, -1)
      assert.ok(latest)
      await schedules.enqueue([occurrence(bench, bench.clock.now(), 'other')])
      await bench.settle(...(await bench.claim()).map((lease) => bench.done(lease)))
      await bench.clock.advance(1_000 * minute)
      assert.equal((await bench.store.sweep({ part: 'occurrences', before: bench.clock.now(), limit: 10 })).changed, 1)
      const [standing] = await schedules.standings(['digest'])
      assert.deepEqual([standing?.latest?.at, standing?.latest?.outcome], [latest.at, 'succeeded'])
    },
    'an occurrence whose job has not ended is never forgotten': async (bench) => {
      const [running, waiting, last] = await scheduled(bench, -3, -2, -1)
      assert.ok(running && waiting && last)
      const [lease] = await bench.claim({ limit: 1 })
      assert.ok(lease)
      await bench.clock.advance(1_000)
      assert.equal((await bench.store.sweep({ part: 'occurrences', before: bench.clock.now(), limit: 10 })).changed, 0)
      assert.equal((await neighbours(bench, last.at)).unended, running.at)
      await bench.settle(bench.done(lease))
      const [second] = await bench.claim({ limit: 1 })
      assert.ok(second)
      await bench.settle(bench.done(second))
      assert.equal((await bench.store.sweep({ part: 'occurrences', before: bench.clock.now(), limit: 10 })).changed, 1)
    },
    'the last ended occurrence is never forgotten: others may depend on its outcome': async (bench) => {
      const { schedules } = bench.store
      const [, last] = await scheduled(bench, -2, -1)
      assert.ok(last)
      await bench.settle(...(await bench.claim()).map((lease) => bench.done(lease)))
      await bench.clock.advance(1_000 * minute)
      await schedules.enqueue([occurrence(bench, bench.clock.now() + minute)])
      assert.equal((await bench.store.sweep({ part: 'occurrences', before: bench.clock.now(), limit: 10 })).changed, 1)
      assert.equal((await schedules.occurrences({ keys: [last] }))[0]?.outcome, 'succeeded')
    },
    'the job of a forgotten occurrence can be retried, and the occurrence stays forgotten': async (bench) => {
      const { schedules } = bench.store
      const [old, latest] = await scheduled(bench, -2, -1)
      assert.ok(old && latest)
      await bench.settle(...(await bench.claim()).map((lease) => bench.dead(lease)))
      assert.equal((await bench.store.sweep({ part: 'occurrences', before: bench.clock.now(), limit: 10 })).changed, 1)
      assert.deepEqual(await bench.store.retry([old.envelope.id]), ['requeued'])
      assert.deepEqual(
        [await schedules.occurrences({ keys: [old] }), (await neighbours(bench, latest.at)).unended],
        [[null], null],
      )
      await bench.settle(bench.done(await bench.claimOne()))
      assert.deepEqual(await schedules.occurrences({ keys: [old] }), [null])
    },
  },
}
