import { describe, expect, expectTypeOf, it } from 'vitest'
import { treadle } from '../../src/app/treadle.ts'
import type { JobContext } from '../../src/definition/context.ts'
import { ManualClock } from '../../src/testing/manual-clock.ts'
import { world } from '../world.ts'

describe('middleware around handlers', () => {
  it('wraps the handlers of all jobs, the first one outermost', async () => {
    const { jobs } = world()
    const order: string[] = []
    jobs.use(async (ctx, next) => {
      order.push(`a ${ctx.job}`)
      await next()
      order.push('a end')
    })
    jobs.use(async (_, next) => {
      order.push('b')
      await next()
      order.push('b end')
    })
    const run = await jobs.define('mail', () => void order.push('handler')).dispatch()
    await jobs.run()
    expect(await run.state()).toBe('succeeded')
    expect(order).toEqual(['a mail', 'b', 'handler', 'b end', 'a end'])
  })

  it('wraps only the jobs that fit its pattern', async () => {
    const { jobs } = world()
    const seen: string[] = []
    jobs.use('mail-*', (ctx, next) => {
      seen.push(ctx.job)
      return next()
    })
    for (const job of ['mail-welcome', 'mail-bye', 'report']) await jobs.define(job, () => {}).dispatch()
    await jobs.run()
    expect(seen.toSorted()).toEqual(['mail-bye', 'mail-welcome'])
  })

  it('also those that were defined and used before it', async () => {
    const { jobs } = world()
    const job = jobs.define('mail', () => 1)
    await job.dispatch()
    await jobs.run()
    jobs.use(async () => 2)
    const run = await job.dispatch()
    await jobs.run()
    expect(await run.result()).toBe(2)
  })

  it('gives the result of the handler where it returns nothing, and its own where it returns something', async () => {
    const { jobs } = world()
    jobs.use('kept', async (_, next) => {
      await next()
    })
    jobs.use('changed', async (_, next) => ({ wrapped: await next() }))
    const runs = [await jobs.define('kept', () => 7).dispatch(), await jobs.define('changed', () => 7).dispatch()]
    await jobs.run()
    expect(await Promise.all(runs.map((run) => run.result()))).toEqual([7, { wrapped: 7 }])
  })

  it('sees what the handler throws, and what it throws itself fails the attempt', async () => {
    const { jobs, record } = world()
    const seen: unknown[] = []
    jobs.use('broken', async (_, next) => {
      try {
        return await next()
      } catch (error) {
        seen.push((error as Error).message)
        throw new Error('as the middleware says')
      }
    })
    const run = await jobs
      .define('broken', () => {
        throw new Error('it broke')
      })
      .dispatch()
    await jobs.run()
    expect(seen).toEqual(['it broke'])
    expect(await record(run)).toMatchObject({ state: 'dead', errors: [{ message: 'as the middleware says' }] })
  })

  it('does not keep a run from leaving, whatever it catches', async () => {
    const { jobs } = world()
    jobs.use(async (_, next) => {
      await next().catch(() => {})
    })
    const run = await jobs.define('poll', (_: unknown, ctx) => ctx.snooze('1m')).dispatch()
    await jobs.run()
    expect(await run.state()).toBe('scheduled')
  })

  it('adds to the context of the handlers and hooks that it wraps', async () => {
    const { jobs } = world()
    const app = jobs
      .use<{ tenant: string }>((ctx, next) => next({ tenant: String(ctx.meta.tenant) }))
      .use<{ upper: string }>((ctx, next) => next({ upper: (ctx as unknown as { tenant: string }).tenant.toUpperCase() }))
    const job = app.define('mail', async (_: unknown, ctx) => {
      expectTypeOf(ctx.tenant).toEqualTypeOf<string>()
      expectTypeOf(ctx).toExtend<JobContext<unknown>>()
      await ctx.progress(0.5)
      return [ctx.tenant, ctx.upper, ctx.job, ctx.attempt, ctx.signal.aborted]
    })
    // @ts-expect-error: `tenant` is a text
    const wrong = () => jobs.use<{ tenant: string }>((_, next) => next({ tenant: 7 }))
    expect(wrong).toBeTypeOf('function')
    const run = await job.dispatch(null, { meta: { tenant: 'acme' } })
    await jobs.run()
    expect(await run.result()).toEqual(['acme', 'ACME', 'mail', 1, false])
    expect(await run.progress()).toBe(0.5)
  })

  it('cannot replace what a context has, nor go on twice', async () => {
    const { jobs, record } = world()
    jobs.use('replaces', (_, next) => next({ id: 'another' }))
    jobs.use('twice', async (_, next) => {
      await next()
      await next()
    })
    const runs = [await jobs.define('replaces', () => {}).dispatch(), await jobs.define('twice', () => {}).dispatch()]
    await jobs.run()
    const errors = await Promise.all(runs.map(async (run) => (await record(run)).errors[0]?.message))
    expect(errors).toEqual([expect.stringContaining('cannot replace what a context has: id'), expect.stringContaining('twice')])
  })

  it.each([
    [[7], 'it takes a function'],
    [[{ rum: () => {} }], 'unknown option "rum"'],
    [['', () => {}], 'the pattern must be'],
    [[{ dispatch: 7 }], 'dispatch must be given a function'],
  ])('is refused where it is none: %j', (given, message) => {
    expect(() => (world().jobs.use as (...args: unknown[]) => unknown)(...given)).toThrow(message)
  })
})

describe('middleware around dispatches', () => {
  it('may pass on a payload that was not given', async () => {
    const { jobs, record } = world()
    jobs.use({ dispatch: ({ payload, options }, next) => next({ payload, options }) })
    const mail = jobs.define('mail', (_: { to: string }) => {}).args({ to: 'ada' })
    expect((await record(await mail.dispatch())).payload).toBe('{"to":"ada"}')
    expect((await record(await jobs.dispatch('mail', null))).payload).toBe('null')
  })

  it('is refused if it replaces something else', async () => {
    const { jobs } = world()
    jobs.use({ dispatch: (_, next) => next({ option: { delay: '1h' } } as never) })
    const refused = jobs.define('mail', () => {}).dispatch()
    await expect(refused).rejects.toThrow('unknown option "option", did you mean "options"?')
  })

  it('may change the payload and the options of every way to dispatch', async () => {
    const { jobs, record } = world()
    jobs.use({
      dispatch: async ({ payload, options }, next) =>
        next({ payload: { ...(payload as object), traced: true }, options: { ...options, meta: { trace: 't-1' } } }),
    })
    const job = jobs.define('mail', async (payload: object, ctx) => {
      if ('parent' in payload) await ctx.dispatchChild('child', { of: 'mail' })
      return payload
    })
    jobs.define('child', () => {})
    const runs = [
      await job.dispatch({ one: 1 }),
      ...(await job.dispatchMany([{ many: 1 }, { many: 2 }])),
      ...(await jobs.chain([job.step({ step: 1 }), job.step({ parent: 1 })])).runs,
      await jobs.args({ args: 1 }).dispatch('mail'),
    ]
    await jobs.run()
    for (const run of runs) expect((await record(run)).meta).toEqual({ trace: 't-1' })
    expect(JSON.parse((await record(runs[0] as { id: string })).payload)).toEqual({ one: 1, traced: true })
    const children = await (await jobs.store()).list({ job: 'child', limit: 10 })
    expect(children.map(({ meta, payload }) => [meta, payload])).toEqual([[{ trace: 't-1' }, '{"of":"mail","traced":true}']])
  })

  it('gives the run, after the job was stored', async () => {
    const { jobs } = world()
    const seen: string[] = []
    jobs.use('mail', {
      dispatch: async (request, next) => {
        const run = await next()
        seen.push(`${request.job} ${await run.state()}`)
        return run
      },
    })
    const run = await jobs.define('mail', () => {}).dispatch()
    expect([run.created, seen]).toEqual([true, ['mail ready']])
  })

  it('stores none of many where it refuses one', async () => {
    const { jobs, backend } = world()
    jobs.use({
      dispatch: async (request, next) => {
        if (request.payload === 2) throw new Error('not this one')
        return next()
      },
    })
    const job = jobs.define('mail', (_: number) => {})
    await expect(job.dispatchMany([1, 2, 3])).rejects.toThrow('not this one')
    await expect(jobs.batch([job.step(1), job.step(2)])).rejects.toThrow('not this one')
    expect(await backend.store.list({ limit: 10 })).toEqual([])
  })

  it('must go on, and once', async () => {
    const { jobs } = world()
    jobs.use('lazy', { dispatch: async () => ({}) as never })
    await expect(jobs.define('lazy', () => {}).dispatch()).rejects.toThrow('did not call next()')
  })
})

describe('middleware that does nothing', () => {
  it('is not there for jobs that it does not fit: their definitions are as they were', () => {
    const jobs = treadle('memory:', { clock: new ManualClock() })
    jobs.use('other-*', (_, next) => next())
    jobs.define('mail', () => {})
    expect(jobs.definitions()[0]?.fields).toMatchObject({ around: [], aroundDispatch: [] })
  })
})
