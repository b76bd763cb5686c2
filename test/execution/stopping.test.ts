import { describe, expect, it } from 'vitest'
import { aborted, gate, until, world } from '../world.ts'

describe('a timeout', () => {
  it('A20: aborts the signal of the run and fails the attempt', async () => {
    const { jobs, clock, record, happened } = world()
    const reasons: unknown[] = []
    const job = jobs
      .define('slow', async (_, { signal }) => {
        signal.addEventListener('abort', () => reasons.push(signal.reason))
        await aborted(signal)
      })
      .timeout('30s')
    const run = await job.dispatch()
    const pass = jobs.run()
    await clock.advance(29_999)
    expect(reasons).toEqual([])
    await clock.advance(1)
    await pass
    expect(reasons).toEqual([expect.objectContaining({ code: 'TIMEOUT' })])
    expect(await record(run)).toMatchObject({ state: 'dead', reason: 'exhausted', errors: [{ code: 'TIMEOUT' }] })
    expect(happened.at(-1)).toMatchObject({ name: 'job:dead', event: { error: { code: 'TIMEOUT' } } })
  })

  it('is a failure like any other: onError sees it, and it is retried', async () => {
    const { jobs, clock, record } = world()
    const errors: unknown[] = []
    const job = jobs
      .define('slow', async (_, { signal, attempt }) => (attempt === 1 ? aborted(signal) : 'in time'))
      .timeout('1s')
      .retries(1)
      .onError((error) => errors.push(error))
    const run = await job.dispatch()
    const pass = jobs.run()
    await clock.advance(1_000)
    expect(await pass).toMatchObject({ retried: 1 })
    await clock.advance(1_000)
    await jobs.run()
    expect(errors).toEqual([expect.objectContaining({ code: 'TIMEOUT' })])
    expect(await record(run)).toMatchObject({ state: 'succeeded' })
  })

  it('fails a run that ended well but too late', async () => {
    const { jobs, clock, record } = world()
    const { open, opened } = gate()
    const job = jobs.define('slow', () => opened).timeout('1s')
    const run = await job.dispatch()
    const pass = jobs.run()
    await clock.advance(2_000)
    open()
    await pass
    expect(await record(run)).toMatchObject({ state: 'dead', errors: [{ code: 'TIMEOUT' }] })
  })

  it('X18: is the one of the dispatch, where that says something', async () => {
    const { jobs, clock, record } = world()
    const job = jobs.define('slow', (_, { signal }) => aborted(signal)).timeout('1h')
    const run = await job.dispatch({}, { timeout: '1s' })
    const pass = jobs.run()
    await clock.advance(1_000)
    await pass
    expect(await record(run)).toMatchObject({ state: 'dead' })
  })

  it('of null is none', async () => {
    const { jobs, clock, record } = world()
    const { open, opened } = gate()
    const job = jobs.define('slow', () => opened).timeout('1s')
    const run = await job.dispatch({}, { timeout: null })
    const pass = jobs.run()
    await clock.advance(60_000)
    open()
    await pass
    expect(await record(run)).toMatchObject({ state: 'succeeded' })
  })

  it('leaves nothing behind when the run was in time', async () => {
    const { jobs, clock } = world()
    const job = jobs.define('quick', async () => {}).timeout('1h')
    await job.dispatch()
    await jobs.run()
    expect(clock.nextTimerAt).toBeNull()
  })

  it('X34: leaves a handler behind that ignores its signal, after a grace, and reports it', async () => {
    const { jobs, clock, record, names } = world()
    const job = jobs.define('deaf', () => new Promise<void>(() => {})).timeout('1s')
    const run = await job.dispatch()
    const pass = jobs.run()
    await clock.advance(5_999)
    expect(await record(run)).toMatchObject({ state: 'running' })
    await clock.advance(1)
    await pass
    expect(await record(run)).toMatchObject({ state: 'dead', errors: [{ code: 'TIMEOUT' }] })
    expect(names()).toEqual(['job:started', 'job:abandoned', 'job:dead'])
  })

  it('takes no notice of what a handler does that was left behind', async () => {
    const { jobs, clock, record, log } = world()
    let fail = (_: Error) => {}
    const job = jobs.define('deaf', () => new Promise<void>((_, reject) => (fail = reject))).timeout('1s')
    const run = await job.dispatch()
    const pass = jobs.run()
    await clock.advance(6_000)
    await pass
    fail(new Error('much too late'))
    await clock.advance(0)
    expect(await record(run)).toMatchObject({ errors: [{ code: 'TIMEOUT' }] })
    expect(log).toEqual([])
  })
})

describe('a run that is called off before its handler is called', () => {
  it('never calls it', async () => {
    const { jobs, record, names } = world()
    const filter = gate<boolean>()
    let ran = 0
    const job = jobs
      .define('mail', async () => ran++)
      .when(() => filter.opened)
      .before(() => ran++)
      .onError(() => ran++)
    const run = await job.dispatch()
    const pass = jobs.run()
    await until(async () => (await run.state()) === 'running')
    expect(await run.cancel()).toBe(true)
    filter.open(true)
    expect(await pass).toMatchObject({ cancelled: 1 })
    expect(ran).toBe(0)
    expect(await record(run)).toMatchObject({ state: 'cancelled' })
    expect(names()).toEqual(['job:cancelled'])
  })

  it('never calls it after a before hook in which it was called off', async () => {
    const { jobs, record } = world()
    const hook = gate()
    let ran = 0
    const job = jobs.define('mail', async () => ran++).before(() => hook.opened)
    const run = await job.dispatch()
    const pass = jobs.run()
    await until(async () => (await run.state()) === 'running')
    await run.cancel()
    hook.open()
    await pass
    expect(ran).toBe(0)
    expect(await record(run)).toMatchObject({ state: 'cancelled' })
  })
})

describe('snooze', () => {
  it('puts the job back for later, burns no attempt and calls no hook but finally', async () => {
    const { jobs, clock, record, happened } = world()
    const called: string[] = []
    let isReady = false
    const job = jobs
      .define('poll', async (_, { attempt, snooze }) => {
        called.push(`handler ${attempt}`)
        if (!isReady) snooze('10s')
        return 'ready'
      })
      .onSuccess(() => called.push('onSuccess'))
      .onError(() => called.push('onError'))
      .finally(() => called.push('finally'))
    const run = await job.dispatch()
    for (let pass = 0; pass < 3; pass++) {
      expect(await jobs.run()).toMatchObject({ snoozed: 1, dead: 0 })
      expect(await record(run)).toMatchObject({ state: 'scheduled', attempts: 0, runAt: clock.now() + 10_000, errors: [] })
      await clock.advance(10_000)
    }
    isReady = true
    await jobs.run()
    const handlerThenFinally = ['handler 1', 'finally']
    expect(called).toEqual([
      ...handlerThenFinally,
      ...handlerThenFinally,
      ...handlerThenFinally,
      'handler 1',
      'onSuccess',
      'finally',
    ])
    expect(await record(run)).toMatchObject({ state: 'succeeded', attempts: 1 })
    expect(happened.find(({ name }) => name === 'job:snoozed')).toMatchObject({ event: { id: run.id, delayMs: 10_000 } })
  })

  it('holds where the handler itself catches it, and ends as if nothing had been', async () => {
    const { jobs, record, log, names } = world()
    const job = jobs.define('poll', async (_, { snooze }) => {
      try {
        return snooze('10s')
      } catch {
        return 'polled'
      }
    })
    const run = await job.onSuccess(() => expect.unreachable()).dispatch()
    expect(await jobs.run()).toMatchObject({ snoozed: 1, succeeded: 0 })
    expect(await record(run)).toMatchObject({ state: 'scheduled', attempts: 0, errors: [] })
    expect([log, names()]).toEqual([[], ['job:started', 'job:snoozed']])
  })

  it('holds where the handler throws something else behind it, which is said in the log', async () => {
    const { jobs, record, log } = world()
    const job = jobs.define('poll', async (_, { snooze }) => {
      try {
        snooze('10s')
      } catch (cause) {
        throw new Error('could not poll', { cause })
      }
    })
    const run = await job.dispatch()
    expect(await jobs.run()).toMatchObject({ snoozed: 1, dead: 0 })
    expect(await record(run)).toMatchObject({ state: 'scheduled', attempts: 0, errors: [] })
    expect(log).toEqual([`warn [poll ${run.id}] the run ended with ctx.snooze(), and the handler then threw: could not poll`])
  })

  it('does not hold where the handler goes on behind it until its time is over', async () => {
    const { jobs, record, clock } = world()
    const job = jobs.define('poll', async (_, { snooze, signal }) => {
      try {
        snooze('10s')
      } catch {
        await aborted(signal)
      }
    })
    const run = await job.timeout('1s').dispatch()
    const passing = jobs.run()
    await clock.advance(1_000)
    expect(await passing).toMatchObject({ snoozed: 0, dead: 1 })
    expect(await record(run)).toMatchObject({ state: 'dead', errors: [{ code: 'TIMEOUT' }] })
  })

  it.each(['soon', '99999999d'])('refuses %s, a time that is none, which fails the attempt', async (time) => {
    const { jobs, record } = world()
    const run = await jobs.define('poll', async (_, context) => context.snooze(time)).dispatch()
    await jobs.run()
    expect(await record(run)).toMatchObject({ state: 'dead', errors: [{ code: 'DURATION_INVALID' }] })
  })
})
