import pg from 'pg'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { silentLogger } from '../../../src/core/logger.ts'
import { openPostgres } from '../../../src/engines/postgres/index.ts'
import type { PostgresOptions } from '../../../src/engines/postgres/options.ts'
import type { QueueBackend } from '../../../src/queue/contract/contract.ts'
import { Bench, times } from '../../../src/testing/conformance/bench.ts'
import { ManualClock } from '../../../src/testing/manual-clock.ts'
import { type FreshDatabase, freshDatabase } from '../../services.ts'
import { CountingPool } from './counting-pool.ts'
import { hasPgBouncer, type PgBouncer, startPgBouncer } from './pgbouncer.ts'

/** States are waited for, whatever they take. */
const patience = { timeout: 30_000, interval: 20 }

describe('a worker on PostgreSQL', () => {
  let database: FreshDatabase
  let admin: pg.Client
  let opened: AsyncDisposable[]
  const clock = new ManualClock()

  beforeAll(async () => {
    database = await freshDatabase('postgres')
    admin = new pg.Client({ connectionString: database.url })
    await admin.connect()
  })
  afterAll(async () => {
    await admin.end()
    await database.dispose()
  })
  beforeEach(() => {
    opened = []
  })
  afterEach(async () => {
    for (const each of opened.reverse()) await each[Symbol.asyncDispose]()
  })

  test('is woken by what another program sends, and listens only while it watches', async () => {
    const [worker, sender] = [await open(), await open()]
    expect(await listening()).toBe(0)
    const wakes = watch(worker)
    expect(wakes.isPush).toBe(false)
    await expect.poll(() => wakes.isPush, patience).toBe(true)
    expect(await listening()).toBe(1)
    wakes.count = 0
    await sender.sendOne()
    await expect.poll(() => wakes.count, patience).toBe(1)
    wakes.close()
    await expect.poll(listening, patience).toBe(0)
  })

  test('is woken by its own program at once and not a second time by the server', async () => {
    const program = await open()
    const wakes = watch(program)
    const others = watch(await open())
    await expect.poll(() => wakes.isPush && others.isPush, patience).toBe(true)
    wakes.count = 0
    others.count = 0
    await program.sendOne()
    await Promise.resolve()
    expect(wakes.count).toBe(1)
    await expect.poll(() => others.count, patience).toBe(1)
    expect(wakes.count).toBe(1)
  })

  test('is told once of many sends', async () => {
    const [program, other] = [await open(), await open()]
    const wakes = watch(other)
    await expect.poll(() => wakes.isPush, patience).toBe(true)
    let words = 0
    await admin.query('LISTEN treadle_treadle')
    admin.on('notification', () => words++)
    await Promise.all(times(200, () => program.sendOne()))
    // The word may reach one of those who listen before the other.
    await expect.poll(() => words, patience).toBeGreaterThan(0)
    await expect.poll(() => wakes.count, patience).toBeGreaterThan(0)
    await admin.query('UNLISTEN treadle_treadle')
    expect(words).toBeLessThan(100)
  })

  describe('that another program tells of what it sends', () => {
    let pool: CountingPool
    let sender: Bench
    let wakes: Wakes
    beforeEach(async () => {
      pool = new CountingPool({ connectionString: database.url })
      opened.push({ [Symbol.asyncDispose]: () => pool.end() })
      sender = await openWith({ pool })
      // It knows what jobs there are without having sent one, and so without having said anything.
      await (await open()).sendOne()
      await sender.claim()
      wakes = watch(await open())
      await expect.poll(() => wakes.isPush, patience).toBe(true)
      wakes.count = 0
    })

    test('hears it from the statement that stores it', async () => {
      const statements = await pool.statementsOf(async () => {
        await sender.sendOne()
        await expect.poll(() => wakes.count, patience).toBe(1)
      })
      expect(statements).toBe(1)
    })

    test('hears it afterwards where somebody else is committing such a statement, and nobody waits for that', async () => {
      await admin.query('BEGIN')
      await admin.query("SELECT pg_advisory_xact_lock(hashtext('treadle words'))")
      const statements = await pool.statementsOf(async () => {
        await sender.sendOne()
        await expect.poll(() => wakes.count, patience).toBe(1)
      })
      await admin.query('ROLLBACK')
      expect(statements).toBe(2)
    })
  })

  test('gets the jobs of a program that may not notify anybody', async () => {
    await open()
    const login = 'treadle_mute'
    const tables = 'ALL TABLES IN SCHEMA treadle'
    await admin.query(`CREATE ROLE ${login} LOGIN; REVOKE EXECUTE ON FUNCTION pg_notify(text, text) FROM PUBLIC;
      GRANT USAGE ON SCHEMA treadle TO ${login}; GRANT SELECT, INSERT, UPDATE, DELETE ON ${tables} TO ${login}`)
    try {
      const pool = new CountingPool({ connectionString: database.url.replace(/\/\/[^@]*@/, `//${login}@`) })
      const mute = await openWith({ pool })
      const ids = [await mute.sendOne()]
      const most = 6
      const statements = await pool.statementsOf(async () => {
        await expect.poll(async () => ids.push(await mute.sendOne()), patience).toBe(most)
      })
      // One stores a job, one fails to tell of it and one asks why: that the first two cannot be one is known by then.
      expect(statements).toBeLessThanOrEqual(3 * (most - 1))
      for (const id of ids) expect(await mute.record(id)).toMatchObject({ state: 'ready' })
      await mute.backend[Symbol.asyncDispose]()
      await pool.end()
    } finally {
      await admin.query(`GRANT EXECUTE ON FUNCTION pg_notify(text, text) TO PUBLIC; DROP OWNED BY ${login}; DROP ROLE ${login}`)
    }
  })

  test('listens again after its connection was cut, and looks once because something may have been missed', async () => {
    const [worker, sender] = [await open(), await open()]
    const wakes = watch(worker)
    await expect.poll(() => wakes.isPush, patience).toBe(true)
    wakes.count = 0
    await admin.query(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE ${ofListeners}`, [database.name])
    await expect.poll(() => wakes.isPush, patience).toBe(false)
    await expect.poll(() => wakes.isPush, patience).toBe(true)
    expect(wakes.count).toBe(1)
    await sender.sendOne()
    await expect.poll(() => wakes.count, patience).toBe(2)
    expect(await listening()).toBe(1)
  })

  test.each([{ notify: false }, { url: '?notify=false' }])('only looks now and then with %o, and nobody listens', async (how) => {
    const options = 'url' in how ? { url: `${database.url}${how.url}` } : how
    const [worker, sender] = [await open(options), await open(options)]
    const wakes = watch(worker)
    await sender.sendOne()
    expect(await listening()).toBe(0)
    expect(wakes).toMatchObject({ isPush: false, count: 0 })
    await worker.sendOne()
    expect(wakes.count).toBe(1)
  })

  test('with a pool of the program is woken where it is said where to listen', async () => {
    const pool = new pg.Pool({ connectionString: database.url })
    opened.push({ [Symbol.asyncDispose]: () => pool.end() })
    const own = { pool: pool as never }
    const silent = watch(await openWith(own))
    const wakes = watch(await openWith({ ...own, listenUrl: database.url }))
    await expect.poll(() => wakes.isPush, patience).toBe(true)
    expect(silent.isPush).toBe(false)
  })

  describe('behind PgBouncer, which has a connection for each transaction only', { skip: !hasPgBouncer }, () => {
    let pooler: PgBouncer
    beforeEach(async () => {
      await open()
      pooler = await startPgBouncer(database.url, 3)
      opened.push(pooler)
    })

    test('finds out that nothing arrives, says so once, and works all the same', async () => {
      const said: string[] = []
      const logger = { ...silentLogger, warn: (message: string) => said.push(message) }
      const queue = await open({ url: pooler.url, logger })
      const wakes = watch(queue)
      await expect.poll(() => said, patience).toEqual([expect.stringMatching(/NOTIFY does not arrive.*listenUrl.*notify: false/)])
      expect(wakes.isPush).toBe(false)
      await workOff(queue)
      expect(said).toHaveLength(1)
    })

    test('is woken where the server itself can be listened to', async () => {
      const queue = await open({ url: `${pooler.url}?listenUrl=${encodeURIComponent(database.url)}` })
      const wakes = watch(queue)
      await expect.poll(() => wakes.isPush, patience).toBe(true)
      wakes.count = 0
      await (await open()).sendOne()
      await expect.poll(() => wakes.count, patience).toBe(1)
    })

    test.each([undefined, true, false])('works with prepare: %s, and changes no settings for others', async (prepare) => {
      const queues = [await open({ url: pooler.url, notify: false, ...(prepare !== undefined && { prepare }) })]
      queues.push(await open({ url: `${pooler.url}?prepare=${prepare ?? true}`, notify: false }))
      await Promise.all(queues.map(workOff))
      const client = new pg.Client({ connectionString: pooler.url })
      await client.connect()
      const settings = await Promise.all(times(6, () => client.query('SHOW enable_seqscan')))
      expect(new Set(settings.map(({ rows }) => rows[0].enable_seqscan))).toEqual(new Set(['on']))
      await client.end()
    })
  })

  /** Sends, claims and settles, several at once, until nothing is left. */
  async function workOff(queue: Bench): Promise<void> {
    const names = times(3, () => queue.newId())
    const jobs = names.map((job, n) => ({ job, concurrency: n === 1 ? 50 : null }))
    for (let round = 0; round < 5; round++) {
      await Promise.all(
        times(6, (n) => queue.sendOne({ job: names[n % 3] as string, uniqueKey: n % 2 === 0 ? queue.newId() : null })),
      )
      const claims = await Promise.all(times(3, () => queue.claim({ jobs })))
      const done = claims.flat().map(({ token }) => ({ token, kind: 'done', result: null, keep: true }) as const)
      await queue.settle(...done)
    }
    await queue.assertNothingClaimable({ jobs })
  }

  interface Wakes {
    count: number
    readonly isPush: boolean
    close(): void
  }

  function watch({ backend }: { readonly backend: QueueBackend }): Wakes {
    const found = { count: 0 }
    const seen = backend.watch(() => found.count++)
    return {
      get count() {
        return found.count
      },
      set count(count) {
        found.count = count
      },
      get isPush() {
        return seen.isPush
      },
      close: () => seen.close(),
    }
  }

  function open(options: PostgresOptions = {}): Promise<Bench> {
    return openWith({ url: database.url, ...options })
  }

  async function openWith(options: PostgresOptions): Promise<Bench> {
    const backend = await openPostgres({ clock, logger: silentLogger, ...options })
    opened.push(backend)
    return new Bench(backend, clock)
  }

  async function listening(): Promise<number> {
    const { rowCount } = await admin.query(`SELECT 1 FROM pg_stat_activity WHERE ${ofListeners}`, [database.name])
    return rowCount ?? 0
  }
})

const ofListeners = "datname = $1 AND application_name = 'treadle listening'"
