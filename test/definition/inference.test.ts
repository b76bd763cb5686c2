import { describe, expect, expectTypeOf, it } from 'vitest'
import { z } from 'zod'
import { treadle } from '../../src/app/treadle.ts'
import type { JobContext } from '../../src/definition/context.ts'
import { JobDefinition } from '../../src/definition/definition.ts'
import type { Run } from '../../src/definition/dispatching/run.ts'

// What is wrong here does not compile: `npm run check` reads this file, and an @ts-expect-error without an error is one itself.

interface Mail {
  readonly to: string
  readonly subject: string
}

const mail: Mail = { to: 'ada@example.com', subject: 'hi' }

describe('the types of a job', () => {
  it('are those of its handler', async () => {
    const jobs = treadle('memory:')
    const send = jobs.define('send', async (given: Mail, context) => {
      expectTypeOf(context).toEqualTypeOf<JobContext<Mail>>()
      return { sent: given.to.length }
    })
    const run = await send.dispatch(mail)
    expectTypeOf(run).toEqualTypeOf<Run<{ sent: number }>>()
    expectTypeOf(await send.delay('1s').dispatch(mail)).toEqualTypeOf<Run<{ sent: number }>>()
    expectTypeOf(await jobs.dispatch(send, mail)).toEqualTypeOf<Run<{ sent: number }>>()
    expectTypeOf(await jobs.dispatchMany(send, [mail])).toEqualTypeOf<readonly Run<{ sent: number }>[]>()
    expect(run.job).toBe('send')
    await jobs.close()
  })

  it('refuse a wrong payload', () => {
    const jobs = treadle('memory:')
    const send = jobs.define('send', async (_: Mail) => 1)
    const wrong = [
      // @ts-expect-error: the subject is missing
      () => send.dispatch({ to: 'ada@example.com' }),
      // @ts-expect-error: `to` is a text
      () => send.dispatch({ to: 7, subject: 'hi' }),
      // @ts-expect-error: there is no `body`
      () => send.dispatch({ to: 'ada@example.com', subject: 'hi', body: '' }),
      // @ts-expect-error: the payload is not optional
      () => send.dispatch(),
      // @ts-expect-error: a draft takes the same payload
      () => send.delay('1s').dispatch({ to: 'ada@example.com' }),
      // @ts-expect-error: so does the program
      () => jobs.dispatch(send, { to: 'ada@example.com' }),
      // @ts-expect-error: and each of many
      () => jobs.dispatchMany(send, [mail, { to: 'ada@example.com' }]),
      // @ts-expect-error: the default payload too
      () => send.args({ to: 'ada@example.com' }),
      // @ts-expect-error: misspelt
      () => send.dispatch(mail, { prioity: 9 }),
      // @ts-expect-error: no such level
      () => send.priority('urgent'),
    ]
    expect(wrong).toHaveLength(10)
  })

  it('let a payload be left out where the handler takes none', async () => {
    const jobs = treadle('memory:')
    const tick = jobs.define('tick', async () => 'tock')
    const maybe = jobs.define('maybe', async (_?: Mail) => {})
    await tick.dispatch()
    await maybe.dispatch()
    expectTypeOf(await maybe.dispatch(mail)).toEqualTypeOf<Run<void>>()
    await jobs.close()
  })

  it('let a payload be left out where args() gives one', async () => {
    const jobs = treadle('memory:')
    const send = jobs.define('send', async (given: Mail) => given.to).args(mail)
    const copy = jobs
      .define('copy', async (given: Mail) => given.to)
      .toDefinition()
      .withArgs(mail)
    expectTypeOf(await send.dispatch()).toEqualTypeOf<Run<string>>()
    expectTypeOf(await send.dispatch(undefined, { delay: '1h' })).toEqualTypeOf<Run<string>>()
    expectTypeOf(await send.delay('1h').dispatch()).toEqualTypeOf<Run<string>>()
    expectTypeOf(await jobs.dispatch(copy)).toEqualTypeOf<Run<string>>()
    await jobs.chain([send.step(), send.step(mail)])
    // @ts-expect-error: another one still has to be whole
    const wrong = () => send.dispatch({ to: 'ada@example.com' })
    expect(wrong).toBeTypeOf('function')
    await jobs.close()
  })

  it('reach filters, hooks and keys', () => {
    const jobs = treadle('memory:')
    const job = jobs
      .define('send', async (_: Mail) => 7)
      .when((given) => expectTypeOf(given).toEqualTypeOf<Mail>() === undefined)
      .unique((given) => given.to)
      .before((given, context) => {
        expectTypeOf(given).toEqualTypeOf<Mail>()
        expectTypeOf(context).toEqualTypeOf<JobContext<Mail>>()
      })
      .onSuccess((result) => expectTypeOf(result).toEqualTypeOf<number>())
      .onError((error) => expectTypeOf(error).toBeUnknown())
    expect(job.job).toBe('send')
  })

  it('come from a class', async () => {
    const jobs = treadle('memory:')
    class Sender {
      async handle(given: Mail) {
        return given.to
      }
    }
    expectTypeOf(await jobs.dispatch(Sender, mail)).toEqualTypeOf<Run<string>>()
    // @ts-expect-error: the class takes a whole mail
    const wrong = () => jobs.dispatch(Sender, { to: 'ada@example.com' })
    expect(wrong).toBeTypeOf('function')
    await jobs.close()
  })

  it('are those of the job that a draft names last', async () => {
    const jobs = treadle('memory:')
    class Report {
      async handle({ kind }: { kind: 'daily' | 'weekly'; size?: [number, number] }) {
        return kind
      }
    }
    class Tick {
      handle() {
        return 7
      }
    }
    const send = jobs.define('send', async ({ to }: Mail) => to)
    expectTypeOf(await jobs.delay('1h').dispatch(send, mail)).toEqualTypeOf<Run<string>>()
    expectTypeOf(await jobs.at(null).dispatch(Report, { kind: 'daily' })).toEqualTypeOf<Run<'daily' | 'weekly'>>()
    expectTypeOf(await jobs.args(mail).dispatch(send)).toEqualTypeOf<Run<string>>()
    expectTypeOf(
      await jobs
        .args({ kind: 'daily', size: [1, 2] })
        .delay(1)
        .dispatch(Report),
    ).toEqualTypeOf<Run<'daily' | 'weekly'>>()
    expectTypeOf(await jobs.delay('1h').dispatch(Tick)).toEqualTypeOf<Run<number>>()
    expectTypeOf(await jobs.args(mail).dispatch(send.toDefinition())).toEqualTypeOf<Run<string>>()
    await jobs.args({ of: 'any' }).dispatch('send')
    const wrong = [
      // @ts-expect-error: the payload is not optional
      () => jobs.dispatch(Report),
      // @ts-expect-error: nor behind a time
      () => jobs.delay('1h').dispatch(send),
      // @ts-expect-error: the subject is missing
      () => jobs.delay('1h').dispatch(send, { to: 'ada@example.com' }),
      // @ts-expect-error: no such kind
      () => jobs.at(null).dispatch(Report, { kind: 'hourly' }),
      // @ts-expect-error: the subject is missing in the payload that was given before
      () => jobs.args({ to: 'ada@example.com' }).dispatch(send),
      // @ts-expect-error: a kind is a text
      () => jobs.args({ kind: 5 }).dispatch(Report),
      // @ts-expect-error: a definition takes the same payload
      () => jobs.args({ to: 'ada@example.com' }).dispatch(send.toDefinition()),
    ]
    expect(wrong).toHaveLength(7)
    await jobs.close()
  })

  it('are those of the job of a stored schedule, which has one frequency', () => {
    const jobs = treadle('memory:')
    const { schedules } = jobs
    const send = jobs.define('send', async (_: Mail) => {})
    const tick = jobs.define('tick', async () => {})
    const withArgs = jobs.define('with-args', async (_: Mail) => {}).args(mail)
    const right = [
      () => schedules.upsert('a', { job: send, payload: mail, cron: '@daily', timezone: 'Europe/Paris' }),
      () => schedules.upsert('a', { job: tick, every: '1h' }),
      () => schedules.upsert('a', { job: withArgs, repeat: 'DAILY' }),
      () => schedules.upsert('a', { job: 'send', payload: 5, every: 1000 }),
    ]
    const wrong = [
      // @ts-expect-error: the payload is not optional
      () => schedules.upsert('a', { job: send, every: '1h' }),
      // @ts-expect-error: the subject is missing
      () => schedules.upsert('a', { job: send, payload: { to: 'ada@example.com' }, every: '1h' }),
      // @ts-expect-error: no frequency
      () => schedules.upsert('a', { job: send, payload: mail }),
      // @ts-expect-error: two frequencies
      () => schedules.upsert('a', { job: send, payload: mail, every: '1h', cron: '@daily' }),
    ]
    expect([right.length, wrong.length]).toEqual([4, 4])
  })

  it('of a child are those of its class', () => {
    const jobs = treadle('memory:')
    class Resize {
      async handle({ width }: { width: number }) {
        return width
      }
    }
    const parent = jobs.define('parent', async (_: null, ctx) => {
      expectTypeOf(await ctx.dispatchChild(Resize, { width: 5 })).toEqualTypeOf<Run<number>>()
      // @ts-expect-error: the payload is not optional
      await ctx.dispatchChild(Resize)
    })
    expect(parent.job).toBe('parent')
  })

  it('come from a schema: its input for a dispatch, its output for the handler', () => {
    const jobs = treadle('memory:')
    const input = z.object({ at: z.string().transform((text) => new Date(text)), times: z.number().default(1) })
    const remind = jobs.define('remind', { input }, async (payload) => {
      expectTypeOf(payload).toEqualTypeOf<{ at: Date; times: number }>()
      return payload.times
    })
    expectTypeOf(remind.dispatch).parameter(0).toEqualTypeOf<{ at: string; times?: number | undefined }>()
    expectTypeOf(remind.dispatch).returns.resolves.toEqualTypeOf<Run<number>>()
    remind.unique(({ at }) => at.toISOString())
    // @ts-expect-error: a date is what the handler gets, not what a dispatch takes
    const wrong = () => remind.dispatch({ at: new Date() })
    expect(wrong).toBeTypeOf('function')
  })

  it('check the result against the schema of the output', () => {
    const jobs = treadle('memory:')
    const output = z.object({ sent: z.number() })
    jobs.define('send', { output }, async (_: Mail) => ({ sent: 1 }))
    // @ts-expect-error: a text is not what the schema says
    jobs.define('other', { output }, async (_: Mail) => ({ sent: 'one' }))
    const input = z.object({ to: z.string() })
    const both = jobs.define('both', { input, output }, async ({ to }) => ({ sent: to.length }))
    expectTypeOf(both.dispatch).returns.resolves.toEqualTypeOf<Run<{ sent: number }>>()
    // @ts-expect-error: also beside a schema of the input
    jobs.define('third', { input, output }, async () => ({ sent: 'one' }))
    // @ts-expect-error: and a handler that gives nothing
    jobs.define('fourth', { input, output }, async () => {})
    expect(jobs.has('send')).toBe(true)
  })

  it('of a result are those that its schema makes of it', () => {
    const jobs = treadle('memory:')
    const output = z.object({ at: z.date().transform((at) => at.toISOString()) })
    const at = new Date(0)
    const only = jobs.define('only', { output }, async (_: Mail) => ({ at }))
    const both = jobs.define('both', { input: z.string(), output }, async () => ({ at }))
    expectTypeOf(only.dispatch).returns.resolves.toEqualTypeOf<Run<{ at: string }>>()
    expectTypeOf(both.dispatch).returns.resolves.toEqualTypeOf<Run<{ at: string }>>()
    expect(jobs.has('both')).toBe(true)
  })

  it('of a declared job are said', async () => {
    const jobs = treadle('memory:')
    const elsewhere = jobs.declare<Mail, number>('elsewhere')
    expectTypeOf(await elsewhere.dispatch(mail)).toEqualTypeOf<Run<number>>()
    // @ts-expect-error: the subject is missing
    const wrong = () => elsewhere.dispatch({ to: 'ada@example.com' })
    expect(wrong).toBeTypeOf('function')
    await jobs.close()
  })

  it('of a definition made without a builder are those of its handler', async () => {
    const jobs = treadle('memory:')
    const made = new JobDefinition({ job: 'made', handler: async ({ to }: Mail) => to.length })
    expectTypeOf(made).toEqualTypeOf<JobDefinition<Mail, number>>()
    class Send {
      readonly tone = 'polite'
      static async handle({ to }: Mail) {
        return to.length
      }
    }
    expectTypeOf(new JobDefinition({ job: 'by class', handler: Send })).toEqualTypeOf<JobDefinition<Mail, number>>()
    expectTypeOf(await jobs.dispatch(made.withQueue('mail'), mail)).toEqualTypeOf<Run<number>>()
    // @ts-expect-error: the subject is missing
    const wrong = () => jobs.dispatch(made, { to: 'ada@example.com' })
    expect(wrong).toBeTypeOf('function')
    await jobs.close()
  })

  it('of a child are those of its job, however it is given', () => {
    const jobs = treadle('memory:')
    const send = jobs.define('send', ({ to }: Mail) => to.length)
    const given = new JobDefinition({ job: 'given', handler: ({ to }: Mail) => to.length })
    class Static {
      readonly tone = 'polite'
      static handle({ to }: Mail) {
        return to.length
      }
    }
    class Instance {
      async handle({ to }: Mail) {
        return to.length
      }
    }
    jobs.define('parent', async (_: null, ctx) => {
      expectTypeOf(await ctx.dispatchChild(send, mail, { key: 'one' })).toEqualTypeOf<Run<number>>()
      expectTypeOf(await ctx.dispatchChild(given, mail)).toEqualTypeOf<Run<number>>()
      expectTypeOf(await ctx.dispatchChild(Static, mail)).toEqualTypeOf<Run<number>>()
      expectTypeOf(await ctx.dispatchChild(Instance, mail)).toEqualTypeOf<Run<number>>()
      expectTypeOf(await ctx.dispatchChild(given.withArgs(mail))).toEqualTypeOf<Run<number>>()
      // @ts-expect-error: no payload
      await ctx.dispatchChild(send)
      // @ts-expect-error: the subject is missing
      await ctx.dispatchChild(send, { to: 'ada@example.com' })
      // @ts-expect-error: a mail has no colour
      await ctx.dispatchChild(send, { ...mail, colour: 'red' })
      // @ts-expect-error: the subject is missing
      await ctx.dispatchChild(given, { to: 'ada@example.com' })
      // @ts-expect-error: the subject is missing
      await ctx.dispatchChild(Static, { to: 'ada@example.com' })
      // @ts-expect-error: the subject is missing
      await ctx.dispatchChild(Instance, { to: 'ada@example.com' })
    })
    expect(jobs.has('parent')).toBe(true)
  })
})
