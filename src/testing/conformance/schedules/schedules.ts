import assert from 'node:assert/strict'
import type { Occurrence, ScheduleEntry, ScheduleStanding } from '../../../queue/contract/schedule-store.ts'
import type { Bench, Wanted } from '../bench.ts'
import { revisionOf } from '../bench.ts'
import { oddName } from '../claiming/sending.ts'
import type { Group } from '../suite.ts'

export const minute = 60_000

export function occurrence(bench: Bench, at: number, schedule = 'digest', wanted: Wanted = {}): Occurrence {
  return { schedule, at, envelope: bench.envelope({ runAt: at, occurrence: at, ...wanted }) }
}

export function entry(expression = '* * * * *', timezone = 'UTC', name = 'digest', version = 'v1'): ScheduleEntry {
  return { name, expression, timezone, version }
}

/** The same schedule with a changed definition of its runs. */
export function remade(version = 'v2'): ScheduleEntry {
  return { ...entry(), version }
}

/** A registered schedule with occurrences at these minutes from now. */
export async function scheduled(bench: Bench, ...minutes: readonly number[]): Promise<readonly Occurrence[]> {
  const occurrences = minutes.map((each) => occurrence(bench, bench.clock.now() + each * minute))
  await bench.store.schedules.register([entry()])
  const answers = await bench.store.schedules.enqueue(occurrences)
  assert.ok(answers.every((stored) => stored))
  return occurrences
}

export async function standing(bench: Bench, name = 'digest'): Promise<ScheduleStanding> {
  const [found, ...others] = await bench.store.schedules.standings([name])
  assert.ok(found, `schedule ${name} should be registered`)
  assert.deepEqual(others, [])
  return found
}

export async function statesOf(bench: Bench, occurrences: readonly Occurrence[]): Promise<readonly (string | undefined)[]> {
  return Promise.all(occurrences.map(async ({ envelope }) => (await bench.store.get(envelope.id))?.state))
}

export async function waitingCount(bench: Bench): Promise<number> {
  return (await bench.store.counts()).reduce((sum, { counts }) => sum + counts.scheduled + counts.ready, 0)
}

export const schedules: Group = {
  title: 'schedules',
  needs: ['store'],
  tests: {
    'a schedule continues after its latest occurrence since it was registered': async (bench) => {
      const { schedules } = bench.store
      const since = bench.clock.now()
      const [, latest] = await scheduled(bench, 0, 1)
      assert.ok(latest)
      await schedules.register([entry('0 0 * * *', 'UTC', oddName)])
      await bench.clock.advance(5)
      const { schedule, at, envelope } = latest
      const record = { schedule, at, jobId: envelope.id, outcome: null, startedAt: null, finishedAt: null }
      assert.deepEqual(await standing(bench), { name: 'digest', version: 'v1', since, paused: false, latest: record })
      assert.deepEqual(await standing(bench, oddName), { name: oddName, version: 'v1', since, paused: false, latest: null })
    },
    'all schedules can be read, or those with given names': async (bench) => {
      const { schedules } = bench.store
      await schedules.register(['a', 'b', oddName].map((name) => entry('* * * * *', 'UTC', name)))
      const names = async (...wanted: Parameters<typeof schedules.standings>) =>
        (await schedules.standings(...wanted)).map(({ name }) => name).sort()
      assert.deepEqual(await names(), ['a', 'b', oddName].sort())
      assert.deepEqual(await names([oddName, 'a', 'never registered']), ['a', oddName].sort())
      assert.deepEqual(await names([]), [])
    },
    'a changed expression or time zone counts from the change, an unchanged one from the beginning': async (bench) => {
      const { schedules } = bench.store
      await schedules.register([entry('0 9 * * *')])
      const since = bench.clock.now()
      await bench.clock.advance(minute)
      await schedules.register([entry('0 9 * * *')])
      assert.equal((await standing(bench)).since, since)
      await schedules.register([entry('0 8 * * *')])
      assert.equal((await standing(bench)).since, since + minute)
      await bench.clock.advance(minute)
      await schedules.register([entry('0 8 * * *', 'Europe/Paris')])
      assert.equal((await standing(bench)).since, since + 2 * minute)
    },
    'the revision changes with everything except occurrences': async (bench) => {
      const { schedules } = bench.store
      const seen = [await revisionOf(schedules)]
      const changes = [
        () => schedules.register([entry()]),
        () => schedules.register([entry('0 0 * * *')]),
        () => schedules.register([{ ...entry('0 0 * * *'), version: oddName }]),
        () => schedules.change('digest', 'pause'),
        () => schedules.change('digest', 'resume'),
        () => schedules.change('digest', 'remove'),
      ]
      for (const change of changes) {
        await change()
        const revision = await revisionOf(schedules)
        assert.ok(!seen.includes(revision), `${String(change)} should have changed the revision`)
        seen.push(revision)
      }
    },
    'the revision stays where nothing has changed': async (bench) => {
      const { schedules } = bench.store
      await scheduled(bench, 0, 1)
      const revision = await revisionOf(schedules)
      await schedules.register([entry()])
      await schedules.change('digest', 'resume')
      await schedules.change('never registered', 'pause')
      await schedules.change('never registered', 'remove')
      await schedules.enqueue([occurrence(bench, bench.clock.now() + 5 * minute)])
      await bench.settle(bench.done(await bench.claimOne()))
      await bench.store.sweep({ part: 'occurrences', before: bench.clock.now() + 1, limit: 10 })
      assert.equal(await revisionOf(schedules), revision)
      await schedules.change('digest', 'pause')
      const paused = await revisionOf(schedules)
      await schedules.change('digest', 'pause')
      assert.equal(await revisionOf(schedules), paused)
    },
    'a schedule that changes together with its version counts from its change': async (bench) => {
      await bench.store.schedules.register([entry()])
      await bench.clock.advance(minute)
      await bench.store.schedules.register([{ ...entry('0 0 * * *'), version: 'v2' }])
      assert.equal((await standing(bench)).since, bench.clock.now())
    },
    'a paused schedule stays paused when its version changes': async (bench) => {
      const { schedules } = bench.store
      await schedules.register([entry()])
      await schedules.change('digest', 'pause')
      await schedules.register([remade()])
      assert.equal((await standing(bench)).paused, true)
    },
    'schedules are listed with their last and next occurrence': async (bench) => {
      const { schedules } = bench.store
      const since = bench.clock.now()
      await schedules.register([entry('*/5 * * * *', 'Asia/Tokyo', oddName), entry('0 0 * * *', 'UTC', 'never-ran')])
      const now = since + minute
      await bench.clock.advance(minute)
      const occurrences = [-2, -1, 1, 2].map((minutes) => occurrence(bench, now + minutes * minute, oddName))
      await schedules.enqueue(occurrences)
      const [, last] = await schedules.occurrences({ keys: occurrences })
      const listed = new Map((await schedules.list()).map((each) => [each.name, each]))
      const neverRan = {
        ...entry('0 0 * * *', 'UTC', 'never-ran'),
        definition: null,
        since,
        paused: false,
        last: null,
        nextAt: null,
      }
      assert.deepEqual(listed.get('never-ran'), neverRan)
      const ran = {
        ...entry('*/5 * * * *', 'Asia/Tokyo', oddName),
        definition: null,
        since,
        paused: false,
        last,
        nextAt: now + minute,
      }
      assert.deepEqual(listed.get(oddName), ran)
      assert.equal(last?.at, now - minute)
    },
    'the last occurrence is listed with how it went, and one that is due this millisecond is the last': async (bench) => {
      const [due] = await scheduled(bench, 0, 1)
      assert.ok(due)
      await bench.settle(bench.dead(await bench.claimOne()))
      const [listed] = await bench.store.schedules.list()
      assert.deepEqual([listed?.last?.at, listed?.last?.outcome, listed?.nextAt], [due.at, 'dead', due.at + minute])
    },
    'a schedule is listed as it was last registered': async (bench) => {
      const { schedules } = bench.store
      await schedules.register([entry('* * * * *')])
      await schedules.register([{ ...entry('0 0 * * *', 'Europe/Paris'), version: 'v2' }])
      const listed = await schedules.list()
      const [{ expression, timezone, version } = entry()] = listed
      assert.deepEqual([listed.length, expression, timezone, version], [1, '0 0 * * *', 'Europe/Paris', 'v2'])
    },
  },
}
