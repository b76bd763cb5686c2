import { describe, expect, it } from 'vitest'
import { aborted, gate, until, world, worldOn } from '../world.ts'
import { faultyBackend } from './faults.ts'

const quiet = { signals: false } as const

describe('stopping a worker', () => {
  it('A22, J37: claims no more and lets running jobs finish, whose leases are still renewed', async () => {
    const { jobs, clock, record, names } = world()
    const { open, opened } = gate<string>()
    const long = await jobs.define('long', () => opened).dispatch()
    const working = jobs.work({ ...quiet, lease: '3s' })
    await until(() => names().includes('job:started'))
    const stopping = jobs.stop()
    const later = await jobs.define('later', async () => {}).dispatch()
    await clock.advance(20_000)
    expect(await record(long)).toMatchObject({ state: 'running', rescues: 0 })
    open('finished')
    await stopping
    expect(await working).toMatchObject({ succeeded: 1, released: 0 })
    expect(await long.result()).toBe('finished')
    expect(await record(later)).toMatchObject({ state: 'ready', attempts: 0 })
    expect(clock.nextTimerAt).toBeNull()
  })

  it('aborts what is left after the grace, and gives it back: not failed, not burnt, without its error hooks', async () => {
    const { jobs, clock, record, names } = world()
    const called: string[] = []
    const reasons: unknown[] = []
    const job = jobs
      .define('long', async (_, { signal }) => {
        signal.addEventListener('abort', () => reasons.push(signal.reason))
        await aborted(signal)
      })
      .onError(() => called.push('onError'))
      .finally(() => called.push('finally'))
    const run = await job.dispatch()
    const working = jobs.work({ ...quiet, grace: '10s' })
    await until(() => names().includes('job:started'))
    const stopping = jobs.stop()
    await clock.advance(9_999)
    expect(reasons).toEqual([])
    await clock.advance(1)
    await stopping
    expect(reasons).toEqual([expect.objectContaining({ code: 'STOPPED' })])
    expect(await working).toMatchObject({ released: 1, retried: 0, dead: 0 })
    expect(await record(run)).toMatchObject({ state: 'ready', attempts: 0, rescues: 0, errors: [] })
    expect(called).toEqual(['finally'])
    expect(names()).toEqual(['job:started', 'job:released'])
    expect(clock.nextTimerAt).toBeNull()
  })

  it('does not wait for ever for a handler that ignores its signal', async () => {
    const { jobs, clock, record, names } = world()
    const run = await jobs.define('deaf', () => new Promise<void>(() => {})).dispatch()
    const working = jobs.work({ ...quiet, grace: '10s' })
    await until(() => names().includes('job:started'))
    const stopping = jobs.stop()
    await clock.advance(20_000)
    await stopping
    expect(await working).toMatchObject({ released: 1 })
    expect(await record(run)).toMatchObject({ state: 'ready', attempts: 0 })
    expect(names()).toEqual(['job:started', 'job:abandoned', 'job:released'])
  })

  it('keeps the result of a job that finishes after it was told to stop', async () => {
    const { jobs, clock, names } = world()
    const job = jobs.define('long', async (_, { signal }) => {
      await aborted(signal).catch(() => {})
      return 'cleaned up'
    })
    const run = await job.dispatch()
    const working = jobs.work({ ...quiet, grace: 0 })
    await until(() => names().includes('job:started'))
    const stopping = jobs.stop()
    await clock.advance(0)
    await stopping
    await working
    expect(await run.result()).toBe('cleaned up')
  })

  it('can be done twice, also at the same time', async () => {
    const { jobs } = world()
    jobs.define('mail', async () => {})
    const working = jobs.work(quiet)
    await Promise.all([jobs.stop(), jobs.stop()])
    await working
    await jobs.stop()
  })

  it('does nothing where nothing works', async () => {
    const { jobs, clock } = world()
    await jobs.stop()
    expect(clock.nextTimerAt).toBeNull()
  })

  it('reaches a worker that is just being started', async () => {
    const { jobs, clock } = world()
    jobs.define('mail', async () => {})
    const working = jobs.work(quiet)
    const stopping = jobs.stop()
    await stopping
    expect(await working).toMatchObject({ succeeded: 0 })
    expect(clock.nextTimerAt).toBeNull()
  })

  it('is done by a signal of the caller, at any time, and leaves nothing behind', async () => {
    const { jobs, clock } = world()
    jobs.define('mail', async () => {})
    await jobs.work({ ...quiet, signal: AbortSignal.abort() })
    expect(clock.nextTimerAt).toBeNull()
    const stop = new AbortController()
    const working = jobs.work({ ...quiet, signal: stop.signal })
    await clock.advance(5_000)
    stop.abort()
    await working
    expect(clock.nextTimerAt).toBeNull()
  })

  it('gives back jobs that arrive from the queue while it stops', async () => {
    const { backend, sound, clock } = faultyBackend()
    const { open, opened } = gate()
    const lease: typeof sound.lease = async (request) => {
      const batch = await sound.lease(request)
      if (batch.leases.length > 0) await opened
      return batch
    }
    const { jobs, record } = worldOn({ ...backend, lease }, clock)
    let ran = 0
    const run = await jobs.define('mail', async () => ran++).dispatch()
    const working = jobs.work(quiet)
    await until(async () => (await record(run)).state === 'running')
    const stopping = jobs.stop()
    await clock.advance(0)
    open()
    await stopping
    expect(await working).toMatchObject({ released: 1, succeeded: 0 })
    expect(await record(run)).toMatchObject({ state: 'ready', attempts: 0, rescues: 0 })
    expect(ran).toBe(0)
  })

  it('lets the instance work again afterwards', async () => {
    const { jobs } = world()
    const job = jobs.define('mail', async () => 'sent')
    for (let time = 0; time < 2; time++) {
      const working = jobs.work(quiet)
      expect(await (await job.dispatch()).result()).toBe('sent')
      await jobs.stop()
      await working
    }
  })

  it('ends a pass too', async () => {
    const { jobs, clock, names, record } = world()
    const job = jobs.define('long', (_, { signal }) => aborted(signal))
    const run = await job.dispatch()
    const pass = jobs.run()
    await until(() => names().includes('job:started'))
    const stopping = jobs.stop()
    await clock.advance(40_000)
    await stopping
    expect(await pass).toMatchObject({ released: 1 })
    expect(await record(run)).toMatchObject({ state: 'ready', attempts: 0 })
  })
})

describe('a second worker of one instance', () => {
  it('is refused, also when both start at once', async () => {
    const { jobs } = world()
    jobs.define('mail', async () => {})
    const working = jobs.work(quiet)
    await expect(jobs.work(quiet)).rejects.toThrow(expect.objectContaining({ code: 'WORKER_RUNNING' }))
    await jobs.stop()
    await working
  })
})

describe('a worker that is told to stop while it starts', () => {
  it('begins nothing, says nothing of a start, and leaves no timer behind', async () => {
    const { jobs, clock, backend } = world()
    const entered = gate()
    const goOn = gate()
    const { schedules } = backend.store
    const register = schedules.register.bind(schedules)
    schedules.register = async (entries) => {
      entered.open()
      await goOn.opened
      return register(entries)
    }
    jobs.define('tick', async () => {}).everyMinute()
    let started = 0
    jobs.on('worker:started', () => started++)
    const working = jobs.work({ signals: false, maxLoad: 0.5 })
    await entered.opened
    const stopping = jobs.stop()
    goOn.open()
    await Promise.all([working, stopping])
    expect([started, clock.nextTimerAt]).toEqual([0, null])
  })
})
