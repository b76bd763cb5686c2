import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { silentLogger } from '../../src/core/logger.ts'
import { openMemory } from '../../src/engines/memory/index.ts'
import { openRedis } from '../../src/engines/redis/index.ts'
import type { QueueBackend } from '../../src/queue/contract/contract.ts'
import { type JobState, jobStates } from '../../src/queue/contract/job-state.ts'
import type { JobFilter, JobRecord } from '../../src/queue/contract/store.ts'
import { Bench, times, unlimited } from '../../src/testing/conformance/bench.ts'
import { ManualClock, seededRandom } from '../../src/testing/manual-clock.ts'
import { mysqlUrl } from '../services.ts'
import { freshPrefix, rawClient, redisUrl } from './redis-ground.ts'
import { SqlGround } from './sql-ground.ts'
import { SqliteGround } from './sqlite-ground.ts'

const engines = [
  'memory',
  'sqlite',
  'postgres',
  'mariadb',
  ...(mysqlUrl() === null ? [] : (['mysql'] as const)),
  ...(redisUrl() === null ? [] : (['redis'] as const)),
] as const

interface Ground {
  start(): Promise<void>
  stop(): Promise<void>
  open(clock: ManualClock): Promise<QueueBackend>
}

function groundOf(engine: (typeof engines)[number]): Ground {
  const nothing = { start: async () => {}, stop: async () => {} }
  if (engine === 'memory') return { ...nothing, open: async (clock) => openMemory({ clock }) }
  if (engine === 'redis') {
    const url = redisUrl() ?? ''
    return { ...nothing, open: (clock) => openRedis({ url, prefix: freshPrefix(), clock, logger: silentLogger }) }
  }
  return engine === 'sqlite' ? new SqliteGround() : new SqlGround(engine)
}

const names = ['rare', 'common', 'nightly'] as const
const manyNames = times(80, (index) => `name-${index}`)

/** Jobs of few names and of many, with and without groups, in every state that needs no other job. */
async function fill(bench: Bench): Promise<void> {
  const random = seededRandom(19)
  const pick = <Value>(values: readonly Value[]) => values[Math.floor(random() * values.length)] as Value
  await bench.send(...times(12, () => ({ job: 'rare', group: pick(['acme', null]) })))
  await bench.send(...manyNames.map((job) => ({ job, queue: 'many', group: pick(['acme', 'beta', null]) })))
  const endSome = async (limit: number) => {
    const jobs = unlimited(...names, ...manyNames)
    const leases = await bench.claim({ jobs, limit })
    const ends = [
      (lease: (typeof leases)[number]) => bench.done(lease, { keep: true }),
      bench.dead.bind(bench),
      bench.cancelled.bind(bench),
      bench.skipped.bind(bench),
      bench.retry.bind(bench),
    ]
    const ended = leases.filter(() => random() < 0.9)
    await bench.settle(...ended.map((lease) => pick(ends)(lease as never, ...([] as never[]))))
  }
  await endSome(60)
  // More than are read before a list goes from lane to lane.
  for (let batch = 0; batch < 5; batch++) {
    await bench.send(
      ...times(450, () => ({
        job: pick(['common', 'common', 'common', 'nightly'] as const),
        queue: pick(['default', 'default', 'mail']),
        priority: pick([1, 5]),
        group: random() < 0.05 ? 'acme' : null,
        delayMs: random() < 0.1 ? 60_000 : 0,
      })),
    )
    await endSome(300)
  }
}

const filters: readonly Omit<JobFilter, 'limit'>[] = [
  {},
  { job: 'rare' },
  { job: 'common' },
  { job: 'nightly', queue: 'mail' },
  { job: 'unknown' },
  { queue: 'many' },
  { queue: 'mail' },
  { group: 'acme' },
  { group: 'beta' },
  { group: 'unknown' },
  { group: 'acme', job: 'common' },
  { group: 'acme', job: 'rare' },
  { group: 'acme', queue: 'many' },
  ...jobStates.flatMap((state: JobState) => [
    { state },
    { state, job: 'rare' },
    { state, job: 'common' },
    { state, queue: 'many' },
    { state, group: 'acme' },
    { state, group: 'beta', queue: 'many' },
  ]),
]

describe.each(engines)('lists of jobs, on %s,', (engine) => {
  const ground = groundOf(engine)
  let bench: Bench
  let all: readonly JobRecord[]
  beforeAll(async () => {
    await ground.start()
    const clock = new ManualClock()
    bench = new Bench(await ground.open(clock), clock)
    await fill(bench)
    all = await bench.store.list({ limit: 10_000 })
  })
  afterAll(async () => {
    await bench.backend[Symbol.asyncDispose]()
    await ground.stop()
  })

  test('there are jobs in every state that the lists are asked for', () => {
    const states = new Set(all.map(({ state }) => state))
    expect(jobStates.filter((state) => state !== 'blocked' && !states.has(state))).toEqual([])
    expect(all.length).toBeGreaterThan(2_100)
  })

  test.each(filters)('%o has the same jobs, newest first, whichever index it is read by', async (filter) => {
    const { state, job, queue, group } = filter
    const expected = all
      .filter((each) => state === undefined || each.state === state)
      .filter((each) => job === undefined || each.job === job)
      .filter((each) => queue === undefined || each.queue === queue)
      .filter((each) => group === undefined || each.group === group)
      .map(({ id }) => id)
    expect((await bench.store.list({ ...filter, limit: 10_000 })).map(({ id }) => id)).toEqual(expected)
    const paged: string[] = []
    for (let page = 0; page < 4; page++) {
      const before = paged.at(-1)
      const rows = await bench.store.list({ ...filter, limit: 7, ...(before !== undefined && { before }) })
      paged.push(...rows.map(({ id }) => id))
    }
    expect(paged).toEqual(expected.slice(0, 28))
  })

  test('a page goes on behind a job that was deleted in the meantime', async () => {
    const filter = { job: 'common', state: 'succeeded' } as const
    const whole = (await bench.store.list({ ...filter, limit: 30 })).map(({ id }) => id)
    const [last] = whole.slice(9, 10) as [string]
    expect(await bench.store.remove({ state: 'succeeded', ids: [last], limit: 1 })).toBe(1)
    const next = await bench.store.list({ ...filter, limit: 20, before: last })
    expect(next.map(({ id }) => id)).toEqual(whole.slice(10))
    expect((await bench.store.list({ job: 'common', limit: 10_000 })).map(({ id }) => id)).not.toContain(last)
  })

  // The last one, since it begins with an empty queue.
  test('jobs in a state that very many are in are found behind newer jobs in another one', async () => {
    const clock = new ManualClock()
    await using backend = await ground.open(clock)
    const many = new Bench(backend, clock)
    const ids: string[] = []
    for (let batch = 0; batch < 11; batch++) {
      ids.push(...(await many.send(...times(1_000, (index) => ({ job: `job-${index % 3}` })))))
    }
    for (let batch = 0; batch < 2; batch++) await many.send(...times(1_100, () => ({ delayMs: 60_000 })))
    const newest = ids.toReversed()
    const idsOf = async (filter: Omit<JobFilter, 'limit'>) =>
      (await many.store.list({ ...filter, limit: 40 })).map(({ id }) => id)
    expect(await idsOf({ state: 'ready' })).toEqual(newest.slice(0, 40))
    expect(await idsOf({ state: 'ready', before: newest[39] ?? '' })).toEqual(newest.slice(40, 80))
    expect(await idsOf({ job: 'job-1' })).toEqual(newest.filter((_, index) => ((10_999 - index) % 1_000) % 3 === 1).slice(0, 40))
    expect(await idsOf({ queue: 'default', state: 'ready' })).toEqual(newest.slice(0, 40))
  })
})

test.skipIf(redisUrl() === null)('jobs that a build without lists by name has stored in Redis are in them', async () => {
  const options = { url: redisUrl() ?? '', prefix: freshPrefix(), logger: silentLogger }
  await using client = await rawClient()
  const clock = new ManualClock()
  const ids: string[] = []
  {
    await using backend = await openRedis({ ...options, clock })
    ids.push(...(await new Bench(backend, clock).send({ job: 'one' }, { job: 'two', group: 'acme' }, { job: 'one' })))
  }
  const keys = await client.keys(`{${options.prefix}}:o[fg]:*`)
  expect(keys).toHaveLength(3)
  await client.del(...keys)
  await client.hdel(`{${options.prefix}}:meta`, 'listed')
  await using backend = await openRedis({ ...options, clock })
  const listed = async (filter: Omit<JobFilter, 'limit'>) =>
    (await backend.store.list({ ...filter, limit: 9 })).map(({ id }) => id)
  expect(await listed({ job: 'one' })).toEqual([ids[2], ids[0]])
  expect(await listed({ group: 'acme' })).toEqual([ids[1]])
})
