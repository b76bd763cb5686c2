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
    expect(() => base().withOverlap('skip').withSchedule(null)).toThrow('this job has no schedule')
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
