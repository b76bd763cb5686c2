import { describe, expect, test } from 'vitest'
import { Bench, times } from '../../../src/testing/conformance/bench.ts'
import { entry, minute, occurrence } from '../../../src/testing/conformance/schedules/schedules.ts'
import { ManualClock } from '../../../src/testing/manual-clock.ts'
import { freshPrefix, openFresh, rawClient, readFields, redisUrl } from '../redis-ground.ts'

const waiting = 1_000

describe.skipIf(redisUrl() === null)('a schedule with 1,000 runs that wait', () => {
  async function waitingRuns(work: (bench: Bench, reads: (work: () => Promise<unknown>) => Promise<number>) => Promise<void>) {
    const clock = new ManualClock()
    const prefix = freshPrefix()
    await using backend = await openFresh({ clock, prefix })
    const bench = new Bench(backend, clock)
    await bench.store.schedules.register([entry()])
    const start = clock.now()
    await bench.store.schedules.enqueue(times(waiting, (index) => occurrence(bench, start + index * minute)))
    await clock.advance(waiting * minute)
    await using client = await rawClient()
    await work(bench, (each) => readFields(client, `{${prefix}}:`, each))
  }

  test('is followed, looked at and begun without reading them', () =>
    waitingRuns(async (bench, reads) => {
      const { schedules } = bench.store
      const now = bench.clock.now()
      expect(await reads(() => schedules.enqueue([occurrence(bench, now)]))).toBeLessThan(200)
      expect(await reads(() => schedules.standings(['digest']))).toBeLessThan(200)
      expect(await reads(() => schedules.list())).toBeLessThan(200)
      expect(await reads(() => schedules.occurrences({ schedule: 'digest', upTo: now, limit: 5 }))).toBeLessThan(200)
      const { at } = occurrence(bench, now - 2 * minute)
      expect(await reads(() => schedules.markSeen([{ schedule: 'digest', at }]))).toBeLessThan(200)
      const first = { schedule: 'digest', at: now - waiting * minute }
      await bench.claim({ limit: 1 })
      const second = { schedule: 'digest', at: first.at + minute }
      expect(
        await reads(async () => expect(await schedules.neighbours(second)).toEqual({ unended: first.at, seen: true })),
      ).toBeLessThan(200)
      const last = { schedule: 'digest', at: now }
      expect(
        await reads(async () => expect(await schedules.neighbours(last)).toEqual({ unended: first.at, seen: true })),
      ).toBeLessThan(900)
    }))

  test('forgets the runs that have ended without reading those that wait', () =>
    waitingRuns(async (bench, reads) => {
      const leases = await bench.claim({ limit: 3 })
      await bench.settle(...leases.map((lease) => bench.done(lease)))
      const before = bench.clock.now() - (waiting - 10) * minute
      const sweep = async () => expect((await bench.store.sweep({ part: 'occurrences', before, limit: 10 })).changed).toBe(2)
      expect(await reads(sweep)).toBeLessThan(200)
    }))
})
