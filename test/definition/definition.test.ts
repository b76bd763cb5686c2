import { describe, expect, it } from 'vitest'
import { type DefinitionFields, definitionDefaults, JobDefinition } from '../../src/definition/definition.ts'
import { retryPolicy } from '../../src/definition/policies/retry.ts'
import { unique as uniqueness } from '../../src/definition/policies/uniqueness.ts'
import { parseCron } from '../../src/scheduling/calendar/cron/cron.ts'
import { misfirePolicy } from '../../src/scheduling/misfire.ts'

const base = () =>
  new JobDefinition({
    ...definitionDefaults,
    job: 'mail',
    name: 'mail',
    handler: async () => {},
    meta: { a: 1 },
    environments: ['test'],
    schedule: parseCron('0 4 * * *', 'UTC'),
  })

describe('a definition', () => {
  const schedule = parseCron('0 2 * * *', 'UTC')
  const retry = retryPolicy({ strategy: 'none' })
  const misfire = misfirePolicy('all')
  const unique = () => 'u'
  const idempotencyKey = () => 'i'

  it.each<[string, (definition: JobDefinition) => JobDefinition, Partial<DefinitionFields>]>([
    ['withName', (definition) => definition.withName('Mail'), { name: 'Mail' }],
    ['withQueue', (definition) => definition.withQueue('slow'), { queue: 'slow' }],
    ['withPriority', (definition) => definition.withPriority(9), { priority: 9 }],
    ['withMaxRetries', (definition) => definition.withMaxRetries(2), { maxAttempts: 3 }],
    ['withMaxAttempts', (definition) => definition.withMaxAttempts(2), { maxAttempts: 2 }],
    ['withRetry', (definition) => definition.withRetry(retry), { retry }],
    ['withTimeout', (definition) => definition.withTimeout(500), { timeoutMs: 500 }],
    ['withMaxRunningTime', (definition) => definition.withMaxRunningTime(500), { maxRunningTimeMs: 500 }],
    ['withConcurrency', (definition) => definition.withConcurrency(4), { concurrency: 4 }],
    ['withSingleInstance', (definition) => definition.withSingleInstance(), { concurrency: 1 }],
    ['withUnique', (definition) => definition.withUnique(unique), { unique: uniqueness(unique) }],
    ['withIdempotencyKey', (definition) => definition.withIdempotencyKey(idempotencyKey), { idempotencyKey }],
    ['withSchedule', (definition) => definition.withSchedule(schedule), { schedule, timezone: 'UTC' }],
    ['withOverlap', (definition) => definition.withOverlap('allow'), { overlap: 'allow' }],
    ['withMisfire', (definition) => definition.withMisfire(misfire), { misfire }],
    ['withAfter', (definition) => definition.withAfter('a', 'b'), { after: ['a', 'b'] }],
    [
      'withDependsOn',
      (definition) => definition.withDependsOn('a', { job: 'b', onFailure: 'run' }),
      {
        dependsOn: [
          { job: 'a', onFailure: 'skip' },
          { job: 'b', onFailure: 'run' },
        ],
      },
    ],
    ['withEnvironments', (definition) => definition.withEnvironments('a', 'b'), { environments: ['a', 'b'] }],
    ['withEnabled', (definition) => definition.withEnabled(false), { enabled: false }],
    ['withMeta', (definition) => definition.withMeta({ b: 2 }), { meta: { b: 2 } }],
    ['withArgs', (definition) => definition.withArgs([1]), { args: [1] }],
    ['withKeep', (definition) => definition.withKeep({ dead: 0 }), { keep: { dead: 0 } }],
  ])('D14: %s() gives a changed copy and leaves the base as it is', (_, change, fields) => {
    const definition = base()
    const before = { ...definition.fields }
    const copy = change(definition)
    expect(copy).not.toBe(definition)
    expect(copy.fields).toEqual({ ...before, ...fields })
    expect(definition.fields).toEqual(before)
  })

  it('D14: takes an idempotency key as a text too', () => {
    expect(
      base()
        .withIdempotencyKey('i')
        .fields.idempotencyKey?.({} as never),
    ).toBe('i')
    expect(base().withIdempotencyKey('i').withIdempotencyKey(null).fields.idempotencyKey).toBeNull()
  })

  it('X2: counts retries and attempts, and knows when it is alone', () => {
    const definition = base().withMaxRetries(2)
    expect([definition.maxRetries, definition.fields.maxAttempts]).toEqual([2, 3])
    expect([definition.singleInstance, definition.withSingleInstance().singleInstance]).toEqual([false, true])
  })

  it('is checked like the first one when it is changed', () => {
    expect(() => base().withQueue('two words').withPriority(0)).toThrow(expect.objectContaining({ code: 'DEFINITION_INVALID' }))
    expect(() => base().withKeep({ dead: -1 })).toThrow('keep.dead must be')
    expect(() => base().withMaxRunningTime(0)).toThrow('maxRunningTime must be more than 0 ms')
    expect(() => base().withOverlap('never' as never)).toThrow('overlap must be')
    expect(() => base().withAfter('')).toThrow('a job that it comes after must be')
    expect(() => base().withDependsOn({ job: 'a', onFailure: 'stop' as never })).toThrow('onFailure must be')
  })

  it('D14: may say something about the runs of a schedule before it has one, and is refused only when it is used', () => {
    const plain = base().withSchedule(null)
    const copies = [plain.withOverlap('skip'), plain.withDependsOn(['extract', 'load']), plain.withAfter('extract')]
    for (const copy of copies) {
      expect(() => copy.usable()).toThrow('this job has no schedule')
      expect(copy.withCronExpression('0 5 * * *').usable().fields.schedule).not.toBeNull()
    }
    expect(copies[1]?.fields.dependsOn.map(({ job }) => job)).toEqual(['extract', 'load'])
  })

  it('D14: a null name is the key', () => {
    expect(base().withName('Nightly').withName(null).fields.name).toBe('mail')
  })

  it.each<[string, (definition: JobDefinition) => unknown, string]>([
    ['enabled', (job) => job.withEnabled('no' as never), 'enabled must be true or false'],
    ['singleInstance', (job) => job.withSingleInstance('yes' as never), 'singleInstance must be true or false'],
    ['an idempotency key', (job) => job.withIdempotencyKey(5 as never), 'idempotencyKey must be a string'],
    ['a retry policy', (job) => job.withRetry('often' as never), 'retry must be options'],
    ['a group', (job) => job.withGroup(5 as never), 'group must be an object'],
    ['a unique key', (job) => job.withUnique(5 as never), 'unique must be a key'],
    ['a retention', (job) => job.withKeep(5 as never), 'keep must be an object'],
    ['an isolation', (job) => job.withIsolation('cloud' as never), "isolate takes 'thread' or 'process'"],
    ['a time zone', (job) => job.withSchedule(null).withTimezone('Mars/Olympus'), 'is not known'],
    ['a dependency', (job) => job.withDependsOn(5 as never), 'a job that it depends on must be a string'],
    ['a list of hooks', (job) => job.with({ before: 'now' as never }), 'before must be a list of functions'],
  ])('refuses %s of another shape, which a program in JavaScript can give', (_, change, message) => {
    expect(() => change(base())).toThrow(message)
  })

  it('refuses args that are not JSON at once, because a schedule would find it only when it is due', () => {
    const code = expect.objectContaining({ code: 'PAYLOAD_NOT_JSON' })
    expect(() => base().withArgs(() => {})).toThrow(code)
    expect(() => base().withArgs({ at: Number.NaN })).toThrow(code)
    expect(() => new JobDefinition(null as never)).toThrow('A definition is made of its fields')
  })

  it('A2: cannot be changed, in any of its parts', () => {
    const { fields } = base()
    const attempts: (() => void)[] = [
      () => Object.assign(fields, { queue: 'x' }),
      () => Object.assign(fields.meta, { a: 2 }),
      () => Object.assign(fields.keep, { dead: 0 }),
      () => (fields.environments as string[]).push('x'),
      () => (fields.when as unknown[]).push(() => true),
      () => Object.assign(base().withDependsOn('a').fields.dependsOn[0] as object, { job: 'b' }),
      () => Object.assign(base(), { fields: {} }),
    ]
    for (const attempt of attempts) expect(attempt).toThrow(TypeError)
  })

  it('does not change when what it was made of does', () => {
    const meta = { tenant: 'acme', nested: { a: 1 } }
    const environments = ['test']
    const definition = base().with({ meta, environments })
    meta.tenant = 'evil'
    meta.nested.a = 2
    environments.push('production')
    expect(definition.fields).toMatchObject({ meta: { tenant: 'acme', nested: { a: 1 } }, environments: ['test'] })
  })

  it('holds its meta as it will travel', () => {
    expect(base().withMeta({ at: new Date(0), none: undefined } as never).fields.meta).toEqual({ at: '1970-01-01T00:00:00.000Z' })
  })
})
