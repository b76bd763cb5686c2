import { describe, expect, test } from 'vitest'
import { type AttackedQueue, attackedSqlQueue, type SqlEngine, sqlEngines } from './attacked-queue.ts'
import type { SqlAttacker } from './sql-attacker.ts'

/** Columns that hold a number, and whose numbers are not signed. */
const columns = ['attempts', 'rescues', 'run_at', 'created_at', 'unique_until', 'begun', 'cancel', 'linked', 'number'] as const

/** What somebody may write there, as SQL says it; a server refuses what its column cannot hold. */
const values: Readonly<Record<string, Partial<Record<SqlEngine, string>>>> = {
  'a text': { sqlite: "'abc'" },
  'an empty text': { sqlite: "''" },
  'a text that begins like a number': { sqlite: "'1abc'" },
  'some bytes': { sqlite: "x'31'", postgres: "'\\x31'", mariadb: "x'31'" },
  'a fraction': { sqlite: '0.5', postgres: '0.5', mariadb: '0.5' },
  'the largest number': { sqlite: '9223372036854775807', postgres: '9223372036854775807', mariadb: '9223372036854775807' },
  'the largest small number': { sqlite: '2147483647', postgres: '2147483647', mariadb: '2147483647' },
  'the least number': { sqlite: '-9223372036854775808', postgres: '-9223372036854775807', mariadb: '-9223372036854775807' },
  infinity: { sqlite: '9e999', postgres: "'Infinity'" },
  nothing: { sqlite: 'NULL', postgres: 'NULL', mariadb: 'NULL' },
}

/** False where the column cannot hold it. */
async function write(
  { attacker: { sql } }: AttackedQueue<SqlAttacker>,
  id: string,
  column: string,
  value: string,
): Promise<boolean> {
  try {
    await sql(`UPDATE {jobs} SET ${column} = ${value} WHERE id = '${id}'`)
    return true
  } catch {
    return false
  }
}

/** Of the job that is written to. */
const retries = 2

describe.each(sqlEngines)('numbers of no kind that somebody writes into a row of %s', (engine) => {
  test.each(columns)('in the column %s: a job runs no more often than it may, and the others run', async (column) => {
    const queue = await attackedSqlQueue(engine)
    const ran = new Map<string, number>()
    const attempts: unknown[] = []
    const job = queue.jobs
      .define('mail', async ({ isForged }: { isForged: boolean }, { id, attempt }) => {
        ran.set(id, (ran.get(id) ?? 0) + 1)
        attempts.push(attempt)
        if (isForged) throw new Error('no')
      })
      .retries(retries, { strategy: 'none' })
    for (const [what, value] of Object.entries(values)) {
      const forged = await job.dispatch({ isForged: true })
      const sound = await job.dispatch({ isForged: false })
      if (value[engine] === undefined || !(await write(queue, forged.id, column, value[engine]))) continue
      await queue.jobs.run()
      expect([what, (await queue.record(sound)).state]).toEqual([what, 'succeeded'])
      expect([what, (ran.get(forged.id) ?? 0) <= retries + 1]).toEqual([what, true])
      const listed = await queue.backend.store.list({ limit: 100 })
      expect([what, listed.map(({ id }) => id)]).toEqual([what, expect.arrayContaining([forged.id, sound.id])])
    }
    expect(attempts.every((attempt) => Number.isSafeInteger(attempt) && (attempt as number) > 0)).toBe(true)
  })

  test.each(['attempts', 'rescues'])('what is no whole number of %s makes the job rejected', async (column) => {
    const queue = await attackedSqlQueue(engine)
    let runs = 0
    const job = queue.jobs.define('mail', async () => void runs++)
    for (const value of ['a text', 'a text that begins like a number', 'some bytes', 'a fraction']) {
      const run = await job.dispatch({})
      const before = runs
      const written = await write(queue, run.id, column, values[value]?.[engine] ?? "'abc'")
      const { [column as 'attempts']: seen, spoilt } = await queue.record(run)
      await queue.jobs.run()
      // A server moves a fraction to the next whole number.
      if (!written || spoilt === undefined) expect(Number.isSafeInteger(seen), value).toBe(true)
      else
        expect([value, runs - before, await queue.record(run)]).toMatchObject([value, 0, { state: 'dead', reason: 'rejected' }])
    }
  })
})

describe('what only a SQLite file can hold, in a column that claims are found by', () => {
  test.each([
    ['lane', "'abc'"],
    ['lane', '1.5'],
    ['lane', "x'31'"],
    ['run_at', "''"],
    ['crowd', "''"],
  ])('%s = %s: the others are claimed, whether it waits for a worker, for its time or for another job', async (column, value) => {
    const queue = await attackedSqlQueue('sqlite')
    const job = queue.jobs.define('mail', async () => {})
    const first = await job.dispatch({}, { delay: '2s' })
    const forged = [await job.dispatch({}), await job.dispatch({}, { delay: '1s' }), await job.dispatch({}, { dependsOn: first })]
    for (const { id } of forged) expect(await write(queue, id, column, value)).toBe(true)
    const sound = [await job.dispatch({}), await job.dispatch({}, { delay: '1s' })]
    await queue.jobs.run()
    await queue.clock.advance(5_000)
    await queue.jobs.run()
    for (const run of sound) expect((await queue.record(run)).state).toBe('succeeded')
  })
})
