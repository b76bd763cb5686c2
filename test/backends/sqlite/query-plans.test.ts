import { ManualClock } from 'treadle/testing'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { outlookStatement } from '../../../src/engines/sql/lanes/outlook.ts'
import { sqliteDialect } from '../../../src/engines/sqlite/dialect.ts'
import { translated } from '../../../src/engines/sqlite/statements.ts'
import { Bench, times } from '../../../src/testing/conformance/bench.ts'
import { query } from '../../processes/database.ts'
import { SqliteGround } from '../sqlite-ground.ts'

const { crowd, listed, grouped } = sqliteDialect

/** What is asked of a queue however many names there are, and the index that answers it. */
const questions: readonly (readonly [what: string, sql: string, index: string])[] = [
  [
    'the first ready jobs of all crowded lanes, in their order',
    `SELECT lane FROM ${crowd.from} WHERE ${crowd.is} ORDER BY ${crowd.at}, run_at, id LIMIT 20`,
    'treadle_jobs_crowd',
  ],
  ['the lanes of a name', "SELECT lane FROM {lanes} WHERE job = 'one'", 'treadle_lanes_job'],
  ['the lanes of names that begin alike', "SELECT lane FROM {lanes} WHERE job >= 'on' AND job < 'oo'", 'treadle_lanes_job'],
  [
    'the newest jobs of a name that ended',
    `SELECT {jobs}.id FROM ${listed.from} WHERE ${listed.is.replace('?', '7').replace('?', '4').replace('?', '0')} ORDER BY {jobs}.id DESC LIMIT 9`,
    'treadle_jobs_listed',
  ],
  [
    'the newest jobs of a name in a group',
    `SELECT {jobs}.id FROM ${grouped.from} WHERE ${grouped.is.replace('?', "'acme'").replace('?', '7')} ORDER BY {jobs}.id DESC LIMIT 9`,
    'treadle_jobs_group',
  ],
]

describe('SQLite, with as many names as jobs,', () => {
  const ground = new SqliteGround()
  let bench: Bench
  beforeAll(async () => {
    const clock = new ManualClock()
    bench = new Bench(await ground.open(clock), clock)
    await bench.send(...times(2_000, (index) => ({ job: `name-${index}`, delayMs: (index % 2) * 60_000 })))
  })
  afterAll(async () => {
    await bench.backend[Symbol.asyncDispose]()
    await ground.stop()
  })

  const planOf = (sql: string) =>
    query<{ detail: string }>(ground.file, `EXPLAIN QUERY PLAN ${translated(sql)}`).map(({ detail }) => detail)

  test.each(questions)('finds %s by an index, and sorts nothing', (_, sql, index) => {
    const plan = planOf(sql)
    expect(plan.join('\n')).toContain(index)
    expect(plan.filter((step) => step.startsWith('SCAN') && !step.includes('INDEX'))).toEqual([])
    expect(plan.filter((step) => step.includes('TEMP B-TREE'))).toEqual([])
  })

  test('looks whether there is anything to claim without reading all jobs or lanes', () => {
    const plan = planOf(outlookStatement(sqliteDialect).replace('owner = ?', "owner = 'me'"))
    const whole = plan.filter((step) => /^SCAN treadle_(jobs|lanes|counts)\b/.test(step) && !step.includes('INDEX'))
    expect(whole).toEqual([])
  })
})
