import { readdirSync, readFileSync, statSync } from 'node:fs'
import { type Treadle, type TreadleOptions, treadle } from 'treadle'
import { openSqliteUpkeep } from 'treadle/sqlite'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { sqliteMigrations } from '../../../src/engines/sqlite/schema/schema.ts'
import { execute, faultsOf, query, rowsIn, scratchFolder } from '../../processes/database.ts'
import { endPrograms, startProgram } from '../../processes/program.ts'

const latest = sqliteMigrations.length
const versions = sqliteMigrations.map((_, index) => ({ version: index + 1 }))

describe('the schema of a SQLite file', () => {
  let folder: ReturnType<typeof scratchFolder>
  let path: string
  beforeEach(() => {
    folder = scratchFolder()
    path = folder.file('jobs.db')
  })
  afterEach(async () => {
    await endPrograms()
    folder.remove()
  })

  test('J5: is made in a file that does not exist yet, and the key beside it is readable for its owner alone', async () => {
    await using(async (jobs) => {
      await jobs.declare('count').dispatch(1)
    })
    expect(query(path, 'SELECT version FROM treadle_schema')).toEqual(versions)
    expect(rowsIn(path)).toBe(1)
    expect(faultsOf(path)).toEqual([])
    expect(query(path, 'PRAGMA journal_mode')).toEqual([{ journal_mode: 'wal' }])
    expect((statSync(`${path}.key`).mode & 0o777).toString(8)).toBe('600')
  })

  test('is left as it is in a file that has it, jobs included', async () => {
    const run = await using((jobs) => jobs.declare('count').dispatch({ kept: true }))
    const before = query(path, 'SELECT * FROM treadle_schema')
    await using(async (jobs) => {
      expect(await jobs.handle(run.id).state()).toBe('ready')
      await jobs.declare('count').dispatch(2)
    })
    expect(query(path, 'SELECT * FROM treadle_schema')).toEqual(before)
    expect(rowsIn(path)).toBe(2)
  })

  test('is enough with migrate: false once it is there', async () => {
    await using((jobs) => jobs.open())
    await using((jobs) => jobs.declare('count').dispatch(1), { migrate: false })
    expect(rowsIn(path)).toBe(1)
  })

  test('J5: is made once by five processes that open a new file at the same moment, and none of them finds it locked', async () => {
    const [names, rounds] = [['a', 'b', 'c', 'd', 'e'], 40]
    const programs = names.map((name) => startProgram('first-start', { folder: folder.path, name, names, rounds }))
    await Promise.all(programs.map((program) => program.success()))
    for (let round = 0; round < rounds; round++) {
      const file = folder.file(`${round}.db`)
      expect(query(file, 'SELECT version FROM treadle_schema')).toEqual(versions)
      expect(rowsIn(file)).toBe(names.length)
      expect(faultsOf(file)).toEqual([])
      // All signed with the one key that is there: whoever came first made it.
      expect(query(file, "SELECT DISTINCT substr(signature, 1, instr(signature, '.')) FROM treadle_jobs")).toHaveLength(1)
    }
    expect(readdirSync(folder.path).filter((name) => name.includes('.key'))).toHaveLength(rounds)
  })

  test.each(['wal', 'delete'])(
    'that is newer than this version is refused, and a file in %s mode stays as it was',
    async (mode) => {
      await using((jobs) => jobs.declare('count').dispatch(1))
      execute(path, 'INSERT INTO treadle_schema (version, compatible_from, applied_at) VALUES (99, 98, 0)')
      if (mode === 'delete') path = copyOf(path)
      const before = readFileSync(path)
      const refused = using((jobs) => jobs.declare('count').dispatch(2))
      await expect(refused).rejects.toMatchObject({ name: 'TreadleError', code: 'SCHEMA_TOO_NEW' })
      await expect(refused).rejects.toThrow(/version 99.*Update the package/)
      expect(readFileSync(path).equals(before)).toBe(true)
      expect(query(path, 'PRAGMA journal_mode')).toEqual([{ journal_mode: mode }])
      expect(rowsIn(path)).toBe(1)
    },
  )

  test('that is newer is good enough where it says that this version can work with it', async () => {
    await using((jobs) => jobs.declare('count').dispatch(1))
    execute(path, `INSERT INTO treadle_schema (version, compatible_from, applied_at) VALUES (${latest + 1}, 1, 0)`)
    await using((jobs) => jobs.declare('count').dispatch(2), { migrate: false })
    expect(rowsIn(path)).toBe(2)
  })

  test('of the first version is brought up to date, and does not go back', async () => {
    execute(path, readFileSync(new URL('./schema-1.sql', import.meta.url), 'utf8'))
    const { schema } = await openSqliteUpkeep(path)
    expect(() => query(path, 'SELECT number FROM treadle_jobs')).toThrow(/no such column/)
    const ran: unknown[] = []
    await using(async (jobs) => {
      const count = jobs.define('count', (payload) => void ran.push(payload))
      await count.dispatch(1)
      await jobs.run()
    })
    expect(ran).toEqual([1])
    expect(faultsOf(path)).toEqual([])
    await expect(schema.migrate(1)).rejects.toThrow(/cannot be undone without loss/)
  })

  test('of a new file is that of a file of the first version which was brought up to date', async () => {
    const older = folder.file('older.db')
    execute(older, readFileSync(new URL('./schema-1.sql', import.meta.url), 'utf8'))
    for (const file of [path, older]) await (await openSqliteUpkeep(file)).schema.migrate()
    const objects = 'SELECT name, sql FROM sqlite_schema ORDER BY name'
    expect(query(path, objects)).toEqual(query(older, objects))
    for (const table of ['mutexes', 'schedule_revision', 'numbers']) {
      const rows = `SELECT * FROM treadle_${table}`
      expect(query(path, rows)).toEqual(query(older, rows))
    }
    const versionsIn = 'SELECT version, compatible_from FROM treadle_schema'
    expect(query(path, versionsIn)).toEqual(query(older, versionsIn))
    await expect((await openSqliteUpkeep(folder.file('new.db'))).schema.migrate(4)).rejects.toThrow(/begin with 5 or later/)
  })

  test('of version 5 keeps its schedules, and takes stored ones beside them', async () => {
    const { schema } = await openSqliteUpkeep(path)
    await schema.migrate(5)
    const columns = 'name, expression, timezone, version, since, paused_at'
    execute(path, `INSERT INTO treadle_schedules (${columns}) VALUES ('digest', '0 0 6 * * *', 'UTC', 'v', 1, 2)`)
    execute(path, 'UPDATE treadle_schedule_revision SET revision = 7')
    await using(async (jobs) => {
      jobs.declare('report')
      await jobs.schedules.upsert('acme', { job: 'report', every: '1h' })
      const listed = (await jobs.schedules.list()).map(({ name, paused, stored }) => [name, paused, stored?.key])
      expect(listed).toEqual([
        ['digest', true, undefined],
        ['stored:acme', false, 'acme'],
      ])
      const { revision, changed } = await (await jobs.store()).schedules.changes(0, 10)
      expect([revision, changed.map(({ name }) => name)]).toEqual([8, ['digest', 'stored:acme']])
    })
    expect(await schema.migrate(5)).toMatchObject({ version: 5 })
    expect(query(path, 'SELECT name FROM treadle_schedules')).toEqual([{ name: 'digest' }])
  })

  test('of version 9 gets statistics and a view with the jobs that are in it, and goes back', async () => {
    await using((jobs) => jobs.declare('send').dispatch(1, { queue: 'mail' }))
    const { schema } = await openSqliteUpkeep(path)
    expect(await schema.migrate(9)).toMatchObject({ version: 9 })
    expect(() => query(path, 'SELECT id FROM treadle_job_view')).toThrow(/no such table/)
    await using(async (jobs) => {
      const { rollups } = await jobs.store()
      expect(query(path, 'SELECT job, queue, state FROM treadle_job_view')).toEqual([
        { job: 'send', queue: 'mail', state: 'ready' },
      ])
      await rollups?.add([{ queue: 'mail', job: 'send', succeeded: 1, retried: 0, dead: 0, other: 0, wait: [1], run: [1] }])
      expect(await rollups?.read(0)).toHaveLength(1)
    })
    expect(await schema.migrate(9)).toEqual({ version: 9, compatibleFrom: 9 })
    expect(rowsIn(path)).toBe(1)
  })

  test('is removed with all jobs, and can be made again', async () => {
    await using((jobs) => jobs.declare('count').dispatch(1))
    const { schema } = await openSqliteUpkeep(path)
    expect(await schema.migrate(0)).toEqual({ version: 0, compatibleFrom: 0 })
    const left = "SELECT name FROM sqlite_schema WHERE name LIKE 'treadle_%' AND name <> 'treadle_schema'"
    expect(query(path, left)).toEqual([])
    await using((jobs) => jobs.declare('count').dispatch(1))
    expect(rowsIn(path)).toBe(1)
  })

  test('that is missing is refused with migrate: false, and nothing is made', async () => {
    const refused = using((jobs) => jobs.declare('count').dispatch(1), { migrate: false })
    await expect(refused).rejects.toMatchObject({ name: 'TreadleError', code: 'SCHEMA_OUTDATED' })
    await expect(refused).rejects.toThrow(/npx treadle migrate/)
    expect(query(path, 'SELECT name FROM sqlite_schema')).toEqual([])
    expect(query(path, 'PRAGMA journal_mode')).toEqual([{ journal_mode: 'delete' }])
    await using((jobs) => jobs.declare('count').dispatch(1))
    expect(rowsIn(path)).toBe(1)
  })

  test("lives beside the user's own tables and leaves them alone", async () => {
    execute(
      path,
      `CREATE TABLE orders (id INTEGER PRIMARY KEY, total REAL); CREATE INDEX orders_total ON orders (total);
       CREATE TRIGGER orders_guard BEFORE DELETE ON orders BEGIN SELECT raise(ABORT, 'kept'); END;
       INSERT INTO orders VALUES (1, 9.5), (2, 20); PRAGMA user_version = 7; PRAGMA application_id = 42`,
    )
    const theirs = "SELECT type, name, sql FROM sqlite_schema WHERE tbl_name = 'orders' ORDER BY name"
    const before = query(path, theirs)
    const ran: unknown[] = []
    await using(async (jobs) => {
      const job = jobs.define('count', (payload) => void ran.push(payload))
      await job.dispatchMany([1, 2, 3])
      await jobs.run()
      await jobs.prune()
    })
    expect(ran).toEqual([1, 2, 3])
    expect(query(path, theirs)).toEqual(before)
    expect(query(path, 'SELECT * FROM orders')).toEqual([
      { id: 1, total: 9.5 },
      { id: 2, total: 20 },
    ])
    expect(query(path, 'PRAGMA user_version')).toEqual([{ user_version: 7 }])
    expect(query(path, 'PRAGMA application_id')).toEqual([{ application_id: 42 }])
    const ours = query<{ name: string }>(path, "SELECT name FROM sqlite_schema WHERE tbl_name <> 'orders'")
    expect(ours.filter(({ name }) => !/^(sqlite_autoindex_)?treadle_|^sqlite_sequence$/.test(name))).toEqual([])
  })

  /** As a backup makes it: whole, without a log beside it. */
  function copyOf(file: string): string {
    const copy = folder.file('copy.db')
    execute(file, `VACUUM INTO '${copy}'`)
    return copy
  }

  async function using<Answer>(work: (jobs: Treadle) => Promise<Answer>, options: TreadleOptions = {}): Promise<Answer> {
    const jobs = treadle(`sqlite:${path}`, options)
    try {
      return await work(jobs)
    } finally {
      await jobs.close()
    }
  }
})
