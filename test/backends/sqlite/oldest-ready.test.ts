import { expect, onTestFinished, test } from 'vitest'
import { silentLogger } from '../../../src/core/logger.ts'
import { sqliteDialect } from '../../../src/engines/sqlite/dialect.ts'
import { openSqlite } from '../../../src/engines/sqlite/index.ts'
import { translated } from '../../../src/engines/sqlite/statements.ts'
import { ManualClock } from '../../../src/testing/manual-clock.ts'
import { query, scratchFolder } from '../../processes/database.ts'

test('the first ready jobs of lanes are looked up lane by lane, and never by reading the jobs', async () => {
  const folder = scratchFolder()
  onTestFinished(() => folder.remove())
  const path = folder.file('jobs.db')
  const backend = await openSqlite({ path, clock: new ManualClock(), logger: silentLogger, migrate: true })
  onTestFinished(() => backend[Symbol.asyncDispose]())
  const asked: string[] = []
  const reader = {
    all<Row>(sql: string): Row[] {
      asked.push(sql)
      return []
    },
  }
  const place = (lane: number) => ({ lane, grp: '' })
  await sqliteDialect.firstReady(reader, [place(1)], 1)
  await sqliteDialect.firstReady(reader, [place(1), place(2)], 1)
  for (const sql of [...asked, sqliteDialect.readyLanes]) {
    const plan = query<{ detail: string }>(path, `EXPLAIN QUERY PLAN ${translated(sql)}`).map(({ detail }) => detail)
    const steps = plan.filter((detail) => /treadle_jobs|\bjobs\b|\beach\b/.test(detail))
    expect(steps).not.toEqual([])
    for (const step of steps)
      expect(step).toMatch(/USING COVERING INDEX treadle_jobs_ready\b|USING INTEGER PRIMARY KEY|USING INDEX sqlite_autoindex/)
  }
})
