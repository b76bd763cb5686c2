import { type Treadle, TreadleError, treadle } from 'treadle'
import { describe, expect, test } from 'vitest'

/** What has no JSON, no text, or neither: a bigint from a database, a parsed query string, an object that holds itself. */
const circle: Record<string, unknown> = {}
circle.self = circle
const values: Readonly<Record<string, unknown>> = {
  'a bigint': 5n,
  'a circle': circle,
  'an object without a prototype': Object.create(null),
  'a list with a bigint': [1n],
  'a number that is none': Number.NaN,
  'a function': () => 1,
  'a symbol': Symbol('wrong'),
  'an invalid date': new Date(Number.NaN),
}

type Methods = Readonly<Record<string, (value: unknown) => unknown>>

// biome-ignore format: a list of names
const words = ['queue', 'priority', 'retries', 'maxAttempts', 'backoff', 'timeout', 'maxRunningTime', 'concurrency', 'rate', 'group', 'unique', 'debounce', 'throttle', 'idempotencyKey', 'delivery', 'onChildFailure', 'keep', 'tags', 'encrypt', 'waitAtMost', 'environments', 'timezone', 'scheduledAt', 'overlap', 'misfire', 'after', 'dependsOn', 'enabled', 'named', 'backend', 'cron', 'repeat', 'schedule', 'dailyAt', 'hours', 'days', 'everyXMinutes', 'hourlyAt', 'between', 'isolate', 'retryIf', 'failWhen', 'when', 'singleInstance']
// biome-ignore format: a list of names
const options = ['delay', 'at', 'queue', 'backend', 'priority', 'retries', 'timeout', 'group', 'unique', 'debounce', 'throttle', 'idempotencyKey', 'tags', 'encrypt', 'dependsOn', 'onDependencyFailure', 'waitAtMost']
// biome-ignore format: a list of names
const ofWorkers = ['name', 'concurrency', 'queues', 'jobs', 'lease', 'scheduler', 'maxRescues', 'ageing', 'stall', 'breaker', 'maxLoad', 'signal', 'backend', 'limit', 'at', 'signals']
const ofSchedules = ['job', 'cron', 'every', 'repeat', 'timezone', 'until', 'misfire', 'overlap']
const ofInstances = ['defaults', 'timezone', 'keep', 'allow', 'queues', 'environment', 'maxPayloadBytes', 'migrate', 'encrypt']

function callsOf(jobs: Treadle): readonly (readonly [what: string, call: (value: unknown) => unknown])[] {
  let defined = 0
  const define = () => jobs.define(`job-${defined++}`, () => 1)
  const schedules = jobs.schedules as unknown as Methods
  const said = { job: 'known', cron: '* * * * *' }
  jobs.define('known', () => 1)
  return [
    ...words.map((word) => [`.${word}()`, (value: unknown) => (define() as unknown as Methods)[word]?.(value)] as const),
    ...options.map(
      (name) => [`dispatch with ${name}`, (value: unknown) => jobs.dispatch('known', null, { [name]: value } as never)] as const,
    ),
    ...ofWorkers.map((name) => [`run with ${name}`, (value: unknown) => jobs.run({ [name]: value } as never)] as const),
    ...ofSchedules.map((name) => [`upsert with ${name}`, (value: unknown) => upsert(jobs, said, name, value)] as const),
    ...ofInstances.map((name) => [`treadle with ${name}`, (value: unknown) => treadle('memory:', { [name]: value })] as const),
    ...['pause', 'resume', 'runNow', 'trigger', 'forget', 'get', 'delete'].map(
      (name) => [`schedules.${name}()`, (value: unknown) => schedules[name]?.(value)] as const,
    ),
    ...['handle', 'why', 'chain', 'batch', 'declare', 'dispatchMany'].map(
      (name) => [`jobs.${name}()`, (value: unknown) => (jobs as unknown as Methods)[name]?.(value)] as const,
    ),
    ...['timeout', 'signal'].map(
      (name) => [`result() with ${name}`, (value: unknown) => waited(jobs, { [name]: value } as never)] as const,
    ),
    ['open with wait', (value) => jobs.open({ wait: value as never })],
    ['jobs.define()', (value) => jobs.define(value as string, () => 1)],
    ['a step that is none', (value) => jobs.chain([value as never])],
  ]
}

async function waited(jobs: Treadle, options: never): Promise<void> {
  const { id } = await jobs.dispatch('known')
  await jobs.handle(id).result(options)
}

function upsert(jobs: Treadle, said: { job: string; cron: string }, name: string, value: unknown): unknown {
  const { cron, ...rest } = said
  const given = ['every', 'repeat'].includes(name) ? rest : { ...rest, cron }
  return jobs.schedules.upsert('a', { ...given, [name]: value } as never)
}

describe('whatever is given in place of what is wanted, the error is one of ours', () => {
  test.each(Object.entries(values))('%s', async (_, value) => {
    const jobs = treadle('memory:', { logger: { debug() {}, info() {}, warn() {}, error() {} } })
    const others: string[] = []
    for (const [what, call] of callsOf(jobs)) {
      try {
        await call(value)
      } catch (thrown) {
        if (!(thrown instanceof TreadleError)) others.push(`${what}: ${thrown}`)
      }
    }
    await jobs.close()
    expect(others).toEqual([])
  })
})
