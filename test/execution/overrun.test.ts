import { describe, expect, it } from 'vitest'
import { gate, until, type World, world } from '../world.ts'
import { store } from './stored.ts'

const minute = 60_000
const midnight = Date.UTC(2026, 0, 1)
const withoutScheduler = { scheduler: false } as const

/** Jobs whose handler is deaf to its signal, and whose slot others wait for. */
const holders = {
  'that runs alone': (all: World, handler: () => Promise<void>) =>
    all.jobs.define('deaf', handler).timeout('1m').singleInstance().dispatch(),
  'of which so many run at once': (all: World, handler: () => Promise<void>) =>
    all.jobs.define('deaf', handler).timeout('1m').concurrency(3).dispatch(),
  'with a longest running time': (all: World, handler: () => Promise<void>) =>
    all.jobs.define('deaf', handler).maxRunningTime('1m').dispatch(),
  'that was scheduled': (all: World, handler: () => Promise<void>) =>
    store(all, all.jobs.define('deaf', handler).timeout('1m').daily(), midnight),
} as const

describe('X34, Y12: over its time, a job', () => {
  it.each(Object.entries(holders))('%s keeps its slot until its handler has really ended', async (_, begin) => {
    const all = world()
    const { open, opened } = gate()
    const run = await begin(all, () => opened)
    const working = all.jobs.run(withoutScheduler)
    await all.clock.advance(minute + 4_999)
    expect(all.names()).toEqual(['job:started'])
    await all.clock.advance(1)
    expect(all.happened.at(-1)).toMatchObject({ name: 'job:overrun', event: { id: run.id, job: 'deaf', overrunMs: 5_000 } })
    await all.clock.advance(2 * minute)
    expect(all.happened.slice(1).map(({ event }) => 'overrunMs' in event && event.overrunMs)).toEqual([5_000, 65_000, 125_000])
    expect(all.log[1]).toBe(`warn [deaf ${run.id}] was asked to stop 1m5s ago and has not ended; it keeps its slot until it does`)
    expect(await all.record(run)).toMatchObject({ state: 'running', rescues: 0 })
    open()
    expect(await working).toMatchObject({ dead: 1 })
    expect(await all.record(run)).toMatchObject({ state: 'dead', reason: 'exhausted', errors: [{ code: 'TIMEOUT' }] })
    expect(all.names().at(-1)).toBe('job:dead')
    expect(all.names()).not.toContain('job:abandoned')
    expect(all.clock.nextTimerAt).toBeNull()
  })

  it('lets no other one begin beside it, on any worker', async () => {
    const all = world()
    const { open, opened } = gate()
    let running = 0
    const define = ({ jobs }: World) =>
      jobs
        .define('deaf', async () => {
          expect(++running).toBe(1)
          await opened
          running--
        })
        .singleInstance()
        .maxRunningTime('1m')
    const other = all.other()
    define(other)
    const job = define(all)
    const first = await job.dispatch()
    const second = await job.dispatch()
    const working = all.jobs.run(withoutScheduler)
    await all.clock.advance(10 * minute)
    await other.jobs.run(withoutScheduler)
    expect(await all.record(second)).toMatchObject({ state: 'ready', attempts: 0 })
    open()
    await working
    await all.jobs.run(withoutScheduler)
    expect(await all.record(first)).toMatchObject({ state: 'dead' })
    expect(await all.record(second)).toMatchObject({ state: 'succeeded' })
  })

  it('makes later occurrences of its schedule yield for as long', async () => {
    const all = world()
    const { open, opened } = gate()
    const job = all.jobs
      .define('deaf', () => opened)
      .timeout('1m')
      .everyMinute()
    await store(all, job, midnight)
    const working = all.jobs.work({ ...withoutScheduler, signals: false })
    await all.clock.advance(10 * minute)
    const later = await store(all, job, midnight + 10 * minute)
    await all.clock.advance(minute)
    expect(await all.record(later)).toMatchObject({ state: 'skipped' })
    open()
    await all.clock.advance(0)
    await all.jobs.stop()
    await working
  })

  it('that nobody waits for is left behind after its grace', async () => {
    const all = world()
    const job = all.jobs
      .define('deaf', () => new Promise<void>(() => {}))
      .timeout('1m')
      .everyMinute()
      .overlap('allow')
    const runs = [await job.dispatch(), await store(all, job, midnight)]
    const working = all.jobs.run(withoutScheduler)
    await all.clock.advance(minute + 5_000)
    await working
    for (const run of runs) expect(await all.record(run)).toMatchObject({ state: 'dead', errors: [{ code: 'TIMEOUT' }] })
    expect(all.names().filter((name) => name === 'job:abandoned')).toHaveLength(2)
  })

  it('whose filter does not end is left behind: its work has not begun', async () => {
    const all = world()
    const job = all.jobs
      .define('deaf', async () => {})
      .when(() => new Promise<boolean>(() => {}))
      .maxRunningTime('1m')
    const run = await job.dispatch()
    const working = all.jobs.run(withoutScheduler)
    await all.clock.advance(minute + 5_000)
    await working
    expect(await all.record(run)).toMatchObject({ state: 'dead', errors: [{ code: 'TIMEOUT' }] })
  })

  it('is retried like any other failure, after it has ended', async () => {
    const all = world()
    const { open, opened } = gate()
    const job = all.jobs
      .define('deaf', async (_, { attempt }) => (attempt === 1 ? opened : undefined))
      .maxRunningTime('1m')
      .retries(1)
    const run = await job.dispatch()
    const working = all.jobs.run(withoutScheduler)
    await all.clock.advance(10 * minute)
    open()
    expect(await working).toMatchObject({ retried: 1 })
    await all.clock.advance(minute)
    await all.jobs.run(withoutScheduler)
    expect(await all.record(run)).toMatchObject({ state: 'succeeded', attempts: 2 })
  })
})

describe('a job that keeps its slot', () => {
  it('keeps it when it was cancelled and does not end', async () => {
    const all = world()
    const { open, opened } = gate()
    const run = await all.jobs
      .define('deaf', async (_, { signal }) => {
        await opened
        signal.throwIfAborted()
      })
      .singleInstance()
      .dispatch()
    const working = all.jobs.run(withoutScheduler)
    await until(async () => (await run.state()) === 'running')
    await run.cancel()
    await all.clock.advance(10 * minute)
    expect(await all.record(run)).toMatchObject({ state: 'running' })
    expect(all.names()).toContain('job:overrun')
    open()
    await working
    expect(await all.record(run)).toMatchObject({ state: 'cancelled' })
  })

  it('loses it with its lease', async () => {
    const all = world()
    const run = await all.jobs
      .define('deaf', async (_, { heartbeat }) => {
        await heartbeat()
        await new Promise(() => {})
      })
      .singleInstance()
      .dispatch()
    all.backend.extend = async (tokens) => tokens.map(() => 'lost')
    const working = all.jobs.run(withoutScheduler)
    await all.clock.advance(5_000)
    expect(await working).toMatchObject({ lost: 1 })
    expect(all.names()).toEqual(['job:started', 'job:abandoned', 'job:lost'])
    expect(await all.record(run)).toMatchObject({ state: 'running' })
  })

  it('goes back to its queue when the worker shuts down, since the process ends', async () => {
    const all = world()
    const run = await all.jobs
      .define('deaf', () => new Promise<void>(() => {}))
      .singleInstance()
      .dispatch()
    const working = all.jobs.work({ ...withoutScheduler, signals: false, grace: '1s' })
    await until(async () => (await run.state()) === 'running')
    const stopping = all.jobs.stop()
    await all.clock.advance(6_000)
    await Promise.all([stopping, working])
    expect(await all.record(run)).toMatchObject({ state: 'ready', attempts: 0 })
  })

  it('and was over its time already is settled by a shutdown as what it is: failed', async () => {
    const all = world()
    const run = await all.jobs
      .define('deaf', () => new Promise<void>(() => {}))
      .maxRunningTime('1m')
      .dispatch()
    const working = all.jobs.work({ ...withoutScheduler, signals: false, grace: '1s' })
    await all.clock.advance(10 * minute + 30_000)
    expect(await all.record(run)).toMatchObject({ state: 'running' })
    const stopping = all.jobs.stop()
    await all.clock.advance(6_000)
    await Promise.all([stopping, working])
    expect(await all.record(run)).toMatchObject({ state: 'dead', errors: [{ code: 'TIMEOUT' }] })
  })
})
