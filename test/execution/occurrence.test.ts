import { describe, expect, it, vi } from 'vitest'
import { drain } from '../../src/testing/drain.ts'
import { aborted, gate, until, type World, world } from '../world.ts'
import { store } from './stored.ts'

const second = 1_000
const minute = 60 * second
const hour = 60 * minute
const day = 24 * hour
const midnight = Date.UTC(2026, 0, 1)
const withoutScheduler = { scheduler: false } as const

describe('a scheduled run', () => {
  it('tells its handler, filters and hooks the instant that it stands for, however late it runs', async () => {
    const all = world()
    const told: unknown[] = []
    const job = all.jobs
      .define('report', async (_, { occurrence }) => void told.push(occurrence))
      .when((_, { occurrence }) => told.push(occurrence) > 0)
      .onSuccess((_, __, { occurrence }) => told.push(occurrence))
      .dailyAt('02:00')
    const run = await store(all, job, midnight + 2 * hour)
    await all.clock.advance(3 * hour)
    await all.jobs.run(withoutScheduler)
    const instant = new Date('2026-01-01T02:00:00Z')
    expect(told).toEqual([instant, instant, instant])
    expect(await all.record(run)).toMatchObject({ state: 'succeeded' })
  })

  it('is told the instant by the scheduler, in each of its runs', async () => {
    const { jobs, clock } = world()
    const told: unknown[] = []
    jobs.define('report', async (_, { occurrence }) => void told.push(occurrence?.getTime())).everyMinute()
    await drain(jobs, { clock, for: '2m' })
    expect(told).toEqual([midnight, midnight + minute, midnight + 2 * minute])
  })

  it('is told apart from a dispatch, which stands for no instant and never asks for its neighbours', async () => {
    const { jobs, backend } = world()
    const calls = Object.values(spiesOn(backend.store.schedules))
    const told: unknown[] = []
    const job = jobs.define('report', async (_, { occurrence }) => void told.push(occurrence)).daily()
    await job.dispatch()
    await jobs.run(withoutScheduler)
    expect(told).toEqual([null])
    for (const call of calls) expect(call).not.toHaveBeenCalled()
  })

  it('is run again when its worker died', async () => {
    const all = world()
    const job = all.jobs.define('report', (_, { signal }) => aborted(signal)).everyMinute()
    const run = await store(all, job, midnight)
    const [lease] = (
      await all.backend.lease({
        jobs: [{ job: 'report', concurrency: null }],
        queues: null,
        limit: 1,
        leaseMs: 30_000,
        owner: 'a worker that dies',
        maxRescues: 3,
      })
    ).leases
    expect(lease?.envelope.id).toBe(run.id)
    await all.clock.advance(31_000)
    const rescuer = all.other()
    rescuer.jobs.define('report', async () => {}).everyMinute()
    await rescuer.jobs.run(withoutScheduler)
    expect(await all.record(run)).toMatchObject({ state: 'succeeded', rescues: 1 })
  })

  it('runs without further questions where this program does not have the schedule', async () => {
    const scheduling = world()
    const working = scheduling.other()
    const declared = scheduling.jobs.declare('report').daily()
    working.jobs.define('report', async () => {})
    const runs = [await store(scheduling, declared, midnight), await store(scheduling, declared, midnight + day, midnight)]
    await working.jobs.run(withoutScheduler)
    for (const run of runs) expect(await working.record(run)).toMatchObject({ state: 'succeeded' })
  })
})

describe('X14: a scheduled run that nobody saw fall due', () => {
  it('is skipped when it is past its policy, burns no attempt and calls no hook', async () => {
    const all = world()
    const { job, called } = watched(all, 'report')
    const run = await store(all, job.dailyAt('02:00').misfire('skip', { within: '5m' }), midnight + 2 * hour)
    await all.clock.advance(9 * hour)
    expect(await all.jobs.run(withoutScheduler)).toMatchObject({ skipped: 1 })
    const why = 'missed: due at 2026-01-01T02:00:00Z, found 7h late'
    expect(await all.record(run)).toMatchObject({ state: 'skipped', attempts: 0, reason: why })
    expect(all.happened).toMatchObject([
      { name: 'job:skipped', event: { why } },
      { name: 'schedule:missed', event: { schedule: 'report', madeUp: [], leftOut: 1 } },
    ])
    expect(called).toEqual([])
  })

  it('runs within its policy', async () => {
    const all = world()
    const { job, called } = watched(all, 'report')
    await store(all, job.dailyAt('02:00').misfire('skip', { within: '5m' }), midnight + 2 * hour)
    await all.clock.advance(2 * hour + 5 * minute)
    await all.jobs.run(withoutScheduler)
    expect(called).toContain('handler')
  })

  it('is skipped by default only when the next one is due as well', async () => {
    for (const [late, state] of [
      [day - second, 'succeeded'],
      [day, 'skipped'],
    ] as const) {
      const all = world()
      const run = await store(all, watched(all, 'report').job.dailyAt('02:00'), midnight + 2 * hour)
      await all.clock.advance(2 * hour + late)
      await all.jobs.run(withoutScheduler)
      expect(await all.record(run)).toMatchObject({ state })
    }
  })

  it('is another one than a run that a scheduler saw and only workers were late for', async () => {
    const all = world()
    const job = watched(all, 'report').job.dailyAt('02:00').misfire('skip').overlap('allow')
    const run = await store(all, job, midnight + 2 * hour)
    await all.clock.advance(2 * hour)
    await store(all, job, midnight + day + 2 * hour)
    await all.clock.advance(7 * hour)
    await all.jobs.run(withoutScheduler)
    expect(await all.record(run)).toMatchObject({ state: 'succeeded' })
  })

  it('is another one than a run that a scheduler stored late in order to make up for it', async () => {
    const all = world()
    const job = watched(all, 'report').job.dailyAt('02:00').misfire('skip')
    await all.clock.advance(9 * hour)
    const run = await store(all, job, midnight + 2 * hour, midnight + 9 * hour)
    await all.jobs.run(withoutScheduler)
    expect(await all.record(run)).toMatchObject({ state: 'succeeded' })
  })

  it('is not a retry, however late that is', async () => {
    const all = world()
    const job = all.jobs
      .define('report', async (_, { attempt }) => {
        if (attempt === 1) throw new Error('not yet')
      })
      .retries(1, { strategy: 'fixed', base: '1h', max: '1h', jitter: 'none' })
      .dailyAt('02:00')
      .misfire('skip')
    const run = await store(all, job, midnight + 2 * hour)
    await all.clock.advance(2 * hour)
    await all.jobs.run(withoutScheduler)
    await all.clock.advance(hour)
    await all.jobs.run(withoutScheduler)
    expect(await all.record(run)).toMatchObject({ state: 'succeeded', attempts: 2 })
  })
})

describe('X5, Y10: a scheduled run that falls due while an earlier one has not ended', () => {
  it('is skipped by default, with a reason that says for how long the other one has been due', async () => {
    const all = world()
    const { open, opened } = gate()
    const job = all.jobs.define('report', () => opened).everyMinute()
    const first = await store(all, job, midnight)
    const working = all.jobs.run(withoutScheduler)
    await until(async () => (await all.record(first)).state === 'running')
    await all.clock.advance(7 * minute)
    const second = await store(all, job, midnight + 7 * minute)
    const beside = all.other()
    beside.jobs.define('report', () => opened).everyMinute()
    await beside.jobs.run(withoutScheduler)
    const why = 'the run of 2026-01-01T00:00:00Z has not ended, 7m after it was due'
    expect(await all.record(second)).toMatchObject({ state: 'skipped', attempts: 0, reason: why })
    expect(beside.log).toEqual([`warn [report ${second.id}] is skipped: ${why}`])
    open()
    await working
    expect(await all.record(first)).toMatchObject({ state: 'succeeded' })
  })

  it('yields to the earlier one also where both are claimed at once, or it is claimed first', async () => {
    for (const [earlierRunsAt, laterRunsAt] of [
      [0, 0],
      [0, 1],
      [1, 0],
    ] as const) {
      const all = world()
      const ran: unknown[] = []
      const job = all.jobs.define('report', async (_, { occurrence }) => void ran.push(occurrence?.getTime())).everyMinute()
      await all.clock.advance(5 * minute)
      const later = await store(all, job, midnight + 2 * minute, midnight + laterRunsAt)
      const earlier = await store(all, job, midnight + minute, midnight + earlierRunsAt)
      expect(await all.jobs.run(withoutScheduler)).toMatchObject({ succeeded: 1, skipped: 1 })
      expect(ran).toEqual([midnight + minute])
      expect(await all.record(earlier)).toMatchObject({ state: 'succeeded' })
      expect(await all.record(later)).toMatchObject({ state: 'skipped' })
    }
  })

  it('yields to the earlier one also where another worker has that', async () => {
    const one = world()
    const others = [one, one.other(), one.other()]
    const ran: unknown[] = []
    const builders = others.map(({ jobs }) =>
      jobs.define('report', async (_, { occurrence }) => void ran.push(occurrence?.getTime())).everyMinute(),
    )
    await one.clock.advance(9 * minute)
    for (let at = 8; at >= 1; at--) await store(one, builders[0] as (typeof builders)[0], midnight + at * minute)
    await Promise.all(others.map(({ jobs }) => jobs.run({ ...withoutScheduler, concurrency: 3 })))
    expect(ran).toEqual([midnight + minute])
  })

  it('yields to an earlier one that waits for its next attempt, which runs', async () => {
    const all = world()
    const ran: unknown[] = []
    const job = all.jobs
      .define('report', async (_, { attempt, occurrence }) => {
        ran.push([occurrence?.getTime(), attempt])
        if (attempt === 1) throw new Error('not yet')
      })
      .retries(1, { strategy: 'fixed', base: '5m', jitter: 'none', max: '5m' })
      .everyMinute()
    await store(all, job, midnight)
    await all.jobs.run(withoutScheduler)
    await all.clock.advance(minute)
    const later = await store(all, job, midnight + minute)
    await all.jobs.run(withoutScheduler)
    expect(await all.record(later)).toMatchObject({ state: 'skipped' })
    await all.clock.advance(4 * minute)
    await all.jobs.run(withoutScheduler)
    expect(ran).toEqual([
      [midnight, 1],
      [midnight, 2],
    ])
  })

  it('runs beside it with overlap("allow")', async () => {
    const all = world()
    const { open, opened } = gate()
    let running = 0
    const job = all.jobs
      .define('report', async () => {
        running++
        await opened
      })
      .everyMinute()
      .overlap('allow')
    await all.clock.advance(minute)
    await store(all, job, midnight)
    await store(all, job, midnight + minute)
    const working = all.jobs.run(withoutScheduler)
    await until(() => running === 2)
    open()
    expect(await working).toMatchObject({ succeeded: 2 })
  })

  it.each([
    ['overlap("queue")', 'queue', 'latest'],
    ['misfire("all")', null, 'all'],
  ] as const)('waits for its end with %s, over all workers', async (_, overlap, misfire) => {
    const one = world()
    const ran: number[] = []
    let running = 0
    const working = [one, one.other()].map(({ jobs }) => {
      const job = jobs
        .define('report', async (_, { occurrence }) => {
          expect(++running).toBe(1)
          for (let turn = 0; turn < 5; turn++) await new Promise((resolve) => setImmediate(resolve))
          ran.push(occurrence?.getTime() as number)
          running--
        })
        .everyMinute()
        .misfire(misfire)
      return { jobs, job: overlap === null ? job : job.overlap(overlap) }
    })
    await one.clock.advance(5 * minute)
    const instants = [1, 2, 3, 4].map((minutes) => midnight + minutes * minute)
    for (const at of instants) await store(one, (working[0] as (typeof working)[0]).job, at)
    await Promise.all(working.map(({ jobs }) => jobs.run(withoutScheduler)))
    await one.jobs.run(withoutScheduler)
    expect(ran).toEqual(instants)
  })

  it('comes up in its turn with overlap("queue"), even if the runs that wait are found in another order', async () => {
    const all = world()
    const ran: number[] = []
    const job = all.jobs
      .define('report', async (_, { attempt, occurrence }) => {
        if (occurrence?.getTime() === midnight && attempt === 1) throw new Error('fails the first time')
        ran.push(occurrence?.getTime() as number)
      })
      .everySecond()
      .misfire('all')
      .retries(1, { strategy: 'fixed', base: '2s', jitter: 'none' })
    const instants = Array.from({ length: 10 }, (_, index) => midnight + index * second)
    await all.clock.advance(minute)
    // The first run comes up first, and of the others the latest.
    for (const [index, at] of instants.entries()) await store(all, job, at, index === 0 ? at : midnight + minute - index * second)
    const retried = midnight + minute + 2 * second
    while (all.clock.now() < retried + 2 * second) {
      // Never two at the same time, or their ids would put them in order.
      await all.jobs.run({ ...withoutScheduler, limit: 1 })
      await all.clock.advance(5)
    }
    expect(ran).toEqual(instants)
  })

  it('waits for its end also where it was stored by a program that does not say so', async () => {
    const scheduling = world()
    const working = scheduling.other()
    let running = 0
    const declared = scheduling.jobs.declare('report').everyMinute()
    working.jobs
      .define('report', async () => {
        expect(++running).toBe(1)
        await new Promise((resolve) => setImmediate(resolve))
        running--
      })
      .everyMinute()
      .overlap('queue')
    await scheduling.clock.advance(minute)
    for (const at of [midnight, midnight + minute]) await store(scheduling, declared, at)
    expect(await working.jobs.run(withoutScheduler)).toMatchObject({ succeeded: 2 })
  })

  it('is not kept waiting by one that is not due yet', async () => {
    const all = world()
    const job = all.jobs.define('report', async () => {}).daily()
    await store(all, job, midnight + day)
    const frozen = await store(all, job, midnight + 30 * day, midnight)
    await all.jobs.run(withoutScheduler)
    expect(await all.record(frozen)).toMatchObject({ state: 'succeeded' })
  })

  it.each([
    ['the slot of a single instance', (all: World) => all.jobs.define('report', async () => {}).singleInstance(), {}],
    ['the hands of the worker', (all: World) => all.jobs.define('report', async () => {}), { limit: 1 }],
  ])('is skipped at the end of that one when it could not begin for want of %s', async (_, define, options) => {
    const all = world()
    const { open, opened } = gate()
    let ran = 0
    const job = define(all)
      .everyMinute()
      .before(async () => {
        ran++
        await opened
      })
    const first = await store(all, job, midnight)
    const waiting = [1, 2, 3].map((minutes) => store(all, job, midnight + minutes * minute))
    const working = all.jobs.run({ ...withoutScheduler, ...options })
    await until(() => ran === 1)
    await all.clock.advance(2 * minute + 30 * second)
    open()
    await working
    const [one, two, three] = await Promise.all((await Promise.all(waiting)).map((run) => all.record(run)))
    const skipped = { state: 'skipped', attempts: 0, reason: 'the run of 2026-01-01T00:00:00Z had not ended' }
    expect([one, two]).toMatchObject([skipped, skipped])
    expect(three).toMatchObject({ state: 'scheduled' })
    expect(await all.record(first)).toMatchObject({ state: 'succeeded' })
    expect(all.log).toEqual([`warn [report ${first.id}] scheduled runs that fell due during this one are skipped: 2`])
  })
})

describe('a database that does not answer', () => {
  it('puts a scheduled run off, and burns no attempt', async () => {
    const all = world()
    const run = await store(all, watched(all, 'report').job.everyMinute(), midnight)
    const { neighbours } = spiesOn(all.backend.store.schedules)
    neighbours.mockRejectedValueOnce(new Error('the disk is gone'))
    expect(await all.jobs.run(withoutScheduler)).toMatchObject({ snoozed: 1 })
    expect(await all.record(run)).toMatchObject({ state: 'scheduled', attempts: 0, runAt: midnight + second })
    expect(all.log).toEqual([expect.stringContaining('could not be read: the disk is gone; trying again')])
    await all.clock.advance(second)
    await all.jobs.run(withoutScheduler)
    expect(await all.record(run)).toMatchObject({ state: 'succeeded', attempts: 1 })
  })

  it('does not undo a run that has ended', async () => {
    const all = world()
    const run = await store(all, watched(all, 'report').job.everyMinute(), midnight)
    spiesOn(all.backend.store.schedules).skipWaiting.mockRejectedValueOnce(new Error('the disk is gone'))
    await all.jobs.run(withoutScheduler)
    expect(await all.record(run)).toMatchObject({ state: 'succeeded' })
    expect(all.log).toEqual([expect.stringContaining('could not be skipped: the disk is gone')])
  })
})

it('a scheduled run that is cancelled while its neighbours are looked up is cancelled, not skipped', async () => {
  const all = world()
  const { open, opened } = gate<{ unended: number; seen: boolean }>()
  const { job, called } = watched(all, 'report')
  const run = await store(all, job.everyMinute(), midnight)
  spiesOn(all.backend.store.schedules).neighbours.mockReturnValueOnce(opened)
  const working = all.jobs.run(withoutScheduler)
  await until(async () => (await all.record(run)).state === 'running')
  await all.jobs.handle(run.id).cancel()
  open({ unended: midnight - minute, seen: true })
  expect(await working).toMatchObject({ cancelled: 1 })
  expect(called).toEqual([])
})

/** A job that notes whatever is called of it. */
function watched({ jobs }: World, name: string) {
  const called: string[] = []
  const job = jobs
    .define(name, async () => void called.push('handler'))
    .before(() => called.push('before'))
    .onSuccess(() => called.push('onSuccess'))
    .onError(() => called.push('onError'))
    .finally(() => called.push('finally'))
  return { job, called }
}

function spiesOn(schedules: World['backend']['store']['schedules']) {
  return {
    neighbours: vi.spyOn(schedules, 'neighbours'),
    find: vi.spyOn(schedules, 'occurrences'),
    list: vi.spyOn(schedules, 'list'),
    skipWaiting: vi.spyOn(schedules, 'skipWaiting'),
  }
}
