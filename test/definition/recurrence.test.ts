import { describe, expect, it } from 'vitest'
import { DescribedJob, type JobBuilder } from '../../src/definition/builder.ts'
import type { DefinitionFields } from '../../src/definition/definition.ts'

const nothingSaid = { overlap: null, misfire: null, after: [], dependsOn: [], maxRunningTimeMs: null }

describe('what a job says of its scheduled runs', () => {
  it('is nothing unless it says so', () => {
    expect(build('report').toDefinition().fields).toMatchObject(nothingSaid)
  })

  it.each<[string, (job: JobBuilder) => JobBuilder, Partial<DefinitionFields>]>([
    ['X5: overlap', (job) => job.overlap('allow'), { overlap: 'allow' }],
    ['X14: misfire', (job) => job.misfire('skip', { within: '5m' }), { misfire: { kind: 'skip', withinMs: 300_000 } }],
    [
      'X14: misfire with a cap',
      (job) => job.misfire('all', { within: '1h', cap: 7 }),
      { misfire: { kind: 'all', withinMs: 3_600_000, cap: 7 } },
    ],
    ['D9, X6: after, which adds up', (job) => job.after('a', build('b')).after(['c', 'a']), { after: ['a', 'b', 'c'] }],
    [
      'D8, X6: dependsOn, which skips where nothing else is said',
      (job) => job.dependsOn('a', build('b')),
      { dependsOn: [skipping('a'), skipping('b')] },
    ],
    ['D8: dependsOn with a list', (job) => job.dependsOn(['a', build('b')]), { dependsOn: [skipping('a'), skipping('b')] }],
    [
      'X6: dependsOn with a policy for what is named with it',
      (job) => job.dependsOn('a', build('b'), { onFailure: 'run' }).dependsOn(['c'], { onFailure: 'fail' }).dependsOn('d'),
      {
        dependsOn: [
          { job: 'a', onFailure: 'run' },
          { job: 'b', onFailure: 'run' },
          { job: 'c', onFailure: 'fail' },
          skipping('d'),
        ],
      },
    ],
    [
      'dependsOn twice for one job, of which the last counts',
      (job) => job.dependsOn('a').dependsOn('a', { onFailure: 'fail' }),
      { dependsOn: [{ job: 'a', onFailure: 'fail' }] },
    ],
    ['Y4: maxRunningTime', (job) => job.maxRunningTime('5m'), { maxRunningTimeMs: 300_000, timeoutMs: null }],
    ['Y4: maxRunningTime 0, which is none', (job) => job.maxRunningTime('5m').maxRunningTime(0), { maxRunningTimeMs: null }],
    ['maxRunningTime of null', (job) => job.maxRunningTime('5m').maxRunningTime(null), { maxRunningTimeMs: null }],
  ])('%s', (_, say, fields) => {
    const job = build('report').daily()
    expect(say(job)).toBe(job)
    expect(job.toDefinition().fields).toMatchObject({ ...nothingSaid, ...fields })
  })

  it.each<[string, (job: JobBuilder) => JobBuilder, string]>([
    ['an overlap that is none', (job) => job.overlap('wait' as never), `overlap must be 'allow', 'skip' or 'queue', got 'wait'`],
    ['a misfire that is none', (job) => job.misfire('never' as never), `'skip', 'latest' or 'all'`],
    ['an order after nobody', (job) => job.after(), 'after() names no job'],
    ['an order after something else', (job) => job.after(7 as never), 'the job in after() must be a string'],
    ['a dependency on nobody', (job) => job.dependsOn(), 'dependsOn() names no job'],
    ['a dependency on nobody with a policy', (job) => job.dependsOn({ onFailure: 'run' }), 'dependsOn() names no job'],
    ['a dependency on something else', (job) => job.dependsOn(null as never), 'the job in dependsOn() must be a string'],
    [
      'a policy that is none',
      (job) => job.dependsOn('a', { onFailure: 'stop' as never }),
      `onFailure must be 'skip', 'run' or 'fail', got 'stop'`,
    ],
    [
      'a misspelt option',
      (job) => job.dependsOn('a', { onFailiure: 'run' } as never),
      'unknown option "onFailiure", did you mean "onFailure"?',
    ],
    ['a time that is none', (job) => job.maxRunningTime('long'), 'maxRunningTime must be'],
  ])('refuses %s at the call', (_, say, message) => {
    expect(() => say(build('report'))).toThrow(message)
  })

  it('cannot be changed once the definition is in use', () => {
    const changes: readonly ((job: JobBuilder) => unknown)[] = [
      (job) => job.overlap('allow'),
      (job) => job.misfire('all'),
      (job) => job.after('a'),
      (job) => job.dependsOn('a'),
      (job) => job.maxRunningTime('1m'),
    ]
    for (const change of changes) {
      const job = build('report').daily()
      job.toDefinition()
      expect(() => change(job)).toThrow(expect.objectContaining({ code: 'DEFINITION_FROZEN' }))
    }
  })
})

describe('words that make no sense together', () => {
  it('X25: are refused for a job without a schedule, all of them at once', () => {
    const job = build('report').overlap('skip').misfire('latest').after('a').dependsOn('b')
    expect(() => job.toDefinition()).toThrow(
      expect.objectContaining({
        code: 'DEFINITION_INVALID',
        message:
          'Job "report": overlap(), misfire(), after(), dependsOn() applies only to scheduled runs, and this job has no schedule: add one, such as daily()',
      }),
    )
  })

  it.each<[string, (job: JobBuilder) => JobBuilder, string]>([
    [
      'overlap("skip") with misfire("all")',
      (job) => job.daily().overlap('skip').misfire('all'),
      "overlap('skip') and misfire('all') contradict each other",
    ],
    [
      'overlap("queue") with a concurrency',
      (job) => job.daily().overlap('queue').concurrency(2),
      "overlap('queue'), which is the default with misfire('all'), is one run at a time and contradicts concurrency(2)",
    ],
    ['misfire("all") with a concurrency', (job) => job.daily().misfire('all').concurrency(2), "use overlap('allow')"],
    [
      'Y12: timeout with maxRunningTime',
      (job) => job.timeout('1m').maxRunningTime('1m'),
      'timeout and maxRunningTime exclude each other',
    ],
  ])('are refused: %s', (_, say, message) => {
    expect(() => say(build('report')).toDefinition()).toThrow(
      expect.objectContaining({ code: 'DEFINITION_INVALID', message: expect.stringContaining(message) }),
    )
  })

  it.each<[string, (job: JobBuilder) => JobBuilder]>([
    [
      'misfire("all") and a concurrency of runs that may overlap',
      (job) => job.daily().misfire('all').overlap('allow').concurrency(2),
    ],
    ['overlap("queue") and a single instance', (job) => job.daily().overlap('queue').singleInstance()],
    ['overlap("skip") of a repeat that makes up for all', (job) => job.repeat('HOURLY').overlap('skip').misfire('all')],
    ['a repeat that makes up for all, and a concurrency', (job) => job.repeat('HOURLY').misfire('all').concurrency(2)],
  ])('are not these: %s', (_, say) => {
    expect(() => say(build('report')).toDefinition()).not.toThrow()
  })
})

describe('what follows from it', () => {
  it.each<[string, (job: JobBuilder) => JobBuilder, object]>([
    ['X5: skips what overlaps', (job) => job.daily(), { overlap: 'skip', concurrency: null, singleInstance: false }],
    [
      'queues what is made up for',
      (job) => job.daily().misfire('all'),
      { overlap: 'queue', concurrency: 1, singleInstance: true },
    ],
    ['a queue is one at a time', (job) => job.daily().overlap('queue'), { concurrency: 1, singleInstance: true }],
    [
      'a limit that is said stays',
      (job) => job.daily().concurrency(3),
      { overlap: 'skip', concurrency: 3, singleInstance: false },
    ],
    ['a dispatched job has no limit by this', (job) => job, { concurrency: null, singleInstance: false }],
    ['X14: the latest missed one is made up for', (job) => job.daily(), { misfire: { kind: 'latest', withinMs: null } }],
    [
      'X14: a repeat makes up for all',
      (job) => job.repeat('HOURLY'),
      { misfire: { kind: 'all' }, overlap: 'skip', concurrency: null },
    ],
    ['a timeout is the deadline', (job) => job.timeout('1m'), { deadlineMs: 60_000 }],
    ['Y12: and so is a longest running time', (job) => job.maxRunningTime('2m'), { deadlineMs: 120_000 }],
    ['neither is no deadline', (job) => job, { deadlineMs: null }],
  ])('%s', (_, say, expected) => {
    expect(say(build('report')).toDefinition()).toMatchObject(expected)
  })

  it('D8, A11: a schedule is followed where the job is enabled and the environment is one of its own', () => {
    const definition = build('report').daily().toDefinition()
    expect([definition.isFollowedIn(null), definition.isFollowedIn('test')]).toEqual([true, true])
    const somewhere = definition.withEnvironments('production', 'staging')
    const environments = [null, 'test', 'staging']
    expect(environments.map((environment) => somewhere.isFollowedIn(environment))).toEqual([false, false, true])
    expect(definition.withEnabled(false).isFollowedIn(null)).toBe(false)
    expect(definition.withSchedule(null).isFollowedIn(null)).toBe(false)
  })
})

function skipping(job: string) {
  return { job, onFailure: 'skip' } as const
}

function build(job: string): JobBuilder {
  const dispatcher = { dispatch: async () => ({}) as never, dispatchMany: async () => [], dispatchAtOnce: () => [] }
  return new DescribedJob(job, {}, async () => {}, dispatcher)
}
