import { openSqliteUpkeep } from 'treadle/sqlite'
import { ManualClock } from 'treadle/testing'
import { expect, onTestFinished, test } from 'vitest'
import type { JobFilter } from '../../../src/queue/contract/store.ts'
import { Bench, unlimited } from '../../../src/testing/conformance/bench.ts'
import { query } from '../../processes/database.ts'
import { SqliteGround } from '../sqlite-ground.ts'

const ours = "SELECT name FROM sqlite_schema WHERE name IN ('treadle_jobs_lane', 'treadle_jobs_listed', 'treadle_jobs_group')"

test('a file of version 11 lists the jobs that were stored and ended in it by name and group, and goes back', async () => {
  const ground = new SqliteGround()
  onTestFinished(() => ground.stop())
  const clock = new ManualClock()
  const made = await ground.open(clock)
  await made[Symbol.asyncDispose]()
  const { schema } = await openSqliteUpkeep(ground.file)
  expect(await schema.migrate(11)).toMatchObject({ version: 11 })
  expect(query(ground.file, ours)).toEqual([{ name: 'treadle_jobs_lane' }])
  const backend = await ground.openAgain(clock)
  onTestFinished(() => backend[Symbol.asyncDispose]())
  await schema.migrate(11)
  // A program that has the file open goes on with either version.
  const program = new Bench(backend, clock)
  const [one, , three] = await program.send({ job: 'send' }, { job: 'other' }, { job: 'send', group: 'acme' })
  const leases = await program.claim({ jobs: unlimited('send', 'other') })
  await program.settle(...leases.map((lease) => program.done(lease, { keep: true })))
  expect(await schema.migrate()).toEqual({ version: 12, compatibleFrom: 9 })
  expect(
    query<{ name: string }>(ground.file, ours)
      .map(({ name }) => name)
      .sort(),
  ).toEqual(['treadle_jobs_group', 'treadle_jobs_listed'])
  const listed = async (filter: Omit<JobFilter, 'limit'>) =>
    (await program.store.list({ ...filter, limit: 9 })).map(({ id }) => id)
  expect(await listed({ job: 'send', state: 'succeeded' })).toEqual([three, one])
  expect(await listed({ group: 'acme' })).toEqual([three])
  expect(await ground.faults()).toEqual([])
})
