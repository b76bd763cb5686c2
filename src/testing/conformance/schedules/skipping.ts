import assert from 'node:assert/strict'
import type { SkipRequest } from '../../../queue/contract/schedule-store.ts'
import type { Bench } from '../bench.ts'
import { oddText } from '../claiming/sending.ts'
import { nonZeroCounts, reality } from '../managing/listing.ts'
import type { Group } from '../suite.ts'
import { minute, occurrence, scheduled, statesOf } from './schedules.ts'

/** Skips the waiting runs of the schedule that are due, unless the request says otherwise. */
function skip(bench: Bench, wanted: Partial<SkipRequest> = {}): Promise<number> {
  const before = bench.clock.now() + 1
  return bench.store.schedules.skipWaiting({ schedule: 'digest', before, unseenOnly: false, why: 'late', ...wanted })
}

export const skipping: Group = {
  title: 'skipping occurrences that wait',
  needs: ['store'],
  tests: {
    'waiting occurrences before an instant are skipped with a reason (X14)': async (bench) => {
      const [first, second, third] = await scheduled(bench, 1, 2, 3)
      assert.ok(first && second && third)
      await bench.store.schedules.enqueue([occurrence(bench, first.at, 'other')])
      await bench.clock.advance(minute)
      assert.equal(await skip(bench, { before: third.at, why: oddText }), 2)
      for (const { envelope } of [first, second]) {
        const { state, reason, finishedAt, startedAt, attempts } = await bench.record(envelope.id)
        assert.deepEqual([state, reason, finishedAt, startedAt, attempts], ['skipped', oddText, bench.clock.now(), null, 0])
      }
      assert.equal((await bench.record(third.envelope.id)).state, 'scheduled')
      assert.deepEqual(await nonZeroCounts(bench), await reality(bench))
      assert.equal((await bench.claim()).length, 1)
      assert.equal(await skip(bench, { before: third.at }), 0)
      assert.equal(await skip(bench, { schedule: 'never' }), 0)
    },
    'occurrences that are ready, not only those that wait for their time, are skipped': async (bench) => {
      const ready = await scheduled(bench, 1, 2)
      await bench.clock.advance(2 * minute)
      await bench.assertNothingClaimable({ jobs: [] })
      assert.equal(await skip(bench), 2)
      assert.deepEqual(await statesOf(bench, ready), ['skipped', 'skipped'])
      await bench.assertNothingClaimable()
    },
    'an occurrence that was stored late, or just in time, is not skipped': async (bench) => {
      await scheduled(bench, -2, 0)
      await bench.clock.advance(minute)
      assert.equal(await skip(bench), 0)
      assert.equal((await bench.claim()).length, 2)
    },
    'a skipped occurrence frees its unique key': async (bench) => {
      const at = bench.clock.now() + minute
      await bench.store.schedules.enqueue([occurrence(bench, at, 'digest', { uniqueKey: 'k' })])
      assert.equal(await skip(bench, { before: at + 1 }), 1)
      await bench.send({ uniqueKey: 'k' })
    },
    'an occurrence that runs, was rescued, or gave its attempt back is not skipped': async (bench) => {
      await scheduled(bench, 1, 2, 3, 4, 5)
      await bench.send({ runAt: bench.clock.now() + 6 * minute })
      await bench.clock.advance(10 * minute)
      await bench.claim({ limit: 1, leaseMs: 10 })
      const [retried, snoozed] = await bench.claim({ limit: 2 })
      assert.ok(retried && snoozed)
      await bench.settle(bench.retry(retried), bench.snooze(snoozed, 1))
      await bench.clock.advance(10)
      await bench.backend.reap(3)
      assert.equal(await skip(bench), 2)
      assert.equal((await bench.claim()).length, 4)
      assert.equal(await skip(bench), 0)
    },
    'if only unseen occurrences are to be skipped, the others stay': async (bench) => {
      const [seen, unseen] = await scheduled(bench, 1, 2)
      assert.ok(seen && unseen)
      await bench.clock.advance(2 * minute)
      await bench.store.schedules.enqueue([occurrence(bench, unseen.at - 1)])
      await bench.clock.advance(minute)
      assert.equal(await skip(bench, { unseenOnly: true }), 1)
      assert.deepEqual(await statesOf(bench, [seen, unseen]), ['scheduled', 'skipped'])
      assert.deepEqual(await nonZeroCounts(bench), await reality(bench))
      assert.equal(await skip(bench, { unseenOnly: false }), 1)
    },
    'an occurrence that is marked as seen when it is due is not skipped, however late it is': async (bench) => {
      const [seen, unseen] = await scheduled(bench, 1, 2)
      assert.ok(seen && unseen)
      const { schedules } = bench.store
      await schedules.markSeen([seen, { schedule: 'digest', at: seen.at + 1 }, { schedule: 'never', at: seen.at }])
      await bench.clock.advance(minute)
      await schedules.markSeen([seen, unseen])
      await bench.clock.advance(10 * minute)
      assert.equal((await schedules.neighbours(seen)).seen, true)
      assert.equal((await schedules.neighbours(unseen)).seen, false)
      assert.equal(await skip(bench, { unseenOnly: true }), 1)
      assert.deepEqual(await statesOf(bench, [seen, unseen]), ['scheduled', 'skipped'])
      assert.deepEqual(await nonZeroCounts(bench), await reality(bench))
    },
    'an occurrence that was marked before it was due is not seen': async (bench) => {
      const [only] = await scheduled(bench, 1)
      assert.ok(only)
      await bench.store.schedules.markSeen([only])
      await bench.clock.advance(10 * minute)
      assert.equal((await bench.store.schedules.neighbours(only)).seen, false)
      assert.equal(await skip(bench, { unseenOnly: true }), 1)
    },
    'while a future occurrence is stored, all earlier ones of the schedule count as seen': async (bench) => {
      await scheduled(bench, 1, 3)
      await bench.clock.advance(2 * minute)
      assert.equal(await skip(bench, { unseenOnly: true }), 0)
      await bench.clock.advance(minute)
      assert.equal(await skip(bench, { unseenOnly: true, before: bench.clock.now() }), 1)
    },
  },
}
