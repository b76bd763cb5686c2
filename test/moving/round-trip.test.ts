import { openSqlite } from 'treadle/sqlite'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openMemory } from '../../src/engines/memory/index.ts'
import { openEnvelope } from '../../src/envelope/envelope.ts'
import { exportJobs, importJobs, move } from '../../src/moving/index.ts'
import type { QueueBackend } from '../../src/queue/contract/contract.ts'
import { treeCounts } from '../../src/queue/contract/queue-counts.ts'
import { ManualClock } from '../../src/testing/manual-clock.ts'
import { openFresh, redisUrl } from '../backends/redis-ground.ts'
import { SqlGround } from '../backends/sql-ground.ts'
import { scratchFolder } from '../processes/database.ts'
import { fill, keys } from './filled-queue.ts'

const folder = scratchFolder()
const postgres = new SqlGround('postgres')
const mariadb = new SqlGround('mariadb')
beforeAll(async () => {
  await Promise.all([postgres.start(), mariadb.start()])
})
afterAll(async () => {
  await Promise.all([postgres.stop(), mariadb.stop()])
  folder.remove()
})

const silent = { debug() {}, info() {}, warn() {}, error() {} }
let files = 0

const engines: Readonly<Record<string, (clock: ManualClock) => Promise<QueueBackend>>> = {
  memory: async (clock) => openMemory({ clock }),
  sqlite: (clock) => openSqlite({ path: folder.file(`${++files}.db`), clock, logger: silent }),
  postgres: (clock) => postgres.open(clock),
  mariadb: (clock) => mariadb.open(clock),
  ...(redisUrl() === null ? {} : { redis: (clock: ManualClock) => openFresh({ clock }) }),
}

const pairs = Object.keys(engines).flatMap((from) => Object.keys(engines).map((to) => [from, to] as const))
/** Both sides would be the same database. */
const isPossible = ([from, to]: readonly [string, string]) => from !== to || (from !== 'postgres' && from !== 'mariadb')

describe('everything that a queue knows arrives with its jobs', () => {
  test.for(pairs.filter(isPossible))('from %s to %s', async ([from, to]) => {
    const clock = new ManualClock()
    await using source = await engines[from]!(clock)
    await using target = await engines[to]!(clock)
    await fill(source, clock)
    const before = await everythingIn(source)
    const report = await move({ from: source, to: target })
    expect(report).toMatchObject({ moved: before.jobs.length, refused: [], unreadable: [], isComplete: true })
    expect(await everythingIn(target)).toEqual(before)
    expect(await source.store!.list({ limit: 1 })).toEqual([])
    await isHeldOn(target)
    await worksOn(target, clock)
    if (to === 'postgres') expect(await postgres.faults()).toEqual([])
    if (to === 'mariadb') expect(await mariadb.faults()).toEqual([])
  })

  test.skipIf(redisUrl() === null)('through a file into Redis and out of it again', async () => {
    const clock = new ManualClock()
    await using source = await engines.memory!(clock)
    await using middle = await openFresh({ clock })
    await using target = await engines.memory!(clock)
    await fill(source, clock)
    const before = await everythingIn(source)
    const [first, second] = [folder.file('into-redis.jsonl'), folder.file('out-of-redis.jsonl')]
    await exportJobs({ from: source, to: first })
    expect(await importJobs({ from: first, to: middle })).toMatchObject({ jobs: before.jobs.length, refused: [] })
    expect(await exportJobs({ from: middle, to: second, remove: true })).toMatchObject({ jobs: before.jobs.length, leftOut: 0 })
    expect(await middle.store.list({ limit: 1 })).toEqual([])
    expect(await importJobs({ from: second, to: target })).toMatchObject({ jobs: before.jobs.length, refused: [] })
    expect(await everythingIn(target)).toEqual(before)
  })

  test('and so it does by way of a file, and the source keeps what was only copied', async () => {
    const clock = new ManualClock()
    await using source = await engines.memory!(clock)
    await using target = await engines.sqlite!(clock)
    await fill(source, clock)
    const before = await everythingIn(source)
    const file = folder.file('copy.jsonl')
    expect(await exportJobs({ from: source, to: file })).toMatchObject({ jobs: before.jobs.length, leftOut: 0, isComplete: true })
    expect(await everythingIn(source)).toEqual(before)
    expect(await importJobs({ from: file, to: target })).toMatchObject({ jobs: before.jobs.length, refused: [] })
    expect(await everythingIn(target)).toEqual(before)
    await isHeldOn(target)
  })

  test('what an export takes out of the queue is in the file alone', async () => {
    const clock = new ManualClock()
    await using source = await engines.sqlite!(clock)
    await using target = await engines.memory!(clock)
    await fill(source, clock)
    const before = await everythingIn(source)
    const file = folder.file('taken.jsonl')
    await exportJobs({ from: source, to: file, remove: true })
    expect(await source.store!.list({ limit: 1 })).toEqual([])
    await importJobs({ from: file, to: target })
    expect(await everythingIn(target)).toEqual(before)
  })
})

test('what was signed is still what was signed, and what was forged is still forged', async () => {
  const clock = new ManualClock()
  await using source = await engines.memory!(clock)
  await using target = await engines.sqlite!(clock)
  await fill(source, clock)
  await move({ from: source, to: target })
  const [signed, forged] = await Promise.all(['signed', 'forged'].map((job) => target.store!.list({ job, limit: 9 })))
  const opened = signed!.filter(({ identity }) => identity !== 'no identity at all').map((record) => openEnvelope(record, keys))
  expect(opened.map(({ payload }) => payload)).toEqual([{ signed: true }])
  expect(() => openEnvelope(forged![0]!, keys)).toThrow(/not in the key ring/)
})

async function everythingIn(backend: QueueBackend) {
  const store = backend.store!
  const records = [...(await store.list({ limit: 1_000 }))].sort((a, b) => (a.id < b.id ? -1 : 1))
  // Only engines that others can write to look for what is spoilt.
  const jobs = await Promise.all(
    records.map(async ({ spoilt: _, ...record }) => ({
      ...record,
      links: await store.links(record.id),
      log: await store.logs!.read(record.id, 0, 100),
    })),
  )
  const roots = [...new Set(records.flatMap(({ root }) => root ?? []))].sort()
  const counts = (await store.counts()).filter((each) => Object.values(each.counts).some((count) => count > 0))
  return {
    jobs,
    trees: await Promise.all(roots.map((root) => treeCounts(store, root))),
    counts: [...counts].sort((a, b) => (`${a.queue} ${a.job}` < `${b.queue} ${b.job}` ? -1 : 1)),
    standings: await store.schedules.standings(),
    schedules: await store.schedules.list(),
    tagged: (await store.list({ tag: 'customer 7', limit: 9 })).map(({ id }) => id),
    occurrences: await store.schedules.occurrences({ schedule: 'digest', upTo: Number.MAX_SAFE_INTEGER, limit: 100 }),
    paused: (await store.paused()).queues,
  }
}

/** Keys that others hold are held here too. */
async function isHeldOn(backend: QueueBackend): Promise<void> {
  const { coordination } = backend
  const other = '00000000-0000-7000-8000-000000000000'
  expect(await coordination!.claimOnce('payment 1', other)).toEqual({ kind: 'done', result: '{"paid":42}', seal: 's' })
  expect(await coordination!.claimOnce('held by a parent', other)).toEqual({ kind: 'busy' })
  const [living] = await backend.store!.list({ job: 'work', limit: 100 })
  const keyed = ['while it lives', 'until it starts', 'for an hour', 'for ever'].map((uniqueKey, index) => ({
    id: `00000000-0000-7000-8000-00000000000${index + 1}`,
    job: 'work',
    uniqueKey,
  }))
  const paying = { id: '00000000-0000-7000-8000-00000000000a', job: 'paying', uniqueKey: 'outlives its job' }
  const common = { number: null, queue: 'default', priority: 5, singleInstance: false, identity: living!.identity, payload: '1' }
  const rest = { signature: null, createdAt: 0, runAt: 0, uniqueUntil: 'ended', group: null, links: null } as const
  const receipts = await backend.send([...keyed, paying].map((each) => ({ ...common, ...rest, ...each })))
  expect(receipts.map(({ stored }) => stored)).toEqual([false, false, false, false, false])
  expect(await backend.store!.numbers!.reserve(1)).toBe(2)
}

/** All that waits can be claimed and ended, and workflows go on to their ends. */
async function worksOn(backend: QueueBackend, clock: ManualClock): Promise<void> {
  await backend.store!.setPaused({ queue: 'stopped' }, false)
  await clock.advance(3_700_000)
  const names = ['work', 'signed', 'forged', 'retrying', 'rescued', 'later', 'join', 'rescue', 'parent', 'child', 'recurring']
  const jobs = names.map((job) => ({ job, concurrency: null }))
  for (let claimed = 1; claimed > 0; ) {
    const request = { jobs, queues: null, limit: 100, leaseMs: 30_000, owner: 'w', maxRescues: 3 }
    const { leases } = await backend.lease(request)
    claimed = leases.length
    const ends = leases.map(({ token }) => ({ token, kind: 'done', result: null, keep: true }) as const)
    const receipts = await backend.settle(ends)
    expect(receipts.every((receipt) => receipt === 'applied' || receipt === 'blocked')).toBe(true)
  }
  const states = new Set((await backend.store!.list({ limit: 1_000 })).map(({ state }) => state))
  expect([...states].sort()).toEqual(['cancelled', 'dead', 'skipped', 'succeeded'])
}
