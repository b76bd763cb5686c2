import pg from 'pg'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { postgresDatabase } from '../../../src/engines/postgres/connections/database.ts'
import { Preparing } from '../../../src/engines/postgres/connections/preparing.ts'
import { openPostgres, openPostgresUpkeep } from '../../../src/engines/postgres/index.ts'
import type { PostgresOptions } from '../../../src/engines/postgres/options.ts'
import { postgresMigrations } from '../../../src/engines/postgres/schema/migrations.ts'
import { postgresSchemaEngine } from '../../../src/engines/postgres/schema/schema-engine.ts'
import { PostgresStatements } from '../../../src/engines/postgres/statements.ts'
import { mostSingleLanes } from '../../../src/engines/sql/lanes/lane-numbers.ts'
import { TableNames } from '../../../src/engines/sql/rows/table-names.ts'
import { indexes, tables } from '../../../src/engines/sql/rows/tables.ts'
import { Migrating } from '../../../src/engines/sql/upkeep/migrating.ts'
import type { JobFilter } from '../../../src/queue/contract/store.ts'
import type { Migration } from '../../../src/queue/upkeep/migration.ts'
import { Bench, unlimited } from '../../../src/testing/conformance/bench.ts'
import { ManualClock } from '../../../src/testing/manual-clock.ts'
import { type FreshDatabase, freshDatabase } from '../../services.ts'

const latest = postgresMigrations.length
/** What programs must know to work with the newest one. */
const compatibleFrom = Math.max(...postgresMigrations.map((each) => each.compatibleFrom))
const applied = postgresMigrations.map(({ compatibleFrom }, index) => ({ version: index + 1, compatible_from: compatibleFrom }))

describe('the schema of a PostgreSQL database', () => {
  let database: FreshDatabase
  let admin: pg.Client
  const opened: AsyncDisposable[] = []

  beforeAll(async () => {
    database = await freshDatabase('postgres')
    admin = new pg.Client({ connectionString: database.url })
    await admin.connect()
  })
  afterAll(async () => {
    await admin.end()
    await database.dispose()
  })
  beforeEach(() => admin.query('DROP SCHEMA IF EXISTS treadle CASCADE'))
  afterEach(async () => {
    for (const each of opened.splice(0)) await each[Symbol.asyncDispose]()
  })

  test('J5: is made where there is none, and left as it is where it is there', async () => {
    const first = await open()
    await first.sendOne()
    const before = await versions()
    expect(before).toEqual(applied.map((version) => ({ ...version, applied_at: expect.stringMatching(/^\d{13}$/) })))
    const second = await open()
    expect(await second.claimedIds()).toHaveLength(1)
    expect(await versions()).toEqual(before)
    expect(await namesOf('table')).toEqual([...Object.keys(tables), 'migrations'].sort())
    const made = await namesOf('index')
    expect(indexes.filter(({ name }) => !made.includes(name))).toEqual([])
  })

  test('J5: is made once by programs that open it at the same moment', async () => {
    for (let round = 0; round < 5; round++) {
      const programs = await Promise.all([1, 2, 3, 4, 5, 6].map(() => open({ schema: `round_${round}` })))
      await Promise.all(programs.map((program) => program.sendOne()))
      expect(await versions(`round_${round}`)).toHaveLength(latest)
      expect(await programs[0]?.claimedIds()).toHaveLength(6)
    }
  })

  test('is refused where it is missing and may not be made, and nothing is made', async () => {
    const refused = open({ migrate: false })
    await expect(refused).rejects.toMatchObject({ code: 'SCHEMA_OUTDATED' })
    await expect(refused).rejects.toThrow(`version 0, this Treadle needs ${latest}. Run: npx treadle migrate`)
    expect(await namesOf('table')).toEqual([])
    expect((await admin.query("SELECT 1 FROM pg_namespace WHERE nspname = 'treadle'")).rowCount).toBe(0)
  })

  test('lives in a schema of its own for each queue of a database, by an option or by the URL', async () => {
    const [one, other] = [await open({ schema: 'one' }), await open({ url: `${database.url}?schema=other` })]
    await one.sendOne()
    expect(await other.claimedIds()).toEqual([])
    expect(await one.claimedIds()).toHaveLength(1)
    await expect(open({ schema: 'a.b' })).rejects.toMatchObject({ code: 'CONFIG_INVALID' })
    await expect(open({ url: `${database.url}?schema=A` })).rejects.toMatchObject({ code: 'CONFIG_INVALID' })
  })

  const addColumn = ['ALTER TABLE {jobs} ADD COLUMN colour text', "UPDATE {jobs} SET colour = 'none'"]
  const next: Migration = { up: addColumn, down: ['ALTER TABLE {jobs} DROP COLUMN colour'], compatibleFrom: 1 }

  describe('of the next version', () => {
    test('lets the workers of this one go on where it says so', async () => {
      const old = await open()
      await old.sendOne()
      await migratingWith(database.url, next).migrate()
      expect(await versions()).toMatchObject([...applied, { version: latest + 1, compatible_from: 1 }])
      await old.sendOne()
      for (const migrate of [true, false]) {
        const opensLater = await open({ migrate })
        await opensLater.sendOne()
      }
      expect(await old.claimedIds()).toHaveLength(4)
      await expect((await upkeep()).schema.migrate()).resolves.toMatchObject({ version: latest + 1 })
    })

    test('is refused where this one cannot work with it, and left as it is', async () => {
      const incompatible = { ...next, compatibleFrom: latest + 1 }
      await migratingWith(database.url, incompatible, { ...next, up: [], down: [] }).migrate()
      const refused = open()
      await expect(refused).rejects.toMatchObject({ code: 'SCHEMA_TOO_NEW' })
      await expect(refused).rejects.toThrow(new RegExp(`version ${latest + 2}.*knows up to ${latest}. Update the package`))
      await expect((await upkeep()).schema.migrate()).rejects.toMatchObject({ code: 'SCHEMA_TOO_NEW' })
      await expect((await upkeep()).schema.migrate(0)).rejects.toMatchObject({ code: 'SCHEMA_TOO_NEW' })
      expect(await versions()).toHaveLength(latest + 2)
    })

    test('is made from what is there, and undone', async () => {
      await (await open()).sendOne()
      const migrating = migratingWith(database.url, next)
      expect(await migrating.migrate()).toEqual({ version: latest + 1, compatibleFrom })
      expect((await admin.query('SELECT colour FROM treadle.jobs')).rows).toEqual([{ colour: 'none' }])
      expect(await migrating.migrate(latest)).toEqual({ version: latest, compatibleFrom })
      await expect(admin.query('SELECT colour FROM treadle.jobs')).rejects.toThrow(/does not exist/)
      expect(await (await open({ migrate: false })).claimedIds()).toHaveLength(1)
    })

    test('is not half there when a statement of it fails', async () => {
      await (await open()).sendOne()
      const broken = migratingWith(database.url, { ...next, up: [...addColumn, 'SELECT 1 / 0'] })
      await expect(broken.migrate()).rejects.toThrow(/division by zero/)
      expect(await versions()).toHaveLength(latest)
      await expect(admin.query('SELECT colour FROM treadle.jobs')).rejects.toThrow(/does not exist/)
    })

    test('that cannot be undone says so, and nothing is changed', async () => {
      const migrating = migratingWith(database.url, { ...next, down: null })
      await migrating.migrate()
      await expect(migrating.migrate(latest)).rejects.toThrow(`Schema version ${latest + 1} cannot be undone without loss`)
      await expect(migrating.migrate(latest + 2)).rejects.toThrow(`There is no schema version ${latest + 2}`)
      expect(await versions()).toHaveLength(latest + 1)
    })
  })

  test('of the first version is brought up to date with the jobs in it, and jobs without numbers stay without them', async () => {
    const program = await open()
    const id = await program.sendOne()
    const { schema } = await upkeep()
    expect(await schema.migrate(1)).toEqual({ version: 1, compatibleFrom: 1 })
    await expect(admin.query('SELECT number FROM treadle.jobs')).rejects.toThrow(/does not exist/)
    const next = await open()
    expect(await next.store.numbers!.assign([id])).toEqual([1])
    expect(await next.claimedIds()).toEqual([id])
    expect(await shapeOf()).toEqual(await freshShape())
  })

  test('of the third version is brought up to date with the jobs of hundreds of names in it, waiting, running and ended', async () => {
    const program = await open()
    const names = Array.from({ length: 300 }, (_, index) => `name-${index}`)
    await program.send(...names.map((job) => ({ job })), ...names.map((job) => ({ job, delayMs: 60_000 })))
    const [held, done] = await program.claim({ jobs: unlimited('name-298', 'name-299') })
    if (held === undefined || done === undefined) throw new Error('Two jobs should have been claimed')
    await program.settle(program.done(done, { keep: true }))
    const { schema } = await upkeep()
    expect(await schema.migrate(3)).toEqual({ version: 3, compatibleFrom: 1 })
    await numberLanesInOrder()
    const next = await open()
    const { rows } = await admin.query(
      'SELECT COUNT(*) FILTER (WHERE lane < 1073741824)::int AS single, COUNT(*)::int AS all FROM treadle.lanes',
    )
    expect(rows).toEqual([{ single: mostSingleLanes + 1, all: 300 }])
    expect(await next.store.counts({ isSum: true })).toMatchObject([
      { counts: { ready: 298, scheduled: 300, running: 1, succeeded: 1 } },
    ])
    expect(
      await next.claim({ jobs: [], others: [{ names: [], globs: ['name-*'], mark: 'mock~', marked: 'left out' }], limit: 1_000 }),
    ).toHaveLength(298)
  })

  test('of version 7 gets statistics and a view with the jobs that are in it, and goes back', async () => {
    const program = await open()
    const { schema } = await upkeep()
    await schema.migrate(7)
    const id = await program.sendOne({ job: 'send', queue: 'mail' })
    const next = await open()
    expect(await schema.state()).toEqual({ version: latest, compatibleFrom })
    expect((await admin.query('SELECT id, job, queue, state FROM treadle.job_view')).rows).toEqual([
      { id, job: 'send', queue: 'mail', state: 'ready' },
    ])
    await next.rollups.add([{ queue: 'mail', job: 'send', succeeded: 1, retried: 0, dead: 0, other: 0, wait: [1], run: [1] }])
    expect(await next.rollups.read(0)).toHaveLength(1)
    // A program of the version before goes on beside it.
    expect(await program.store.get(id)).toMatchObject({ state: 'ready' })
    expect(await schema.migrate(7)).toMatchObject({ version: 7 })
    await expect(admin.query('SELECT id FROM treadle.job_view')).rejects.toThrow(/does not exist/)
  })

  test('of version 9 lists the jobs that were stored and ended in it by name and group, and goes back', async () => {
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
    expect((await namesOf('index')).filter((name) => ['jobs_lane', 'jobs_listed', 'jobs_group'].includes(name))).toEqual([
      'jobs_lane',
    ])
    expect(await shapeOf()).not.toEqual(await freshShape())
    await schema.migrate(9)
    await schema.migrate()
    expect(await shapeOf()).toEqual(await freshShape())
  })

  describe('as a plan', () => {
    test('is what a program would run, and can be run by hand', async () => {
      const { schema } = await upkeep()
      const plan = await schema.plan()
      expect(await namesOf('table')).toEqual([])
      expect(plan).toMatch(/INSERT INTO treadle\.migrations .*\nCOMMIT;$/)
      await admin.query(plan)
      expect(await schema.plan()).toBe('')
      const byHand = await shapeOf()
      const queue = await open({ migrate: false })
      await queue.sendOne()
      expect(await queue.claimedIds()).toHaveLength(1)
      await admin.query('DROP SCHEMA treadle CASCADE')
      await open()
      expect(await shapeOf()).toEqual(byHand)
    })

    test('that was run already is refused as a whole', async () => {
      const plan = await (await upkeep()).schema.plan()
      await open()
      await expect(admin.query(plan)).rejects.toThrow(/already exists/)
      await admin.query('ROLLBACK')
      expect(await versions()).toHaveLength(latest)
    })

    test('goes back as well', async () => {
      await open()
      const { schema } = await upkeep()
      await admin.query(await schema.plan(0))
      expect(await schema.state()).toEqual({ version: 0, compatibleFrom: 0 })
      expect(await namesOf('table')).toEqual(['migrations'])
    })
  })

  describe('without the right to make it', () => {
    const login = 'treadle_plain'
    const url = () => database.url.replace(/\/\/[^@]*@/, `//${login}@`)
    beforeAll(() => admin.query(`DROP ROLE IF EXISTS ${login}; CREATE ROLE ${login} LOGIN`))
    afterAll(() => admin.query(`DROP OWNED BY ${login}; DROP ROLE ${login}`))

    test('is refused with the statement that gives the right, one after the other', async () => {
      const first = open({ url: url() })
      await expect(first).rejects.toMatchObject({ code: 'DATABASE_DENIED' })
      await expect(first).rejects.toThrow(`GRANT CREATE ON DATABASE ${database.name} TO ${login};`)
      await admin.query('CREATE SCHEMA treadle')
      const grant = `GRANT USAGE, CREATE ON SCHEMA treadle TO ${login};`
      await expect(open({ url: url() })).rejects.toThrow(grant)
      await admin.query(grant)
      await (await open({ url: url() })).sendOne()
    })

    test('is enough where somebody else made it, with the rights to read and write', async () => {
      await open()
      const grant = `GRANT USAGE ON SCHEMA treadle TO ${login}; GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA treadle TO ${login};`
      await expect(open({ url: url() })).rejects.toThrow(grant)
      await admin.query(grant)
      const plain = await open({ url: url() })
      await plain.sendOne()
      expect(await plain.claimedIds()).toHaveLength(1)
      await admin.query(`REVOKE INSERT ON treadle.jobs FROM ${login}`)
      const sending = plain.sendOne()
      await expect(sending).rejects.toMatchObject({ code: 'DATABASE_DENIED' })
      await expect(sending).rejects.toThrow(/permission denied for table jobs. An administrator can run: GRANT SELECT, INSERT/)
      await admin.query(grant)
      const refused = migratingWith(url(), next).migrate()
      await expect(refused).rejects.toMatchObject({ code: 'DATABASE_DENIED' })
      await expect(refused).rejects.toThrow(/permission denied.*The owner of the tables can run: npx treadle migrate/)
    })
  })

  async function open(options: PostgresOptions = {}): Promise<Bench> {
    const clock = new ManualClock()
    const backend = await openPostgres({ url: database.url, clock, ...options })
    opened.push(backend)
    return new Bench(backend, clock)
  }

  async function upkeep() {
    const found = await openPostgresUpkeep({ url: database.url })
    opened.push(found)
    return found
  }

  /** As a later version of the package would do it. */
  function migratingWith(url: string, ...more: readonly Migration[]): Migrating {
    const names = new TableNames('treadle.')
    const remake = () => new pg.Pool({ connectionString: url }) as never
    const statements = new PostgresStatements(names)
    const preparing = new Preparing(false)
    const later = postgresDatabase({ pool: remake(), remake, schema: 'treadle', statements, preparing, longestMs: 30_000 })
    opened.push(later)
    return new Migrating(later, postgresSchemaEngine(later, 'treadle', [...postgresMigrations, ...more]), names)
  }

  async function versions(schema = 'treadle') {
    return (await admin.query(`SELECT * FROM ${schema}.migrations ORDER BY version`)).rows
  }

  async function namesOf(kind: 'table' | 'index'): Promise<readonly string[]> {
    const { rows } = await admin.query(`SELECT ${kind}name AS name FROM pg_${kind}${kind === 'index' ? 'es' : 's'}
      WHERE schemaname = 'treadle' ORDER BY name`)
    return rows.map(({ name }) => name)
  }

  /** As the third version has numbered them. The lane of the job that runs is the last one. */
  async function numberLanesInOrder() {
    await admin.query(`CREATE TEMP TABLE numbered AS
      SELECT lane, row_number() OVER (ORDER BY substring(job FROM 6)::int) AS number FROM treadle.lanes`)
    await admin.query('ALTER TABLE treadle.lanes ALTER COLUMN lane SET GENERATED BY DEFAULT')
    for (const table of ['jobs', 'counts', 'lanes']) {
      await admin.query(
        `UPDATE treadle.${table} AS placed SET lane = numbered.number FROM numbered WHERE numbered.lane = placed.lane`,
      )
    }
    await admin.query('DROP TABLE numbered; ALTER TABLE treadle.lanes ALTER COLUMN lane SET GENERATED ALWAYS')
  }

  async function freshShape() {
    await admin.query('DROP SCHEMA treadle CASCADE')
    await open()
    return shapeOf()
  }

  async function shapeOf() {
    const { rows: columns } =
      await admin.query(`SELECT table_name, column_name, data_type, is_nullable, column_default, collation_name
      FROM information_schema.columns WHERE table_schema = 'treadle' ORDER BY table_name, ordinal_position`)
    const { rows: found } = await admin.query("SELECT indexdef FROM pg_indexes WHERE schemaname = 'treadle' ORDER BY indexname")
    return { columns, found }
  }
})
