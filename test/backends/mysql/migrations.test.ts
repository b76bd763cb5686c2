import { createConnection } from 'mysql2/promise'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { messageOf } from '../../../src/core/errors.ts'
import { mysqlDatabase } from '../../../src/engines/mysql/connections/database.ts'
import { poolMaker } from '../../../src/engines/mysql/connections/driver.ts'
import { lookAtServer } from '../../../src/engines/mysql/connections/server.ts'
import { openMysql, openMysqlUpkeep } from '../../../src/engines/mysql/index.ts'
import type { MysqlOptions } from '../../../src/engines/mysql/options.ts'
import { mysqlMigrations } from '../../../src/engines/mysql/schema/migrations.ts'
import { mysqlSchemaEngine } from '../../../src/engines/mysql/schema/schema-engine.ts'
import { MysqlStatements, mysqlNames } from '../../../src/engines/mysql/statements/statements.ts'
import { tables } from '../../../src/engines/sql/rows/tables.ts'
import { Migrating } from '../../../src/engines/sql/upkeep/migrating.ts'
import type { JobFilter } from '../../../src/queue/contract/store.ts'
import type { Migration } from '../../../src/queue/upkeep/migration.ts'
import { Bench, unlimited } from '../../../src/testing/conformance/bench.ts'
import { ManualClock } from '../../../src/testing/manual-clock.ts'
import { type FreshDatabase, freshDatabase } from '../../services.ts'
import { mysqlEngines } from './ground.ts'

/** What programs must know to work with the newest one. */
const compatibleFrom = Math.max(...mysqlMigrations('').map((each) => each.compatibleFrom))
const applied = mysqlMigrations('').map(({ compatibleFrom }, index) => ({ version: index + 1, compatible_from: compatibleFrom }))
const latest = applied.length

describe.each(mysqlEngines)('the schema of a database in %s', (server) => {
  let database: FreshDatabase
  let admin: Awaited<ReturnType<typeof createConnection>>
  const opened: AsyncDisposable[] = []

  beforeAll(async () => {
    database = await freshDatabase(server)
    admin = await createConnection({ uri: database.url, multipleStatements: true })
  })
  afterAll(async () => {
    await admin.end()
    await database.dispose()
  })
  beforeEach(async () => {
    await admin.query('DROP VIEW IF EXISTS treadle_job_view')
    for (const name of await tableNames()) await admin.query(`DROP TABLE ${name}`)
  })
  afterEach(async () => {
    for (const each of opened.splice(0)) await each[Symbol.asyncDispose]()
  })

  test('is made where there is none, and left as it is where it is there', async () => {
    await (await open()).sendOne()
    const before = await versions()
    expect(before).toEqual(applied.map((version) => ({ ...version, applied_at: expect.any(Number) })))
    expect(await (await open()).claimedIds()).toHaveLength(1)
    expect(await versions()).toEqual(before)
    expect(await tableNames()).toEqual([...Object.keys(tables), 'migrations'].map((name) => `treadle_${name}`).sort())
  })

  test('is made once by programs that open it at the same moment', async () => {
    for (let round = 0; round < 3; round++) {
      const programs = await Promise.all([1, 2, 3, 4].map(() => open({ prefix: `round_${round}_` })))
      await Promise.all(programs.map((program) => program.sendOne()))
      expect(await versions(`round_${round}_`)).toHaveLength(latest)
      expect(await programs[0]?.claimedIds()).toHaveLength(4)
    }
  })

  test('is refused where it is missing and may not be made, and nothing is made', async () => {
    await expect(open({ migrate: false })).rejects.toMatchObject({ code: 'SCHEMA_OUTDATED' })
    expect(await tableNames()).toEqual([])
  })

  test('has a prefix of its own for each queue of a database, by an option or by the URL', async () => {
    const [one, other] = [await open({ prefix: 'one_' }), await open({ url: `${database.url}?prefix=other_` })]
    await one.sendOne()
    expect(await other.claimedIds()).toEqual([])
    expect(await one.claimedIds()).toHaveLength(1)
    await expect(open({ prefix: 'a`b' })).rejects.toMatchObject({ code: 'CONFIG_INVALID' })
  })

  const addColumn = ['ALTER TABLE {jobs} ADD COLUMN colour INT', 'UPDATE {jobs} SET colour = 7']
  const next: Migration = { up: addColumn, down: ['ALTER TABLE {jobs} DROP COLUMN colour'], compatibleFrom: 1 }

  test('of the next version lets the workers of this one go on where it says so', async () => {
    const old = await open()
    await (await migratingWith(next)).migrate()
    expect(await versions()).toMatchObject([...applied, { version: latest + 1, compatible_from: 1 }])
    await old.sendOne()
    await (await open({ migrate: false })).sendOne()
    expect(await old.claimedIds()).toHaveLength(2)
  })

  test('of the next version is refused where this one cannot work with it', async () => {
    await (await migratingWith({ ...next, compatibleFrom: latest + 1 })).migrate()
    await expect(open()).rejects.toMatchObject({ code: 'SCHEMA_TOO_NEW' })
  })

  test('of the next version is finished by the next try where the first one failed half way, and undone', async () => {
    await (await open()).sendOne()
    const broken = await migratingWith({ ...next, up: [...addColumn, 'SELECT no_such_column FROM {jobs}'] })
    await expect(broken.migrate()).rejects.toThrow(/no_such_column/)
    expect(await versions()).toHaveLength(latest)
    const migrating = await migratingWith(next)
    expect(await migrating.migrate()).toEqual({ version: latest + 1, compatibleFrom })
    expect((await admin.query('SELECT colour FROM treadle_jobs'))[0]).toEqual([{ colour: 7 }])
    expect(await migrating.migrate(latest)).toEqual({ version: latest, compatibleFrom })
    await expect(admin.query('SELECT colour FROM treadle_jobs')).rejects.toThrow(/Unknown column/)
    expect(await (await open({ migrate: false })).claimedIds()).toHaveLength(1)
  })

  test('of the first version is brought up to date with the jobs in it, also where that failed half way', async () => {
    const id = await (await open()).sendOne()
    const { schema } = await upkeep()
    expect(await schema.migrate(1)).toEqual({ version: 1, compatibleFrom: 1 })
    await expect(admin.query('SELECT number FROM treadle_jobs')).rejects.toThrow(/Unknown column/)
    await admin.query('ALTER TABLE treadle_jobs ADD COLUMN number BIGINT')
    const program = await open()
    expect(await program.store.numbers!.assign([id])).toEqual([1])
    expect(await program.claimedIds()).toEqual([id])
  })

  test('of version 7 gets statistics and a view with the jobs that are in it, and goes back', async () => {
    const program = await open()
    const { schema } = await upkeep()
    await schema.migrate(7)
    const id = await program.sendOne({ job: 'send', queue: 'mail' })
    const next = await open()
    expect(await schema.state()).toEqual({ version: latest, compatibleFrom })
    const [rows] = await admin.query('SELECT id, job, queue, state FROM treadle_job_view')
    expect(rows).toEqual([{ id, job: 'send', queue: 'mail', state: 'ready' }])
    await next.rollups.add([{ queue: 'mail', job: 'send', succeeded: 1, retried: 0, dead: 0, other: 0, wait: [1], run: [1] }])
    expect(await next.rollups.read(0)).toHaveLength(1)
    expect(await program.store.get(id)).toMatchObject({ state: 'ready' })
    expect(await schema.migrate(7)).toMatchObject({ version: 7 })
    await expect(admin.query('SELECT id FROM treadle_job_view')).rejects.toThrow(/doesn't exist/)
  })

  test('of version 9 lists the jobs that were stored and ended in it by name and group, also where that failed half way', async () => {
    const program = await open()
    const { schema } = await upkeep()
    expect(await schema.migrate(9)).toMatchObject({ version: 9 })
    const [one, , three] = await program.send({ job: 'send' }, { job: 'other' }, { job: 'send', group: 'acme' })
    const leases = await program.claim({ jobs: unlimited('send', 'other') })
    await program.settle(...leases.map((lease) => program.done(lease, { keep: true })))
    const next = await open()
    expect(await schema.state()).toEqual({ version: latest, compatibleFrom })
    const listed = async (filter: Omit<JobFilter, 'limit'>) =>
      (await next.store.list({ ...filter, limit: 9 })).map(({ id }) => id)
    expect(await listed({ job: 'send', state: 'succeeded' })).toEqual([three, one])
    expect(await listed({ group: 'acme' })).toEqual([three])
    expect(await schema.migrate(9)).toMatchObject({ version: 9 })
    // As if the server had been stopped between the two statements.
    await admin.query((await schema.plan()).split('\n').filter((line) => line.includes('ADD COLUMN listed_place'))[0] ?? '')
    expect(await schema.migrate()).toMatchObject({ version: latest })
    expect(await listed({ job: 'send', group: 'acme' })).toEqual([three])
  })

  test('is made without the view by a user who may make tables and no views', async () => {
    const login = `v_${database.name.slice(-12)}`
    const url = database.url.replace(/\/\/[^@]*@/, `//${login}:secret@`)
    const rights = 'SELECT, INSERT, UPDATE, DELETE, CREATE, ALTER, INDEX, DROP'
    await admin.query(
      `CREATE USER '${login}'@'%' IDENTIFIED BY 'secret'; GRANT ${rights} ON ${database.name}.* TO '${login}'@'%'`,
    )
    try {
      const program = await open({ url })
      await program.sendOne()
      expect(await versions()).toHaveLength(latest)
      await expect(admin.query('SELECT id FROM treadle_job_view')).rejects.toThrow(/doesn't exist/)
    } finally {
      await admin.query(`DROP USER '${login}'@'%'`)
    }
  })

  test('as a plan is what a program would run, can be run by hand, and goes back', async () => {
    const { schema } = await upkeep()
    const plan = await schema.plan()
    expect(await tableNames()).toEqual([])
    expect(plan).toMatch(/INSERT INTO treadle_migrations .*\nSELECT RELEASE_LOCK.*;$/)
    await admin.query(plan)
    expect(await schema.plan()).toBe('')
    const byHand = await open({ migrate: false })
    await byHand.sendOne()
    expect(await byHand.claimedIds()).toHaveLength(1)
    await admin.query(await schema.plan(0))
    expect(await tableNames()).toEqual(['treadle_migrations'])
  })

  test('without the right to make it is refused with the statement that gives the right', async () => {
    const login = `u_${database.name.slice(-12)}`
    const url = database.url.replace(/\/\/[^@]*@/, `//${login}:secret@`)
    await admin.query(`CREATE USER '${login}'@'%' IDENTIFIED BY 'secret'; GRANT SELECT ON ${database.name}.* TO '${login}'@'%'`)
    try {
      const refused = open({ url })
      await expect(refused).rejects.toMatchObject({ code: 'DATABASE_DENIED' })
      const message = await refused.then(String, messageOf)
      const [, grant = ''] = /can run: (GRANT .*;)/.exec(message) ?? []
      await admin.query(grant)
      await (await open({ url })).sendOne()
    } finally {
      await admin.query(`DROP USER '${login}'@'%'`)
    }
  })

  async function open(options: MysqlOptions = {}): Promise<Bench> {
    const clock = new ManualClock()
    const backend = await openMysql({ url: database.url, clock, ...options })
    opened.push(backend)
    return new Bench(backend, clock)
  }

  async function upkeep() {
    const found = await openMysqlUpkeep({ url: database.url })
    opened.push(found)
    return found
  }

  /** As a later version of the package would do it. */
  async function migratingWith(...more: readonly Migration[]): Promise<Migrating> {
    const remake = await poolMaker({ url: database.url, connections: 5, queryTimeoutMs: 10_000 })
    const pool = remake()
    const { exactCollation, ...limits } = await lookAtServer(pool, 30_000)
    const names = mysqlNames('treadle_')
    const statements = new MysqlStatements(names, exactCollation)
    const later = mysqlDatabase({ pool, remake, statements, ...limits, longestMs: 30_000 })
    opened.push(later)
    const migrations = [...mysqlMigrations(exactCollation), ...more]
    return new Migrating(later, mysqlSchemaEngine(later, 'treadle_', migrations), names)
  }

  async function versions(prefix = 'treadle_') {
    return (await admin.query(`SELECT * FROM ${prefix}migrations ORDER BY version`))[0]
  }

  async function tableNames(): Promise<readonly string[]> {
    const [rows] = await admin.query(
      "SELECT table_name AS name FROM information_schema.tables WHERE table_schema = DATABASE() AND table_type = 'BASE TABLE'",
    )
    return (rows as unknown as readonly { name: string }[]).map(({ name }) => name).sort()
  }
})
