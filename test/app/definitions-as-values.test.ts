import { describe, expect, expectTypeOf, it } from 'vitest'
import { JobDefinition } from '../../src/definition/definition.ts'
import type { Run } from '../../src/definition/dispatching/run.ts'
import { world } from '../world.ts'

const greet = (payload: { name: string }) => `hello ${payload.name}`

describe('Z4: a definition is a value', () => {
  it('is made of a key and a handler, and has the documented defaults', () => {
    const { fields, maxRetries } = new JobDefinition({ job: 'greet', handler: greet })
    expect(fields).toMatchObject({ name: 'greet', queue: 'default', priority: 5, timeoutMs: null, enabled: true, schedule: null })
    expect(maxRetries).toBe(0)
  })

  it('is checked: a handler must be one', () => {
    expect(() => new JobDefinition({ job: 'greet', handler: 7 as never })).toThrow(
      expect.objectContaining({ code: 'HANDLER_INVALID' }),
    )
    expect(() => new JobDefinition({ job: '', handler: greet })).toThrow(expect.objectContaining({ code: 'DEFINITION_INVALID' }))
  })

  it('refuses a field that there is none of, with what would be right', () => {
    const given = { job: 'greet', handler: greet }
    expect(() => new JobDefinition({ ...given, queu: 'x' } as never)).toThrow('it has no field "queu", did you mean "queue"?')
    expect(() => new JobDefinition({ ...given, retries: 3 } as never)).toThrow('"retries": say it with withRetries()')
  })

  it('takes what the builder takes of groups and missed runs', () => {
    const base = new JobDefinition<{ name: string }, string>({ job: 'greet', handler: greet })
    expect(base.withGroup({ key: () => 'all', concurrency: 2 }).fields.group).toMatchObject({ concurrency: 2, rate: null })
    const daily = base.withSchedule('@daily')
    expect(daily.withMisfire('all', { within: '2d', cap: 5 }).misfire).toMatchObject({ kind: 'all', cap: 5 })
    expect(daily.withMisfire(daily.withMisfire('skip').misfire).misfire.kind).toBe('skip')
    expect(() => daily.withMisfire({ kind: 'many' } as never)).toThrow(/'skip', 'latest' or 'all'/)
  })

  it('can be registered, dispatched and worked on', async () => {
    const { jobs } = world()
    const definition = jobs.register(new JobDefinition<{ name: string }, string>({ job: 'greet', handler: greet }))
    const runs = [await jobs.dispatch(definition, { name: 'Ada' }), await jobs.dispatch('greet', { name: 'Bob' })]
    await jobs.run()
    expect(await Promise.all(runs.map((run) => run.result()))).toEqual(['hello Ada', 'hello Bob'])
    expect(() => jobs.register(definition)).toThrow(expect.objectContaining({ code: 'JOB_DUPLICATE' }))
  })

  it('is registered by its first dispatch', async () => {
    const { jobs } = world()
    const run = await jobs.dispatch(new JobDefinition({ job: 'greet', handler: greet }), { name: 'Ada' })
    await jobs.run()
    expect(await run.result()).toBe('hello Ada')
  })

  it('D14: a changed copy is dispatched as it says, and the base as it was', async () => {
    const { jobs, record } = world()
    const base = jobs.define('greet', greet).toDefinition()
    const at = new Date(Date.UTC(2030, 0, 1))
    const copy = base
      .withName('Greeting')
      .withQueue('fast')
      .withPriority(9)
      .withMaxRetries(3)
      .withTimeout('30s')
      .withScheduledAt(at)
      .withSingleInstance()
      .withEnvironments(['production'])
      .withCronExpression('0 4 * * *')
      .withDependsOn('other')
      .withMeta({ tenant: 'acme' })
      .withEnabled(false)
      .withIdempotencyKey('once')
    const [changed, plain] = [await jobs.dispatch(copy, { name: 'Ada' }), await jobs.dispatch(base, { name: 'Bob' })]
    expect(await record(changed)).toMatchObject({
      name: 'Greeting',
      queue: 'fast',
      priority: 9,
      maxRetries: 3,
      timeoutMs: 30_000,
      runAt: at.getTime(),
      singleInstance: true,
      meta: { tenant: 'acme' },
      idempotencyKey: 'once',
    })
    expect(await record(plain)).toMatchObject({ name: 'greet', queue: 'default', priority: 5, timeoutMs: null })
  })

  it('Z3: one handler serves many jobs, each with its payload and schedule', async () => {
    const { jobs } = world()
    const base = new JobDefinition<{ name: string }, string>({ job: 'greet', handler: greet })
    jobs.register(base.withJob('greet-ada').withArgs({ name: 'Ada' }).withSchedule('0 4 * * *'))
    jobs.register(
      base
        .withJob('greet-bob')
        .withArgs({ name: 'Bob' })
        .withSchedule((runs) => runs.dailyAt('05:30').weekdays()),
    )
    const told = jobs.definitions().map(({ job, fields }) => [job, fields.name, fields.schedule?.expression])
    expect(told).toEqual([
      ['greet-ada', 'greet-ada', '0 0 4 * * *'],
      ['greet-bob', 'greet-bob', '0 30 5 * * 1-5'],
    ])
    const run = await jobs.schedules.trigger('greet-bob')
    await jobs.run({ scheduler: false })
    expect(await run.result()).toBe('hello Bob')
  })

  it.each([
    ['a cron expression', '30 2 * * *', '0 30 2 * * *'],
    ['a nickname of cron', '@hourly', '0 0 * * * *'],
    ['a symbol', 'EVERY_DAY', '0 10 2 * * *'],
    ['an object', { minutes: 5, hours: 6 }, '0 5 6 * * *'],
    ['a repeat', 'FINISHED, +1 HOUR', 'FINISHED, +1 HOUR'],
    ['words', (runs: { hourlyAt(minute: number): unknown }) => runs.hourlyAt(7), '0 7 * * * *'],
  ])('withSchedule takes %s, as the builder does', (_, given, expression) => {
    const definition = new JobDefinition({ job: 'greet', handler: greet }).withSchedule(given as never)
    expect(definition.fields.schedule?.expression).toBe(expression)
  })

  it('a null takes back what was said: the default counts again', () => {
    const definition = new JobDefinition({ job: 'greet', handler: greet, queue: 'mail', maxAttempts: 4 })
    expect(definition.withQueue(null).withMaxRetries(null)).toMatchObject({ maxRetries: 0, fields: { queue: 'default' } })
  })

  it('has the types of its handler', () => {
    const { jobs } = world()
    const definition = jobs.define('greet', greet).toDefinition()
    expectTypeOf(definition).toEqualTypeOf<JobDefinition<{ name: string }, string>>()
    expectTypeOf(definition.withQueue('x')).toEqualTypeOf<JobDefinition<{ name: string }, string>>()
    const send = () => jobs.dispatch(definition, { name: 'Ada' })
    expectTypeOf(send).returns.resolves.toEqualTypeOf<Run<string>>()
    // @ts-expect-error: `name` is a text
    const wrong = () => jobs.dispatch(definition, { name: 7 })
    expect([send, wrong]).toHaveLength(2)
  })
})
