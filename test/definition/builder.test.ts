import { describe, expect, it } from 'vitest'
import { DescribedJob, type JobBuilder } from '../../src/definition/builder.ts'
import type { DefinitionFields } from '../../src/definition/definition.ts'
import type { DispatchOptions } from '../../src/definition/dispatching/dispatch.ts'
import { noPayload } from '../../src/definition/dispatching/draft.ts'
import type { Handler } from '../../src/definition/handler.ts'
import type { Schemas } from '../../src/definition/schema.ts'

describe('a job that says nothing but its handler', () => {
  it('D3, J6, X1, X2, X5: has the defaults', () => {
    expect(fieldsOf(build('mail'))).toMatchObject({
      job: 'mail',
      name: 'mail',
      queue: 'default',
      priority: 5,
      maxAttempts: 1,
      retry: { strategy: 'exponential', baseMs: 1_000, factor: 2, maxMs: 60_000, jitter: 'full' },
      retryIf: null,
      timeoutMs: null,
      concurrency: null,
      unique: null,
      idempotencyKey: null,
      idempotencyTtlMs: 86_400_000,
      keep: {},
      meta: {},
      enabled: true,
      environments: [],
      args: null,
      restricted: false,
      input: null,
      output: null,
      when: [],
      skip: [],
      before: [],
      onSuccess: [],
      onError: [],
      finally: [],
    })
  })

  it('X25: has no schedule, where the source ran it every minute', () => {
    expect(fieldsOf(build('mail')).schedule).toBeNull()
  })
})

describe('each word of a builder', () => {
  const filter = () => true
  const hook = () => {}
  const decide = () => false

  it.each<[string, (job: JobBuilder) => JobBuilder, Partial<DefinitionFields>]>([
    ['D4: named', (job) => job.named('Mail'), { name: 'Mail', job: 'mail' }],
    ['D5: queue', (job) => job.queue('slow'), { queue: 'slow' }],
    ['D6: priority', (job) => job.priority(9), { priority: 9 }],
    ['X1: priority by name', (job) => job.priority('critical'), { priority: 20 }],
    ['X2: retries', (job) => job.retries(2), { maxAttempts: 3 }],
    ['D7, X2: maxRetries', (job) => job.maxRetries(2), { maxAttempts: 3 }],
    ['J33, X2: maxAttempts', (job) => job.maxAttempts(2), { maxAttempts: 2 }],
    [
      'retries with a backoff',
      (job) => job.retries(1, { strategy: 'fixed', base: '3s', jitter: 'none' }),
      { maxAttempts: 2, retry: { strategy: 'fixed', baseMs: 3_000, factor: 2, maxMs: 60_000, jitter: 'none' } },
    ],
    ['backoff', (job) => job.backoff({ strategy: 'none' }), { retry: expect.objectContaining({ strategy: 'none' }) }],
    ['retryIf', (job) => job.retryIf(decide), { retryIf: decide }],
    ['D7: timeout', (job) => job.timeout('30s'), { timeoutMs: 30_000 }],
    ['timeout of null', (job) => job.timeout('30s').timeout(null), { timeoutMs: null }],
    ['J31: concurrency', (job) => job.concurrency(3), { concurrency: 3 }],
    ['J31: concurrency 0, which is unlimited', (job) => job.concurrency(3).concurrency(0), { concurrency: null }],
    ['D7: singleInstance', (job) => job.singleInstance(), { concurrency: 1 }],
    ['singleInstance(false)', (job) => job.singleInstance().singleInstance(false), { concurrency: null }],
    ['D18: idempotencyTtl', (job) => job.idempotencyTtl('1h'), { idempotencyTtlMs: 3_600_000 }],
    ['X16: keep', (job) => job.keep({ succeeded: 0, dead: '90d' }), { keep: { succeeded: 0, dead: 7_776_000_000 } }],
    ['a keep that leaves one out', (job) => job.keep({ succeeded: undefined, dead: 0 } as never), { keep: { dead: 0 } }],
    ['D13: meta', (job) => job.meta({ tenant: 'acme' }), { meta: { tenant: 'acme' } }],
    ['D8: disable', (job) => job.disable(), { enabled: false }],
    ['D8: enabled', (job) => job.disable().enabled(), { enabled: true }],
    ['D8: environments', (job) => job.environments('staging', ['production']), { environments: ['staging', 'production'] }],
    ['J25: args', (job) => job.args({ to: 'ada' }), { args: { to: 'ada' } }],
    ['J21: when, which adds up', (job) => job.when(filter).when(filter), { when: [filter, filter] }],
    ['J21: skip, which adds up', (job) => job.skip(filter).skip(filter), { skip: [filter, filter] }],
    ['J22: before, which adds up', (job) => job.before(hook).before(hook), { before: [hook, hook] }],
    ['J22: onSuccess, which adds up', (job) => job.onSuccess(hook).onSuccess(hook), { onSuccess: [hook, hook] }],
    ['J22: onError, which adds up', (job) => job.onError(hook).onError(hook), { onError: [hook, hook] }],
    ['J22: finally, which adds up', (job) => job.finally(hook).finally(hook), { finally: [hook, hook] }],
  ])('%s', (_, say, fields) => {
    const job = build('mail')
    expect(say(job)).toBe(job)
    expect(fieldsOf(job)).toMatchObject(fields)
  })

  it('unique and idempotencyKey take a text or make one of the payload', () => {
    const keys = (job: JobBuilder<{ to: string }>) => {
      const { unique, idempotencyKey } = fieldsOf(job)
      return [unique?.key({ to: 'ada' } as never), idempotencyKey?.({ to: 'ada' } as never)]
    }
    expect(keys(build<{ to: string }>('mail').unique('u').idempotencyKey('i'))).toEqual(['u', 'i'])
    expect(
      keys(
        build<{ to: string }>('mail')
          .unique(({ to }) => `u:${to}`)
          .idempotencyKey(({ to }) => to),
      ),
    ).toEqual(['u:ada', 'ada'])
  })

  it('a frequency gives the schedule', () => {
    expect(fieldsOf(build('mail').dailyAt('02:30').timezone('Europe/Paris')).schedule).toMatchObject({
      expression: '0 30 2 * * *',
      timezone: 'Europe/Paris',
    })
  })

  it.each<[string, (job: JobBuilder) => JobBuilder, string]>([
    ['a priority that is no number', (job) => job.priority('urgent' as never), 'priority must be'],
    ['a priority that is a broken number', (job) => job.priority(1.5), 'priority must be'],
    ['a duration that is none', (job) => job.timeout('soon'), 'timeout must be'],
    ['a backoff with a factor below 1', (job) => job.backoff({ factor: 0.5 }), 'factor must be at least 1'],
    ['an empty key', (job) => job.unique(''), 'unique must be a string of 1 to 512'],
    ['a key that is too long', (job) => job.idempotencyKey('x'.repeat(513)), 'idempotencyKey must be a string of 1 to 512'],
    ['an expression that is none', (job) => job.cron('61 * * * *'), 'minute'],
  ])('refuses %s at the call', (_, say, message) => {
    expect(() => say(build('mail'))).toThrow(message)
  })
})

describe('a definition with problems', () => {
  it.each(['Good ', '', 'a\u0000b', 'x'.repeat(192)])(
    'has no valid key: %j is refused at once, as nothing could correct it',
    (key) => {
      expect(() => build(key)).toThrow(
        expect.objectContaining({
          code: 'DEFINITION_INVALID',
          message: expect.stringContaining(`Job ${JSON.stringify(key)}: a job name must`),
        }),
      )
    },
  )

  it('tells all of them at once', () => {
    const job = build('mail')
      .named('')
      .queue('two words')
      .maxAttempts(0)
      .concurrency(-1)
      .timeout(0)
      .environments('')
      .keep({ succeded: '1d' } as never)
      .meta({ when: () => 1 } as never)
    expect(() => job.toDefinition()).toThrow(
      expect.objectContaining({
        code: 'DEFINITION_INVALID',
        message: [
          `Job "mail": name must be a string that is not empty, got ''`,
          "a queue must be 1 to 64 letters, digits, or any of . _ : / -, got 'two words'",
          'maxAttempts must be a whole number of at least 1, got 0',
          'concurrency must be a whole number of at least 1, got -1',
          'timeout must be more than 0 ms, got 0',
          'The meta is not JSON: "when" is a function',
          "keep knows succeeded, dead, cancelled, skipped, got 'succeded'",
          'an environment must be a string of 1 to 512 characters, got one of 0 characters',
        ].join('; '),
      }),
    )
  })

  it.each([
    ['', 'must be a string that is not empty'],
    [' mail', 'begin or end with a space'],
    ['ma\nil', 'control characters'],
    ['mail\ud800', 'halves of surrogate pairs'],
    ['x'.repeat(192), 'at most 191 characters, got 192'],
    [7, 'must be a string'],
  ])('refuses the key %j', (key, message) => {
    expect(() => build(key as string).toDefinition()).toThrow(message)
  })

  it.each([['mail'], ['App\\Jobs\\Mail'], ['mail/send:now'], ['Überweisung €'], ['x'.repeat(191)]])('takes the key %j', (key) => {
    expect(build(key).toDefinition().job).toBe(key)
  })

  it.each([[2.5], [Number.NaN], [-2], [Number.MAX_SAFE_INTEGER]])('refuses %d retries', (retries) => {
    expect(() => build('mail').retries(retries).toDefinition()).toThrow('must be a whole number')
  })
})

describe('a builder that is in use', () => {
  const words: readonly [string, (job: JobBuilder) => unknown][] = [
    ['named', (job) => job.named('x')],
    ['queue', (job) => job.queue('x')],
    ['priority', (job) => job.priority(1)],
    ['retries', (job) => job.retries(1)],
    ['backoff', (job) => job.backoff({})],
    ['timeout', (job) => job.timeout(1)],
    ['concurrency', (job) => job.concurrency(1)],
    ['when', (job) => job.when(() => true)],
    ['before', (job) => job.before(() => {})],
    ['args', (job) => job.args(1)],
    ['cron', (job) => job.cron('* * * * *')],
    ['daily', (job) => job.daily()],
    ['timezone', (job) => job.timezone('UTC')],
  ]

  it.each(words)('refuses %s() after toDefinition()', (_, say) => {
    const job = build('mail')
    job.toDefinition()
    expect(() => say(job)).toThrow(expect.objectContaining({ code: 'DEFINITION_FROZEN' }))
  })

  it.each<[string, (job: JobBuilder) => Promise<unknown>]>([
    ['dispatch()', (job) => job.dispatch({})],
    ['dispatchMany()', (job) => job.dispatchMany([{}])],
    ['a draft', (job) => job.delay('1s').dispatch({})],
  ])('is frozen by %s too', async (_, use) => {
    const job = build('mail')
    await use(job)
    expect(() => job.queue('x')).toThrow('Job "mail" is in use and can no longer be changed')
  })

  it('gives the same definition each time', () => {
    const job = build('mail')
    expect(job.toDefinition()).toBe(job.toDefinition())
  })

  it('stays open after a definition that was refused', () => {
    const job = build('mail').queue('two words')
    expect(() => job.toDefinition()).toThrow()
    expect(job.queue('fine').toDefinition().fields.queue).toBe('fine')
  })
})

describe('a builder can be awaited', () => {
  it('X43: since nothing on it is called then', async () => {
    const job = build('mail')
    expect('then' in job).toBe(false)
    expect(await job).toBe(job)
    expect('then' in job.delay('1s')).toBe(false)
  })
})

describe('a dispatch', () => {
  it('hands over the definition, the payload and the options', async () => {
    const { job, sent } = recorded()
    await job.dispatch({ to: 'ada' }, { priority: 9 })
    expect(sent).toEqual([{ job: 'mail', payload: { to: 'ada' }, options: { priority: 9 } }])
  })

  it('J7, J24: drafts change that dispatch only', async () => {
    const { job, sent } = recorded()
    const later = job.delay('1h')
    const at = new Date(Date.UTC(2026, 5, 10))
    await later.dispatch({ to: 'ada' })
    await later.at(at).dispatch({ to: 'bob' }, { queue: 'slow' })
    await later.dispatch({ to: 'cy' })
    await job.dispatch({ to: 'dan' })
    expect(sent.map(({ options }) => options)).toEqual([{ delay: 3_600_000 }, { at, queue: 'slow' }, { delay: 3_600_000 }, {}])
    expect(job.toDefinition().fields).toMatchObject({ queue: 'default', args: null, schedule: null })
  })

  it('refuses a draft of a time that is none, at the call', () => {
    const { job } = recorded()
    expect(() => job.delay('soon')).toThrow(expect.objectContaining({ code: 'DURATION_INVALID' }))
    expect(() => job.at('soon')).toThrow(expect.objectContaining({ code: 'INSTANT_INVALID' }))
  })

  it('tells "no payload" from any payload', async () => {
    const { job, sent } = recorded()
    const anything = job as unknown as JobBuilder<unknown>
    await anything.dispatch()
    await anything.dispatch(null)
    expect(sent.map(({ payload }) => payload)).toEqual([noPayload, null])
  })

  it('of a broken definition rejects and does not throw', async () => {
    await expect(build('mail').queue('two words').dispatch({})).rejects.toThrow(
      expect.objectContaining({ code: 'DEFINITION_INVALID' }),
    )
  })
})

interface Sent {
  readonly job: string
  readonly payload: unknown
  readonly options: DispatchOptions
}

function recorded() {
  const sent: Sent[] = []
  return { job: build<{ to: string }>('mail', {}, sent), sent }
}

function build<Payload = unknown>(job: string, schemas: Schemas = {}, sent: Sent[] = []): JobBuilder<Payload> {
  const handler: Handler<Payload, unknown> = async () => {}
  return new DescribedJob<Payload>(job, schemas, handler, {
    dispatch: async (definition, payload, options) => {
      sent.push({ job: definition.job, payload, options })
      return {} as never
    },
    dispatchMany: async () => [],
    dispatchAtOnce: () => [],
  })
}

function fieldsOf(job: { toDefinition(): { readonly fields: DefinitionFields } }): DefinitionFields {
  return job.toDefinition().fields
}
