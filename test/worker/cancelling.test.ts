import { afterEach, describe, expect, it, vi } from 'vitest'
import type { JobContext } from '../../src/definition/context.ts'
import { aborted, gate, until, world } from '../world.ts'

const quiet = { signals: false } as const

describe('cancelling', () => {
  afterEach(() => {
    vi.restoreAllMocks()
  })

  it('ends a job that waits, which never runs', async () => {
    const { jobs, record } = world()
    let ran = 0
    const job = jobs.define('mail', async () => ran++)
    const [ready, delayed] = [await job.dispatch(), await job.delay('1h').dispatch()]
    expect([await ready.cancel(), await delayed.cancel()]).toEqual([true, true])
    await jobs.run()
    expect(ran).toBe(0)
    for (const run of [ready, delayed]) expect(await record(run)).toMatchObject({ state: 'cancelled', attempts: 0 })
  })

  it('asks a running job of this program to stop through its signal, at once', async () => {
    const { jobs, clock, record, names } = world()
    const called: string[] = []
    const job = jobs
      .define('long', (_, { signal }) => aborted(signal))
      .retries(5)
      .onError(() => called.push('onError'))
      .finally(() => called.push('finally'))
    const run = await job.dispatch()
    const before = clock.now()
    const working = jobs.work(quiet)
    await until(() => names().includes('job:started'))
    expect(await run.cancel()).toBe(true)
    await until(() => names().includes('job:cancelled'))
    expect(clock.now()).toBe(before)
    expect(called).toEqual(['finally'])
    expect(await record(run)).toMatchObject({ state: 'cancelled', errors: [] })
    await expect(run.result()).rejects.toThrow(expect.objectContaining({ code: 'RUN_FAILED' }))
    await jobs.stop()
    expect(await working).toMatchObject({ cancelled: 1 })
  })

  it('asks a running job of another program, which hears of it within a second', async () => {
    const worker = world()
    const client = worker.other()
    worker.jobs.define('long', (_, { signal }) => aborted(signal))
    const run = await client.jobs.declare('long').dispatch()
    const working = worker.jobs.work({ ...quiet, concurrency: 1, poll: '1h' })
    await until(() => worker.names().includes('job:started'))
    expect(await run.cancel()).toBe(true)
    expect(await worker.record(run)).toMatchObject({ state: 'running', cancelRequested: true })
    await worker.clock.advance(1_000)
    await until(() => worker.names().includes('job:cancelled'))
    expect(await run.state()).toBe('cancelled')
    await worker.jobs.stop()
    await working
  })

  it('never starts a job that its worker holds but has not begun', async () => {
    // Jobs seem to take no time at all, so the worker leases more than it can start.
    vi.spyOn(performance, 'now').mockReturnValue(0)
    const { jobs, backend, record, happened } = world()
    const { open, opened } = gate()
    const job = jobs.define('mail', async (isSlow: boolean) => (isSlow ? opened : undefined))
    const runs = await job.dispatchMany(Array.from({ length: 60 }, (_, index) => index === 30))
    const working = jobs.work({ ...quiet, concurrency: 1 })
    await until(async () => (await record(runs[30] as never)).state === 'running')
    await until(async () => (await backend.store.list({ state: 'running', limit: 100 })).length > 1)
    const waiting = runs[31] as (typeof runs)[number]
    expect(await waiting.state()).toBe('running')
    expect(await waiting.cancel()).toBe(true)
    await until(async () => (await waiting.state()) === 'cancelled')
    open()
    await Promise.all(runs.filter((run) => run !== waiting).map((run) => run.result()))
    const started = happened.flatMap(({ name, event }) => (name === 'job:started' && 'id' in event ? [event.id] : []))
    expect(started).toHaveLength(59)
    expect(started).not.toContain(waiting.id)
    await jobs.stop()
    await working
  })

  it('leaves a handler behind that does not listen, after its grace', async () => {
    const { jobs, clock, record, names } = world()
    const run = await jobs.define('deaf', () => new Promise<void>(() => {})).dispatch()
    const working = jobs.work(quiet)
    await until(() => names().includes('job:started'))
    await run.cancel()
    await clock.advance(4_999)
    expect(await record(run)).toMatchObject({ state: 'running' })
    await clock.advance(1)
    expect(await record(run)).toMatchObject({ state: 'cancelled' })
    expect(names()).toEqual(['job:started', 'job:abandoned', 'job:cancelled'])
    await jobs.stop()
    await working
  })

  it('does not undo work that a handler finished all the same', async () => {
    const { jobs, record, names } = world()
    const { open, opened } = gate<string>()
    const run = await jobs.define('mail', () => opened).dispatch()
    const working = jobs.work(quiet)
    await until(() => names().includes('job:started'))
    await run.cancel()
    open('sent')
    await until(async () => (await run.state()) !== 'running')
    expect(await record(run)).toMatchObject({ state: 'succeeded', result: '"sent"' })
    await jobs.stop()
    await working
  })

  it('tells that a job had ended already, and refuses one that never was', async () => {
    const { jobs } = world()
    const run = await jobs.define('mail', async () => {}).dispatch()
    await jobs.run()
    expect(await run.cancel()).toBe(false)
    await expect(jobs.handle('nobody').cancel()).rejects.toThrow(expect.objectContaining({ code: 'RUN_NOT_FOUND' }))
  })

  it.each([
    ['fails and would be tried again', () => Promise.reject(new Error('no'))],
    ['is snoozed', async (_: unknown, ctx: JobContext) => ctx.snooze('1h')],
    ['waits for its children', async (_: unknown, ctx: JobContext) => void (await ctx.children())],
    ['ends before its children', async () => 'done'],
  ])('tells the truth of a job that was asked to stop by another program, and %s before it hears of it', async (_, end) => {
    const { jobs, names, record, other } = world()
    jobs.define('child', async () => {})
    const job = jobs
      .define('parent', async (payload: unknown, ctx) => {
        await ctx.dispatchChild('child', null, { delay: '1h' })
        await other().jobs.handle(ctx.id).cancel()
        return end(payload, ctx)
      })
      .retries(3)
    const run = await job.dispatch(1)
    expect(await jobs.run()).toMatchObject({ cancelled: 1, retried: 0, snoozed: 0, waiting: 0, succeeded: 0 })
    expect(names()).toEqual(['job:started', 'job:cancelled'])
    expect(await record(run)).toMatchObject({ state: 'cancelled' })
  })
})
