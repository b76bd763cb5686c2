import { describe, expect, it } from 'vitest'
import { overlaid } from '../testing/broken-backend.ts'
import { gate, until, world, worldOn } from '../world.ts'

const quiet = { signals: false } as const

describe('a worker', () => {
  it('demands 13: is listed from its start to its end, with what it does', async () => {
    const { jobs, clock, backend } = world()
    const { open, opened } = gate()
    jobs.define('mail', () => opened)
    jobs.define('report', async () => {})
    await jobs.dispatch('mail')
    const working = jobs.work({ ...quiet, queues: ['default'], concurrency: 3 })
    const startedAt = clock.now()
    await clock.advance(10_000)
    expect(await backend.store.workers.list()).toEqual([
      {
        owner: expect.stringMatching(/:\d+:/),
        host: expect.any(String),
        pid: process.pid,
        version: expect.stringMatching(/^\d/),
        startedAt,
        queues: ['default'],
        jobs: ['mail', 'report'],
        concurrency: 3,
        allowed: 3,
        running: 1,
        breaker: 'closed',
        // It has no schedules, and follows those that are made at run time.
        scheduler: { lastTickAt: startedAt },
        seenAt: startedAt + 10_000,
        expiresAt: startedAt + 40_000,
      },
    ])
    open()
    await jobs.stop()
    await working
    expect(await backend.store.workers.list()).toEqual([])
  })

  it('has the owner of its leases', async () => {
    const { jobs, backend, record } = world()
    const { open, opened } = gate()
    const run = await jobs.define('mail', () => opened).dispatch()
    const working = jobs.work(quiet)
    await until(async () => (await record(run)).state === 'running')
    expect((await backend.store.workers.list()).map(({ owner }) => owner)).toEqual([(await record(run)).owner])
    open()
    await jobs.stop()
    await working
  })

  it('is seen at least each ten seconds, however long its leases are, and as often as short ones are renewed', async () => {
    const { jobs, clock, backend, other } = world()
    const second = other()
    for (const each of [jobs, second.jobs]) each.define('mail', async () => {})
    const working = [jobs.work({ ...quiet, lease: '1h' }), second.jobs.work({ ...quiet, lease: '3s' })]
    const startedAt = clock.now()
    await clock.advance(9_999)
    const seen = async () => (await backend.store.workers.list()).map(({ seenAt }) => seenAt - startedAt).toSorted()
    expect(await seen()).toEqual([0, 9_000])
    await clock.advance(1)
    expect(await seen()).toEqual([10_000, 10_000])
    await Promise.all([jobs.stop(), second.jobs.stop()])
    await Promise.all(working)
  })

  it('stays listed while it waits for its jobs at the end', async () => {
    const { jobs, clock, backend } = world()
    const { open, opened } = gate()
    await jobs.define('long', () => opened).dispatch()
    const working = jobs.work({ ...quiet, grace: '5m' })
    await clock.advance(1_000)
    const stopping = jobs.stop()
    await clock.advance(120_000)
    expect(await backend.store.workers.list()).toHaveLength(1)
    open()
    await stopping
    await working
  })

  it('demands 13: that follows schedules tells when it last looked at them', async () => {
    const { jobs, clock, backend } = world()
    jobs.define('hourly', async () => {}).hourly()
    const working = jobs.work(quiet)
    const startedAt = clock.now()
    await clock.advance(60_000)
    const [worker] = await backend.store.workers.list()
    expect(worker?.scheduler?.lastTickAt).toBeGreaterThanOrEqual(startedAt + 30_000)
    await jobs.stop()
    await working
  })

  it('of one pass is listed only when the pass is a long one', async () => {
    const { jobs, clock, backend } = world()
    const { open, opened } = gate()
    await jobs.define('long', () => opened).dispatch()
    const pass = jobs.run()
    await clock.advance(9_999)
    expect(await backend.store.workers.list()).toEqual([])
    await clock.advance(1)
    expect(await backend.store.workers.list()).toHaveLength(1)
    open()
    await pass
    expect(await backend.store.workers.list()).toEqual([])
  })

  it('whose row cannot be written works on, and says so once', async () => {
    const { clock, backend } = world()
    const workers = overlaid(backend.store.workers, { announce: () => Promise.reject(new Error('no room')) })
    const { jobs, log } = worldOn(overlaid(backend, { store: overlaid(backend.store, { workers }) }), clock)
    const run = await jobs.define('mail', async () => 'sent').dispatch()
    const working = jobs.work(quiet)
    await clock.advance(60_000)
    expect(await run.result()).toBe('sent')
    expect(log.filter((line) => line.includes('no room'))).toHaveLength(1)
    await jobs.stop()
    await working
  })
})

describe('the state of a worker', () => {
  it('is there while it works', async () => {
    const { jobs, clock } = world()
    const { open, opened } = gate()
    await jobs.define('mail', () => opened).dispatch()
    expect(await jobs.workerState()).toBeNull()
    const working = jobs.work({ ...quiet, concurrency: 4 })
    await clock.advance(10)
    expect(await jobs.workerState()).toMatchObject({ running: 1, concurrency: 4, allowed: 4, breaker: 'closed' })
    open()
    await jobs.stop()
    await working
    expect(await jobs.workerState()).toBeNull()
  })
})
