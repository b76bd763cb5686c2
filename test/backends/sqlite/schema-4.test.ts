import { readFileSync } from 'node:fs'
import type { QueueBackend } from 'treadle'
import { openSqlite, openSqliteUpkeep } from 'treadle/sqlite'
import { ManualClock } from 'treadle/testing'
import { describe, expect, onTestFinished, test } from 'vitest'
import { tables } from '../../../src/engines/sql/rows/tables.ts'
import { sqliteMigrations } from '../../../src/engines/sqlite/schema/schema.ts'
import type { Coordination } from '../../../src/queue/contract/contract.ts'
import { treeCounts } from '../../../src/queue/contract/queue-counts.ts'
import type { JobStore } from '../../../src/queue/contract/store.ts'
import { Bench } from '../../../src/testing/conformance/bench.ts'
import { execute, faultsOf, query, scratchFolder } from '../../processes/database.ts'

const latest = sqliteMigrations.length
const compatibleFrom = Math.max(...sqliteMigrations.map((each) => each.compatibleFrom))
const silent = { debug() {}, info() {}, warn() {}, error() {} }
const hour = 3_600_000
const filledAt = Date.UTC(2026, 0, 1, 0, 0, 1)
const filled = readFileSync(new URL('./schema-4.sql', import.meta.url), 'utf8')

type Whole = QueueBackend & { readonly store: JobStore; readonly coordination: Coordination }

/** The file as it was filled when SQLite had rules and tables of its own. */
function oldFile(): string {
  const folder = scratchFolder()
  onTestFinished(() => folder.remove())
  const path = folder.file('jobs.db')
  execute(path, filled)
  return path
}

async function opened(path = oldFile()) {
  const clock = new ManualClock(filledAt)
  const backend = (await openSqlite({ path, clock, logger: silent })) as Whole
  onTestFinished(() => backend[Symbol.asyncDispose]())
  const { store, coordination } = backend
  const bench = new Bench(backend, clock)
  const all = async () => {
    const records = await store.list({ limit: 1_000 })
    return new Map(records.map((record) => [(JSON.parse(record.payload) as { is: string }).is, record]))
  }
  return { path, clock, backend, store, coordination, bench, all }
}

const only = (...jobs: readonly string[]) => ({ jobs: jobs.map((job) => ({ job, concurrency: null })) })
const isOf = (payload: string) => (JSON.parse(payload) as { is: string }).is

describe('a file of the time when SQLite had tables of its own', () => {
  test('keeps every job as it was, in every state', async () => {
    const { path, all } = await opened()
    const jobs = await all()
    const states = [...jobs].map(([is, { state }]) => [is, state])
    expect(Object.fromEntries(states)).toEqual({
      ready: 'ready',
      'ready too': 'ready',
      stamped: 'ready',
      scheduled: 'scheduled',
      retried: 'scheduled',
      running: 'running',
      succeeded: 'succeeded',
      dead: 'dead',
      cancelled: 'cancelled',
      skipped: 'skipped',
      'of a 0': 'running',
      'of a 1': 'ready',
      'of b 2': 'ready',
      'of b 3': 'ready',
      'of c 4': 'ready',
      'of x 0': 'running',
      'of x 1': 'ready',
      'unique until it ends': 'ready',
      'unique until it starts': 'ready',
      once: 'succeeded',
      first: 'ready',
      second: 'blocked',
      'in vain': 'ready',
      rescued: 'ready',
      rescuer: 'blocked',
      parent: 'running',
      'child of parent': 'ready',
      'doomed parent': 'running',
      'child of doomed parent': 'dead',
      'last night': 'succeeded',
      'next night': 'scheduled',
    })
    expect(jobs.get('stamped')).toMatchObject({ job: 'plain', queue: 'other', priority: 7, maxRetries: 3, attempts: 0 })
    expect(jobs.get('succeeded')).toMatchObject({ result: '{"gave":1}', seal: 'a seal', finishedAt: Date.UTC(2026, 0, 1) })
    expect(jobs.get('dead')).toMatchObject({ reason: 'exhausted', errors: [{ message: 'it broke' }] })
    expect(jobs.get('running')).toMatchObject({ owner: 'worker-1', attempts: 1, number: 42, progress: '{"done":0.5}' })
    expect(jobs.get('of b 2')).toMatchObject({ group: 'b' })
    expect(jobs.get('unique until it ends')).toMatchObject({ uniqueKey: 'ended' })
    expect(faultsOf(path).filter((fault) => !/is not complete/.test(fault))).toEqual([])
  })

  test('counts what is there, and has all of it claimed and ended', async () => {
    const { store, bench, all } = await opened()
    const counts = await store.counts()
    const sum = counts.reduce((total, each) => total + Object.values(each.counts).reduce((one, other) => one + other), 0)
    expect(sum).toBe((await all()).size)
    const plain = await bench.claim(only('plain'))
    expect(plain.map(({ envelope }) => isOf(envelope.payload))).toEqual(['ready too', 'stamped', 'ready'])
    await bench.settle(...plain.map((lease) => bench.done(lease, { keep: true })))
    await bench.clock.advance(hour)
    expect((await bench.claim(only('plain'))).map(({ envelope }) => isOf(envelope.payload))).toEqual(['scheduled'])
  })

  test('keeps leases, which can be ended and run out as ever', async () => {
    const { store, backend, bench, all } = await opened()
    const held = (await all()).get('running')!
    const [lease] = await store.leases({ ids: [held.id] })
    expect(lease).toMatchObject({ id: held.id, owner: 'worker-1', attempt: 1 })
    expect(await backend.settle([{ token: lease!.token, kind: 'done', result: null, keep: true }])).toEqual(['applied'])
    await bench.clock.advance(hour)
    expect((await backend.reap(3)).returned).toBeGreaterThan(0)
    expect((await all()).get('of a 0')).toMatchObject({ state: 'ready', rescues: 1 })
  })

  test('keeps groups in their turns, below their limits and rates', async () => {
    const { bench } = await opened()
    const inTurn = { jobs: [{ job: 'grouped', concurrency: null, group: { concurrency: 1, rate: null } }] }
    const claimed = (await bench.claim(inTurn)).map(({ envelope }) => isOf(envelope.payload))
    expect(claimed).toEqual(['of b 2', 'of c 4'])
    const rated = { jobs: [{ job: 'rated', concurrency: null, group: { concurrency: null, rate: { limit: 1, perMs: hour } } }] }
    await bench.assertNothingClaimable(rated)
    await bench.clock.advance(hour)
    expect(await bench.claim(rated)).not.toEqual([])
  })

  test('keeps unique keys, of jobs that are there and of jobs that are gone', async () => {
    const { bench, backend, clock } = await opened()
    const isStored = async (job: string, uniqueKey: string) => {
      const [receipt] = await backend.send([bench.envelope({ job, uniqueKey })])
      return receipt!.stored
    }
    expect(await isStored('unique', 'ended')).toBe(false)
    expect(await isStored('unique', 'started')).toBe(false)
    expect(await isStored('gone', 'ever')).toBe(false)
    expect(await isStored('gone', 'day')).toBe(false)
    expect(await isStored('unique', 'another')).toBe(true)
    const unique = await bench.claim(only('unique'))
    expect(await isStored('unique', 'started')).toBe(true)
    await bench.settle(...unique.map((lease) => bench.done(lease)))
    expect(await isStored('unique', 'ended')).toBe(true)
    await clock.advance(24 * hour)
    expect(await isStored('gone', 'ever')).toBe(false)
    expect(await isStored('gone', 'day')).toBe(true)
  })

  test('keeps idempotency keys', async () => {
    const { coordination, bench } = await opened()
    const result = { kind: 'done', result: '{"paid":true}', seal: 'once seal' }
    expect(await coordination.claimOnce('paid', bench.newId())).toEqual(result)
    expect(await coordination.claimOnce('paying', bench.newId())).toEqual({ kind: 'busy' })
    expect(await coordination.claimOnce('else', bench.newId())).toEqual({ kind: 'claimed' })
  })

  test('keeps workflows: what waits, for whom, and what is to become of it', async () => {
    const { store, bench, backend, all } = await opened()
    const jobs = await all()
    const id = (is: string) => jobs.get(is)!.id
    expect(await store.links(id('second'))).toMatchObject([
      { id: id('first'), kind: 'dependency', waiting: true, state: 'ready' },
    ])
    expect(await store.links(id('in vain'))).toMatchObject([{ id: 'no job', waiting: false, state: 'missing' }])
    expect(await store.links(id('parent'))).toMatchObject([{ id: id('child of parent'), kind: 'child', key: 'the child' }])
    const steps = await bench.claim(only('step', 'saved'))
    await bench.settle(...steps.map((lease) => bench.done(lease, { keep: true })))
    expect((await all()).get('second')).toMatchObject({ state: 'ready' })
    expect((await all()).get('rescuer')).toMatchObject({ state: 'skipped' })
    const token = async (is: string) => (await store.leases({ ids: [id(is)] }))[0]!.token
    const done = { kind: 'done', result: null, keep: true } as const
    expect(await backend.settle([{ token: await token('doomed parent'), ...done }])).toEqual(['failed'])
    expect((await all()).get('doomed parent')).toMatchObject({
      state: 'dead',
      errors: [{ message: expect.stringContaining('the child broke') }],
    })
    expect(await backend.settle([{ token: await token('parent'), ...done }])).toEqual(['blocked'])
    const links = { id: id('parent'), token: null, key: 'the child', onFailure: 'fail', longestWaitMs: hour } as const
    const again = bench.envelope({ links: { root: id('parent'), parent: links, waitsFor: [], longestWaitMs: hour } })
    expect(await backend.send([again])).toEqual([{ id: id('child of parent'), stored: false }])
    await bench.settle(...(await bench.claim(only('child of parent'))).map((lease) => bench.done(lease, { keep: true })))
    expect((await all()).get('parent')).toMatchObject({ state: 'succeeded' })
    expect(await treeCounts(store, 'flow')).toMatchObject({ total: 4 })
  })

  test('keeps schedules and what they have stored', async () => {
    const { store, backend, bench } = await opened()
    const [nightly, weekly] = await store.schedules.standings(['nightly', 'weekly'])
    expect([nightly!.name, nightly!.paused, weekly!.name, weekly!.paused]).toEqual(['nightly', false, 'weekly', true])
    expect(await store.schedules.occurrences({ schedule: 'nightly', upTo: filledAt + hour, limit: 10 })).toMatchObject([
      { at: filledAt - 60_000 + hour, outcome: null },
      { at: filledAt - 60_000, outcome: 'succeeded' },
    ])
    const twice = { schedule: 'nightly', at: filledAt - 60_000, envelope: bench.envelope({ job: 'nightly' }) }
    expect(await backend.store.schedules.enqueue([twice])).toEqual([false])
    await bench.clock.advance(hour)
    await bench.settle(...(await bench.claim(only('nightly'))).map((lease) => bench.done(lease)))
    const [latest] = await store.schedules.occurrences({ schedule: 'nightly', upTo: bench.clock.now(), limit: 1 })
    expect(latest).toMatchObject({ outcome: 'succeeded' })
  })

  test('keeps numbers, locks, paused queues and workers', async () => {
    const { store, coordination, all } = await opened()
    expect(await store.numbers!.find([42])).toEqual([(await all()).get('running')!.id])
    expect(await store.numbers!.reserve(1)).toBe(43)
    const other = { owner: 'program 2', host: 'host', pid: 8 }
    expect(await coordination.lock('leader', other, hour)).toMatchObject({ held: false, by: { owner: 'program 1', pid: 7 } })
    expect((await store.paused()).queues).toEqual(['stopped'])
    expect(await store.workers!.list()).toMatchObject([{ owner: 'worker-1', jobs: ['plain'] }])
  })

  test('is brought up to date by the statements of the plan as well', async () => {
    const path = oldFile()
    const { schema } = await openSqliteUpkeep(path)
    execute(path, await schema.plan())
    expect(await schema.state()).toEqual({ version: latest, compatibleFrom })
    const { bench, backend } = await opened(path)
    const [receipt] = await backend.send([bench.envelope({ job: 'unique', uniqueKey: 'ended' })])
    expect(receipt!.stored).toBe(false)
    expect(query(path, "SELECT name FROM treadle_mutexes WHERE name = 'unfinished'")).toEqual([])
  })

  test('is left alone without the right to migrate it, and is refused to programs of that time afterwards', async () => {
    const path = oldFile()
    const refused = openSqlite({ path, clock: new ManualClock(filledAt), logger: silent, migrate: false })
    await expect(refused).rejects.toMatchObject({ code: 'SCHEMA_OUTDATED' })
    expect(query(path, 'SELECT max(version) AS version FROM treadle_schema')).toEqual([{ version: 4 }])
    await opened(path)
    // A program that knows the schema up to 4 refuses a file that asks for more.
    expect(query(path, 'SELECT max(compatible_from) AS oldest FROM treadle_schema')).toEqual([{ oldest: compatibleFrom }])
    const { schema } = await openSqliteUpkeep(path)
    await expect(schema.migrate(4)).rejects.toThrow(/cannot be undone without loss/)
  })
})

test('SQLite has the tables and columns that the rules of the queue know', async () => {
  const { path } = await opened()
  // Servers add up entries now and then; here each count is kept as it is.
  const { totals, ...others } = tables
  expect(query(path, "SELECT name FROM pragma_table_info('treadle_totals')")).toEqual([])
  for (const [name, { columns }] of Object.entries(others)) {
    const found = query<{ name: string }>(path, `SELECT name FROM pragma_table_info('treadle_${name}')`).map((row) => row.name)
    // The numbers that servers count entries by are theirs.
    const wanted = Object.keys(columns).filter((column) => !(name === 'counts' && column === 'entry'))
    expect(found).toEqual(expect.arrayContaining(wanted))
  }
})
