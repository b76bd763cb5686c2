import assert from 'node:assert/strict'
import type { Neighbours } from '../../backends/store.ts'
import type { Bench } from './bench.ts'
import { nonZeroCounts, reality } from './listing.ts'
import { minute, occurrence, scheduled } from './schedules.ts'
import { oddText } from './sending.ts'
import type { Group } from './suite.ts'

export function neighbours(bench: Bench, at: number, schedule = 'digest'): Promise<Neighbours> {
  return bench.store.schedules.neighbours({ schedule, at })
}

export const neighbouring: Group = {
  title: 'neighbours of occurrences',
  needs: ['store'],
  tests: {
    'the earliest occurrence before this one that has not ended is known': async (bench) => {
      const [first, second, third] = await scheduled(bench, -3, -2, -1)
      assert.ok(first && second && third)
      await bench.store.schedules.enqueue([occurrence(bench, first.at - minute, 'other')])
      assert.equal((await neighbours(bench, third.at)).unended, first.at)
      assert.equal((await neighbours(bench, first.at)).unended, null)
      const leases = await bench.claim()
      const leaseOf = (id: string) => leases.find(({ envelope }) => envelope.id === id)
      const [one, two] = [leaseOf(first.envelope.id), leaseOf(second.envelope.id)]
      assert.ok(one && two)
      await bench.settle(bench.done(one))
      assert.equal((await neighbours(bench, third.at)).unended, second.at)
      await bench.settle(bench.retry(two, minute))
      assert.equal((await neighbours(bench, third.at)).unended, second.at)
      assert.deepEqual(await neighbours(bench, third.at, 'never'), { unended: null, seen: false })
    },
    'an occurrence was seen when a later one was stored at its instant or after it': async (bench) => {
      const { schedules } = bench.store
      const [current, next] = await scheduled(bench, 0, 1)
      assert.ok(current && next)
      assert.equal((await neighbours(bench, current.at)).seen, true)
      assert.equal((await neighbours(bench, next.at)).seen, false)
      await schedules.enqueue([occurrence(bench, next.at + minute)])
      assert.equal((await neighbours(bench, next.at)).seen, false)
      await bench.clock.advance(minute)
      await schedules.enqueue([occurrence(bench, current.at - minute), occurrence(bench, next.at + minute, 'other')])
      assert.equal((await neighbours(bench, next.at)).seen, false)
      await schedules.enqueue([occurrence(bench, next.at + 2 * minute)])
      assert.equal((await neighbours(bench, next.at)).seen, true)
    },
    'an occurrence that was stored late, and is the latest, was not seen': async (bench) => {
      const [, late] = await scheduled(bench, -2, -1)
      assert.ok(late)
      assert.equal((await neighbours(bench, late.at)).seen, false)
    },
    'waiting occurrences before an instant are skipped with a reason (X14)': async (bench) => {
      const { schedules } = bench.store
      const [first, second, third, fourth] = await scheduled(bench, -1, 0, 1, 2)
      assert.ok(first && second && third && fourth)
      await schedules.enqueue([occurrence(bench, first.at, 'other')])
      assert.equal(await schedules.skipWaiting('digest', fourth.at, oddText), 3)
      for (const { envelope } of [first, second, third]) {
        const { state, reason, finishedAt, attempts } = await bench.record(envelope.id)
        assert.deepEqual([state, reason, finishedAt, attempts], ['skipped', oddText, bench.clock.now(), 0])
      }
      assert.equal((await bench.record(fourth.envelope.id)).state, 'scheduled')
      assert.deepEqual(await nonZeroCounts(bench), await reality(bench))
      assert.equal((await bench.claim()).length, 1)
      assert.equal(await schedules.skipWaiting('digest', fourth.at, 'again'), 0)
      assert.equal(await schedules.skipWaiting('never', fourth.at, 'nothing'), 0)
    },
    'a skipped occurrence frees its unique key': async (bench) => {
      const { schedules } = bench.store
      await schedules.enqueue([occurrence(bench, bench.clock.now(), 'digest', { uniqueKey: 'k' })])
      assert.equal(await schedules.skipWaiting('digest', bench.clock.now() + 1, 'late'), 1)
      await bench.send({ uniqueKey: 'k' })
    },
    'an occurrence that runs, has run, was rescued or will run again is not skipped': async (bench) => {
      const { schedules } = bench.store
      await scheduled(bench, -4, -3)
      await bench.claim({ limit: 1, leaseMs: 10 })
      const [retried] = await bench.claim({ limit: 1 })
      assert.ok(retried)
      await bench.settle(bench.retry(retried))
      await bench.clock.advance(10)
      await bench.backend.reap(3)
      await scheduled(bench, -2)
      await bench.send({ runAt: bench.clock.now() - 5 * minute })
      const before = bench.clock.now() + 1
      assert.equal(await schedules.skipWaiting('digest', before, 'late'), 1)
      assert.equal((await bench.claim()).length, 3)
      assert.equal(await schedules.skipWaiting('digest', before, 'late'), 0)
    },
  },
}
