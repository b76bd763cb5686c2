import { type SqliteConnection, type Treadle, type TreadleOptions, treadle } from 'treadle'
import { afterAll, afterEach, describe, expect, it } from 'vitest'
import { scratchFolder, usual } from '../processes/database.ts'
import { BetterSqlite, type OpenFile } from './sqlite-clients.ts'

const folder = scratchFolder()
const closing: (() => unknown)[] = []
let files = 0

afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close()
})
afterAll(() => folder.remove())

async function opened(options: TreadleOptions = {}): Promise<{ path: string; jobs: Treadle; db: OpenFile }> {
  const path = folder.file(`${++files}.db`)
  const jobs = treadle(`sqlite:${path}`, options)
  await jobs.open()
  const db = new BetterSqlite(path)
  db.exec('CREATE TABLE orders (id INTEGER PRIMARY KEY, text TEXT)')
  closing.push(
    () => jobs.close(),
    () => db.close(),
  )
  return { path, jobs, db }
}

const rows = (db: OpenFile, sql: string) => (db.prepare(sql) as { all(): unknown[] }).all()
const countOf = (db: OpenFile) => rows(db, 'SELECT count(*) AS n FROM orders')[0]

describe('a program that has loaded better-sqlite3 and opens the file of the queue with it', () => {
  it('writes while a worker does, and neither writes into the transactions of the other', async () => {
    const { jobs, db } = await opened()
    const confirm = jobs.define('confirm', async (_: { id: number }) => {})
    const working = jobs.work({ concurrency: 20 })
    const placed = 300
    for (let id = 1; id <= placed; id++) {
      if (id % 10 === 1) void jobs.dispatchMany(confirm, new Array(100).fill({ id: 0 }))
      db.exec('BEGIN IMMEDIATE')
      db.exec(`INSERT INTO orders VALUES (${id}, '${'x'.repeat(2000)}')`)
      confirm.in(db).dispatch({ id })
      db.exec('COMMIT')
      await new Promise((resolve) => setImmediate(resolve))
    }
    while ((await (await jobs.store()).counts()).some(({ counts }) => counts.ready + counts.running > 0)) await jobs.run()
    await jobs.stop()
    expect((await working).lost).toBe(0)
    expect([rows(db, 'PRAGMA integrity_check'), countOf(db)]).toEqual([[{ integrity_check: 'ok' }], { n: placed }])
  })

  it('may close its connection at any time, and the queue continues', async () => {
    const { path, jobs, db } = await opened()
    const confirm = jobs.define('confirm', async (_: { id: number }) => {})
    db.exec('BEGIN IMMEDIATE')
    confirm.in(db).dispatch({ id: 1 })
    db.exec('COMMIT')
    db.close()
    await confirm.dispatch({ id: 2 })
    expect((await jobs.run()).succeeded).toBe(2)
    const again = new BetterSqlite(path)
    expect(rows(again, 'PRAGMA integrity_check')).toEqual([{ integrity_check: 'ok' }])
    again.close()
  })

  it('keeps what it writes after the queue was closed', async () => {
    const { path, jobs, db } = await opened()
    await jobs.define('mail', async () => {}).dispatch()
    await jobs.run()
    await jobs.close()
    db.exec("INSERT INTO orders VALUES (1, 'later')")
    db.close()
    const again = new BetterSqlite(path)
    expect(countOf(again)).toEqual({ n: 1 })
    again.close()
  })
})

describe('a connection of another copy of SQLite than that of the queue', () => {
  it('is refused, because two copies in one process destroy the file', async () => {
    const { path, jobs } = await opened()
    const other = new usual.Driver(path) as SqliteConnection & OpenFile
    closing.push(() => other.close())
    other.exec('BEGIN IMMEDIATE')
    const mail = jobs.define('mail', async () => {})
    expect(() => mail.in(other).dispatch({})).toThrow(/another copy of SQLite than the queue's, which is that of better-sqlite3/)
  })

  it('is refused with the advice to import better-sqlite3 first, or to name it', async () => {
    const { jobs, db } = await opened({ sqliteDriver: usual.name })
    db.exec('BEGIN IMMEDIATE')
    const mail = jobs.define('mail', async () => {})
    expect(() => mail.in(db).dispatch({})).toThrow(/Import better-sqlite3 before the queue is opened, or set the option/)
  })

  it('does not exist for a driver that is not known', () => {
    expect(() => treadle('memory:', { sqliteDriver: 'sqlite3' as 'node:sqlite' })).toThrow(
      /sqliteDriver must be one of node:sqlite/,
    )
  })
})
