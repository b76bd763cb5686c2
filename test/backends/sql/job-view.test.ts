import { readFileSync } from 'node:fs'
import { createConnection } from 'mysql2/promise'
import pg from 'pg'
import { type Treadle, treadle } from 'treadle'
import { describe, expect, test } from 'vitest'
import { query, scratchFolder } from '../../processes/database.ts'
import { freshDatabase } from '../../services.ts'

const guide = readFileSync(new URL('../../../docs/observability.md', import.meta.url), 'utf8')
/** The statements that the guide shows, as they are for SQLite and MySQL. */
const examples = [...guide.matchAll(/```sql\n([\s\S]*?)```/g)].map(([, text]) => text as string)

type Ask = (sql: string) => Promise<readonly Readonly<Record<string, unknown>>[]>

describe('the view of jobs', () => {
  test('on SQLite has jobs with their states, times and errors, and answers what the guide asks', async () => {
    const folder = scratchFolder()
    const path = folder.file('jobs.db')
    await filled(`sqlite:${path}`, async () => {
      await check(async (sql) => query(path, sql) as never)
      const [row] = query(path, "SELECT run_at FROM treadle_job_view WHERE state = 'scheduled'") as { run_at: string }[]
      expect(row?.run_at).toBe('2100-01-02T03:04:05.678Z')
    })
    folder.remove()
  })

  test('on PostgreSQL has the same in its schema, with times as timestamps', async () => {
    await using database = await freshDatabase('postgres')
    const client = new pg.Client({ connectionString: database.url })
    await client.connect()
    await filled(database.url, async () => {
      await check(async (sql) => (await client.query(sql.replaceAll('treadle_job_view', 'treadle.job_view'))).rows)
      const { rows } = await client.query("SELECT run_at FROM treadle.job_view WHERE state = 'scheduled'")
      expect(rows).toEqual([{ run_at: new Date('2100-01-02T03:04:05.678Z') }])
    })
    await client.end()
  })

  test('on MariaDB has the same, with times of UTC whatever the time zone of the connection is', async () => {
    await using database = await freshDatabase('mariadb')
    const client = await createConnection({ uri: database.url, dateStrings: true })
    await client.query("SET time_zone = '+05:30'")
    await filled(database.url, async () => {
      await check(async (sql) => (await client.query(sql))[0] as never)
      const [rows] = await client.query("SELECT run_at FROM treadle_job_view WHERE state = 'scheduled'")
      expect(rows).toEqual([{ run_at: '2100-01-02 03:04:05.678000' }])
    })
    await client.end()
  })
})

/** Two jobs that wait in a queue, one that is to come, one that succeeded, and two that failed for good. */
async function filled(url: string, look: () => Promise<void>): Promise<void> {
  const jobs: Treadle = treadle(url, { signingKey: 'a-key-for-the-test-of-the-view-of-jobs' })
  jobs.define('charge', (card: number) => {
    if (card > 0) throw new Error('The card was declined')
  })
  for (const card of [0, 1, 2]) await jobs.dispatch('charge', card, { queue: 'money', group: 'acme' })
  await jobs.run()
  const mail = jobs.declare('send')
  await mail.dispatch(1, { queue: 'mail', priority: 7 })
  await mail.dispatch(2, { queue: 'mail' })
  await mail.dispatch(3, { queue: 'mail', at: '2100-01-02T03:04:05.678Z' })
  try {
    await look()
  } finally {
    await jobs.close()
  }
}

async function check(ask: Ask): Promise<void> {
  const columns = 'job, queue, state, state_code, attempts, group_name, reason, error'
  const rows = await ask(`SELECT ${columns} FROM treadle_job_view ORDER BY state_code, id`)
  const dead = {
    job: 'charge',
    queue: 'money',
    state: 'dead',
    state_code: 5,
    attempts: 1,
    group_name: 'acme',
    reason: 'exhausted',
  }
  const waiting = { job: 'send', queue: 'mail', attempts: 0, group_name: null, reason: null, error: null }
  expect(rows).toEqual([
    { ...waiting, state: 'ready', state_code: 0 },
    { ...waiting, state: 'ready', state_code: 0 },
    { ...waiting, state: 'scheduled', state_code: 1 },
    { ...dead, state: 'succeeded', state_code: 4, reason: null, error: null },
    { ...dead, error: 'The card was declined' },
    { ...dead, error: 'The card was declined' },
  ])
  const answers: (readonly Readonly<Record<string, unknown>>[])[] = []
  for (const sql of examples) answers.push(await ask(sql))
  const [pending, running, failed] = answers
  const numbers = (found: typeof pending) => found?.map((row) => ({ ...row, jobs: Number(row.jobs) }))
  expect(numbers(pending)).toEqual([
    { queue: 'mail', state: 'ready', jobs: 2, oldest: expect.anything() },
    { queue: 'mail', state: 'scheduled', jobs: 1, oldest: expect.anything() },
  ])
  expect(running).toEqual([])
  expect(numbers(failed)).toEqual([{ job: 'charge', error: 'The card was declined', jobs: 2, latest: expect.anything() }])
}
