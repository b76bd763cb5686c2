import { BetterSQLiteSession } from 'drizzle-orm/better-sqlite3/session'
import { BaseSQLiteDatabase, SQLiteSyncDialect } from 'drizzle-orm/sqlite-core'
import { type SqliteConnection, type Treadle, treadle } from 'treadle'
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest'
import { z } from 'zod'
import { connect, faultsOf, lookWith, query, rowsIn, scratchFolder } from '../processes/database.ts'
import { eventually } from '../processes/program.ts'
import { BetterSqlite, clients, type OpenFile } from './sqlite-clients.ts'

const folder = scratchFolder()
const closing: (() => unknown)[] = []
let files = 0

afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close()
})
afterAll(() => folder.remove())

describe.each(clients)('a transaction of %s on the file of the queue', (sqliteDriver, Driver) => {
  beforeAll(() => lookWith(Driver))

  async function shop() {
    const path = folder.file(`${++files}.db`)
    const jobs = treadle(`sqlite:${path}`, { sqliteDriver })
    await jobs.open()
    const db = new Driver(path)
    closing.push(
      () => jobs.close(),
      () => db.close(),
    )
    db.exec('CREATE TABLE orders (id INTEGER)')
    const mail = jobs.define('mail', async (n: number) => n)
    return { path, jobs, db, mail, begin: () => db.exec('BEGIN IMMEDIATE') }
  }

  async function readyOf(jobs: Treadle): Promise<number> {
    return (await (await jobs.store()).counts()).reduce((sum, { counts }) => sum + counts.ready, 0)
  }

  it('holds a dispatched job until it is committed, and then it is there', async () => {
    const { path, jobs, db, mail, begin } = await shop()
    begin()
    db.exec('INSERT INTO orders VALUES (1)')
    const run = mail.in(db).dispatch(1)
    expect([run.created, rowsIn(path)]).toEqual([true, 0])
    await expect(run.state()).rejects.toMatchObject({ code: 'RUN_NOT_FOUND' })
    db.exec('COMMIT')
    expect(await run.state()).toBe('ready')
    await jobs.run()
    expect(await run.result()).toBe(1)
    expect(faultsOf(path)).toEqual([])
  })

  it('leaves nothing when it is rolled back: no job, no lane, no count, and a free key', async () => {
    const { path, jobs, db, mail, begin } = await shop()
    begin()
    mail.in(db).dispatchMany([1, 2, 3])
    mail.in(db).dispatch(4, { unique: 'k', queue: 'another', group: 'tenant' })
    db.exec('ROLLBACK')
    expect(query(path, 'SELECT * FROM treadle_lanes')).toEqual([])
    expect(await readyOf(jobs)).toBe(0)
    const again = await mail.dispatch(4, { unique: 'k', queue: 'another', group: 'tenant' })
    expect(again.created).toBe(true)
    begin()
    mail.in(db).dispatch(5)
    db.exec('COMMIT')
    expect(await readyOf(jobs)).toBe(2)
    expect(faultsOf(path)).toEqual([])
  })

  it('holds whole workflows, which are there at the commit and never were after a rollback', async () => {
    const { path, jobs, db, mail, begin } = await shop()
    const dispatchAll = () => {
      const flows = jobs.in(db)
      const chain = flows.chain([mail.step(1), mail.step(2)])
      const batch = flows.batch([mail.step(3), mail.step(4)], { onComplete: mail.step(5) })
      const build = flows.workflow()
      build.add(mail.step(7), { after: build.add(mail.step(6)) })
      return { chain, batch, built: build.dispatch() }
    }
    begin()
    dispatchAll()
    db.exec('ROLLBACK')
    expect(rowsIn(path)).toBe(0)
    begin()
    const { chain, batch, built } = dispatchAll()
    expect(rowsIn(path)).toBe(0)
    db.exec('COMMIT')
    expect(rowsIn(path)).toBe(7)
    await jobs.run()
    expect([await chain.result(), await batch.result(), await built.result()]).toEqual([2, [3, 4], 7])
    expect(faultsOf(path)).toEqual([])
  })

  it('holds workflows that name it in their options', async () => {
    const { path, jobs, db, mail, begin } = await shop()
    begin()
    await jobs.chain([mail.step(1), mail.step(2)], { in: db })
    await jobs.batch([mail.step(1)], { in: db })
    db.exec('ROLLBACK')
    expect(rowsIn(path)).toBe(0)
  })

  it('passes each job through the middleware around dispatches, which may wait once it has called next()', async () => {
    const { jobs, db, mail, begin } = await shop()
    const seen: string[] = []
    jobs.use({
      dispatch: async ({ payload, options }, next) => {
        const run = await next({ payload: Number(payload) * 10, options: { ...options, meta: { was: payload as number } } })
        seen.push(await run.state())
        return run
      },
    })
    begin()
    const runs = [...mail.in(db).dispatchMany([1, 2]), ...jobs.in(db).chain([mail.step(3), mail.step(4)]).runs]
    db.exec('COMMIT')
    await vi.waitUntil(() => seen.length === 4, { timeout: 20_000 })
    expect(seen).toEqual(['ready', 'ready', 'ready', 'blocked'])
    const store = await jobs.store()
    const records = await Promise.all(runs.map(({ id }) => store.get(id)))
    expect(records.map((record) => [record?.payload, record?.meta])).toEqual([1, 2, 3, 4].map((n) => [`${n}0`, { was: n }]))
  })

  it('refuses middleware that waits before it calls next(), and stores nothing', async () => {
    const { path, jobs, db, mail, begin } = await shop()
    jobs.use({
      dispatch: async (_, next) => {
        await Promise.resolve()
        return next()
      },
    })
    begin()
    expect(() => mail.in(db).dispatch(1)).toThrow('did not call next() at once')
    db.exec('COMMIT')
    expect(rowsIn(path)).toBe(0)
  })

  it('keeps what was dispatched before a part of it is rolled back', async () => {
    const { path, jobs, db, mail, begin } = await shop()
    begin()
    mail.in(db).dispatch(1)
    db.exec('SAVEPOINT part')
    mail.in(db).dispatch(2, { queue: 'another' })
    db.exec('ROLLBACK TO part')
    mail.in(db).dispatch(3, { queue: 'another' })
    db.exec('COMMIT')
    expect(await readyOf(jobs)).toBe(2)
    expect(faultsOf(path)).toEqual([])
  })

  it('finds who holds a unique key, also where that is in the same transaction', async () => {
    const { db, mail, begin } = await shop()
    const first = await mail.dispatch(1, { unique: 'k' })
    begin()
    const second = mail.in(db).dispatch(2, { unique: 'k' })
    const third = mail.in(db).dispatch(3, { unique: 'other' })
    const fourth = mail.in(db).dispatch(4, { unique: 'other' })
    db.exec('COMMIT')
    expect([second.created, second.id]).toEqual([false, first.id])
    expect([fourth.created, fourth.id]).toEqual([false, third.id])
  })

  it('changes the job that holds the key, or merges with it, and a rollback takes that back', async () => {
    const { jobs, db, begin } = await shop()
    const merging = jobs.define('merging', async (payload: Record<string, number>) => payload)
    const unique = { key: 'k', onConflict: 'merge' } as const
    const first = await merging.dispatch({ a: 1 }, { unique })
    const payload = async () => (await (await jobs.store()).get(first.id))?.payload
    begin()
    merging.in(db).dispatch({ b: 2 }, { unique })
    db.exec('ROLLBACK')
    expect(await payload()).toBe('{"a":1}')
    begin()
    const second = merging.in(db).dispatch({ c: 3 }, { unique })
    db.exec('COMMIT')
    expect([second.created, second.id]).toEqual([false, first.id])
    expect(await payload()).toBe('{"a":1,"c":3}')
  })

  it('throttles and debounces', async () => {
    const { jobs, db, mail, begin } = await shop()
    begin()
    const throttled = [1, 2].map((n) => mail.in(db).dispatch(n, { throttle: { key: 'a', time: '1h' } }))
    const debounced = [1, 2].map((n) => mail.in(db).dispatch(n, { debounce: { key: 'b', time: '1h' } }))
    db.exec('COMMIT')
    expect([...throttled, ...debounced].map(({ created }) => created)).toEqual([true, false, true, false])
    expect(await (await jobs.store()).get(debounced[0]?.id as string)).toMatchObject({ payload: '2', state: 'scheduled' })
  })

  it('holds jobs that wait for others', async () => {
    const { path, jobs, db, mail, begin } = await shop()
    begin()
    const first = mail.in(db).dispatch(1)
    const second = mail.in(db).delay('1h').dispatch(2, { dependsOn: first })
    db.exec('COMMIT')
    expect(await second.state()).toBe('blocked')
    await jobs.run()
    expect([await first.state(), await second.state()]).toEqual(['succeeded', 'scheduled'])
    expect(faultsOf(path)).toEqual([])
  })

  it('wakes a worker that sleeps, after the commit', async () => {
    const { jobs, db, mail, begin } = await shop()
    const working = jobs.work({ poll: '1h', signals: false })
    await eventually('the worker sleeps', async () => (await jobs.workerState()) !== null)
    begin()
    const run = mail.in(db).dispatch(1)
    await new Promise((resolve) => setImmediate(resolve))
    db.exec('COMMIT')
    expect(await run.result({ timeout: '30s' })).toBe(1)
    await jobs.stop()
    await working
  })

  it('takes the words of a dispatch by name', async () => {
    const { jobs, db, begin } = await shop()
    begin()
    const one = await jobs.dispatch('mail', 1, { in: db })
    const many = await jobs.dispatchMany('mail', [2, 3], { in: db })
    const late = await jobs.args(4).delay('1h').dispatch('mail', { in: db })
    db.exec('ROLLBACK')
    for (const run of [one, ...many, late]) await expect(run.state()).rejects.toMatchObject({ code: 'RUN_NOT_FOUND' })
  })

  it('stores nothing of a dispatch that is refused, and can go on', async () => {
    const { jobs, db, mail, begin } = await shop()
    begin()
    expect(() => mail.in(db).dispatchMany([1, (() => {}) as never])).toThrow(/payload of "mail"/)
    expect(() => mail.in(db).dispatch(1, { queue: '' })).toThrow(/queue/)
    mail.in(db).dispatch(2)
    db.exec('COMMIT')
    expect(await readyOf(jobs)).toBe(1)
  })

  it('checks payloads by schemas that take no time, and refuses those that do', async () => {
    const { jobs, db, begin } = await shop()
    const quick = jobs.define('quick', { input: z.object({ n: z.number() }) }, async () => {})
    const slow = jobs.define('slow', { input: z.number().refine(async () => true) }, async () => {})
    begin()
    expect(() => quick.in(db).dispatch({ n: 'no' as never })).toThrow(/does not fit its schema/)
    expect(quick.in(db).dispatch({ n: 1 }).created).toBe(true)
    expect(() => slow.in(db).dispatch(1)).toThrow(/its schema must be synchronous/)
    db.exec('COMMIT')
    expect(await readyOf(jobs)).toBe(1)
  })

  it('must have begun', async () => {
    const { path, db, mail } = await shop()
    expect(() => mail.in(db).dispatch(1)).toThrow(/is in no transaction/)
    expect(rowsIn(path)).toBe(0)
  })

  it('must be one on the same file', async () => {
    const { mail } = await shop()
    const { db, begin } = await shop()
    begin()
    expect(() => mail.in(db).dispatch(1)).toThrow(/The transaction is one of .*\.db, and the queue is in .*\.db/)
    const memory = new Driver(':memory:')
    closing.push(() => memory.close())
    memory.exec('BEGIN')
    expect(() => mail.in(memory).dispatch(1)).toThrow(/The transaction is one of a database in memory/)
  })

  it('that has read before others wrote is told to begin with the lock', async () => {
    const { db, mail } = await shop()
    db.exec('BEGIN')
    db.prepare('SELECT * FROM orders').all()
    await mail.dispatch(1)
    expect(() => mail.in(db).dispatch(2)).toThrow(/begin it with BEGIN IMMEDIATE/)
    db.exec('ROLLBACK')
  })

  it('can be used by many jobs, one after the other', async () => {
    const { path, jobs, db, mail, begin } = await shop()
    for (let round = 0; round < 20; round++) {
      begin()
      mail.in(db).dispatchMany(Array.from({ length: 60 }, (_, n) => n))
      mail.in(db).dispatch(round, { group: `group ${round}`, priority: round % 3 })
      db.exec(round % 2 === 0 ? 'COMMIT' : 'ROLLBACK')
    }
    expect(await readyOf(jobs)).toBe(610)
    expect((await jobs.run({ concurrency: 50 })).succeeded).toBe(610)
    expect(faultsOf(path)).toEqual([])
  })
})

describe('a transaction of Drizzle on a SQLite file', () => {
  /** As `drizzle(client)` of drizzle-orm/better-sqlite3 does, which imports the driver by its name. */
  function drizzleOn(client: OpenFile) {
    const dialect = new SQLiteSyncDialect()
    const session = new BetterSQLiteSession(client as never, dialect, undefined)
    return Object.assign(new BaseSQLiteDatabase('sync', dialect, session as never, undefined), { $client: client })
  }

  it('is joined through the file that Drizzle uses, and a rollback leaves nothing', async () => {
    const path = folder.file(`${++files}.db`)
    const jobs = treadle(`sqlite:${path}`)
    await jobs.open()
    const client = new BetterSqlite(path)
    closing.push(
      () => jobs.close(),
      () => client.close(),
    )
    const db = drizzleOn(client)
    const mail = jobs.define('mail', async (n: number) => n)
    const place = (n: number, isPaid: boolean) =>
      db.transaction(
        (tx) => {
          expect(() => mail.in(tx as never).dispatch(n)).toThrow(/pass the open file, which is db\.\$client/)
          mail.in(db.$client).dispatch(n)
          if (!isPaid) tx.rollback()
        },
        { behavior: 'immediate' },
      )
    place(1, true)
    expect(() => place(2, false)).toThrow('Rollback')
    expect(await jobs.run()).toMatchObject({ succeeded: 1 })
  })
})

describe('a transaction on a SQLite file', () => {
  it('needs a queue that is open', () => {
    const path = folder.file(`${++files}.db`)
    const jobs = treadle(`sqlite:${path}`)
    const db = connect(path) as SqliteConnection & ReturnType<typeof connect>
    closing.push(() => db.close())
    db.exec('BEGIN IMMEDIATE')
    const dispatch = () =>
      jobs
        .define('mail', async () => {})
        .in(db)
        .dispatch({})
    expect(dispatch).toThrow(/await jobs.open\(\) before it/)
  })
})
