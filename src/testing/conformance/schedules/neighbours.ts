import assert from 'node:assert/strict'
import type { Neighbours } from '../../../queue/contract/schedule-store.ts'
import type { Bench } from '../bench.ts'
import type { Group } from '../suite.ts'
import { minute, occurrence, scheduled } from './schedules.ts'

export function neighbours(bench: Bench, at: number, schedule = 'digest'): Promise<Neighbours> {
  return bench.store.schedules.neighbours({ schedule, at })
}

export const neighbouring: Group = {
  title: 'neighbours of occurrences',
  needs: ['store'],
  tests: {
    'the earliest earlier occurrence that has started and not ended is known': async (bench) => {
      const [first, second, third] = await scheduled(bench, -3, -2, -1)
      assert.ok(first && second && third)
      await bench.store.schedules.enqueue([occurrence(bench, first.at - minute, 'other')])
      const leases = await bench.claim()
      const leaseOf = (id: string) => leases.find(({ envelope }) => envelope.id === id)
      const [one, two] = [leaseOf(first.envelope.id), leaseOf(second.envelope.id)]
      assert.ok(one && two)
      assert.equal((await neighbours(bench, third.at)).unended, first.at)
      assert.equal((await neighbours(bench, first.at)).unended, null)
      await bench.settle(bench.done(one))
      assert.equal((await neighbours(bench, third.at)).unended, second.at)
      await bench.settle(bench.retry(two, minute))
      assert.equal((await neighbours(bench, third.at)).unended, second.at)
      assert.deepEqual(await neighbours(bench, third.at, 'never'), { unended: null, seen: false })
    },
    'a waiting occurrence that was never claimed does not hold back later ones (X14)': async (bench) => {
      const [first, second, third] = await scheduled(bench, -3, -2, -1)
      assert.ok(first && second && third)
      assert.equal((await neighbours(bench, third.at)).unended, null)
      await bench.store.amend([{ id: first.envelope.id, runAt: bench.clock.now() + 10 * minute }])
      const [lease] = await bench.claim({ limit: 1 })
      assert.equal(lease?.envelope.id, second.envelope.id)
      assert.equal((await neighbours(bench, third.at)).unended, second.at)
    },
    'an occurrence that gave its attempt back still counts as started': async (bench) => {
      const [first, second, third] = await scheduled(bench, -3, -2, -1)
      assert.ok(first && second && third)
      const [snoozed] = await bench.claim({ limit: 1 })
      assert.ok(snoozed)
      await bench.settle(bench.snooze(snoozed))
      assert.equal((await neighbours(bench, third.at)).unended, first.at)
      await bench.store.cancel(first.envelope.id)
      assert.equal((await neighbours(bench, third.at)).unended, null)
      await bench.claim({ limit: 1, leaseMs: 10 })
      await bench.clock.advance(10)
      await bench.backend.reap(3)
      assert.equal((await neighbours(bench, third.at)).unended, second.at)
    },
    'an occurrence counts as seen if a later one was stored at or after its instant': async (bench) => {
      const { schedules } = bench.store
      const [current, next] = await scheduled(bench, 1, 2)
      assert.ok(current && next)
      await bench.clock.advance(2 * minute)
      assert.deepEqual([(await neighbours(bench, current.at)).seen, (await neighbours(bench, next.at)).seen], [false, false])
      await schedules.enqueue([occurrence(bench, current.at - minute), occurrence(bench, next.at, 'other')])
      assert.equal((await neighbours(bench, current.at)).seen, false)
      await schedules.enqueue([occurrence(bench, current.at + 1)])
      assert.deepEqual([(await neighbours(bench, current.at)).seen, (await neighbours(bench, next.at)).seen], [true, false])
      await schedules.enqueue([occurrence(bench, next.at + 1)])
      await bench.clock.advance(1)
      assert.equal((await neighbours(bench, next.at)).seen, true)
    },
    'an occurrence counts as seen while a future one is stored, whenever that was': async (bench) => {
      const [current, last] = await scheduled(bench, 1, 3)
      assert.ok(current && last)
      await bench.store.schedules.enqueue([occurrence(bench, last.at + minute, 'other')])
      await bench.clock.advance(last.at - bench.clock.now() - 1)
      assert.equal((await neighbours(bench, current.at)).seen, true)
      await bench.clock.advance(1)
      assert.deepEqual([(await neighbours(bench, current.at)).seen, (await neighbours(bench, last.at)).seen], [false, false])
    },
    'an occurrence that was stored late counts as seen by its scheduler': async (bench) => {
      const [, late] = await scheduled(bench, -2, -1)
      assert.ok(late)
      assert.equal((await neighbours(bench, late.at)).seen, true)
    },
  },
}
