import { openSqliteUpkeep } from 'treadle/sqlite'
import { ManualClock } from 'treadle/testing'
import { expect, onTestFinished, test } from 'vitest'
import { crowdedFrom, mostSingleLanes } from '../../../src/engines/sql/lanes/lane-numbers.ts'
import { Bench, unlimited } from '../../../src/testing/conformance/bench.ts'
import { execute, query } from '../../processes/database.ts'
import { SqliteGround } from '../sqlite-ground.ts'

const names = Array.from({ length: 300 }, (_, index) => `name-${index}`)

/** As the fifth version has numbered them. The lanes of the jobs that run and have ended are the last ones. */
function numberLanesInOrder(path: string): void {
  execute(
    path,
    `CREATE TEMP TABLE numbered AS
       SELECT lane, row_number() OVER (ORDER BY CAST(substr(job, 6) AS INTEGER)) AS number FROM treadle_lanes;
     UPDATE treadle_jobs SET lane = (SELECT number FROM numbered WHERE numbered.lane = treadle_jobs.lane);
     UPDATE treadle_counts SET lane = (SELECT number FROM numbered WHERE numbered.lane = treadle_counts.lane);
     UPDATE treadle_lanes SET lane = (SELECT number FROM numbered WHERE numbered.lane = treadle_lanes.lane);`,
  )
}

test('a file of the fifth version is brought up to date with the jobs of hundreds of names in it, waiting, running and ended', async () => {
  const ground = new SqliteGround()
  onTestFinished(() => ground.stop())
  const clock = new ManualClock()
  const program = new Bench(await ground.open(clock), clock)
  const path = ground.file
  await program.send(...names.map((job) => ({ job })), ...names.map((job) => ({ job, delayMs: 60_000 })))
  const [held, done] = await program.claim({ jobs: unlimited('name-298', 'name-299') })
  if (held === undefined || done === undefined) throw new Error('Two jobs should have been claimed')
  await program.settle(program.done(done, { keep: true }))
  await program.backend[Symbol.asyncDispose]()
  const { schema } = await openSqliteUpkeep(path)
  expect(await schema.migrate(5)).toMatchObject({ version: 5, compatibleFrom: 5 })
  numberLanesInOrder(path)
  const next = new Bench(await ground.openAgain(clock), clock)
  onTestFinished(() => next.backend[Symbol.asyncDispose]())
  expect(await ground.faults()).toEqual([])
  const single = `SELECT sum(lane < ${crowdedFrom}) AS single, count(*) AS lanes FROM treadle_lanes`
  expect(query(path, single)).toEqual([{ single: mostSingleLanes + 1, lanes: 300 }])
  expect(await next.store.counts({ isSum: true })).toMatchObject([
    { counts: { ready: 298, scheduled: 300, running: 1, succeeded: 1 } },
  ])
  const all = [{ names: [], globs: ['name-*'], mark: 'mock~', marked: 'left out' }] as const
  expect(await next.claim({ jobs: [], others: all, limit: 1_000 })).toHaveLength(298)
  expect(await next.backend.settle([next.done(held)])).toEqual(['applied'])
  expect(await ground.faults()).toEqual([])
})
