import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { silentLogger } from '../../../src/core/logger.ts'
import { loadDriver } from '../../../src/engines/sqlite/file/driver.ts'
import { openSqlite } from '../../../src/engines/sqlite/index.ts'
import type { WholeBackend } from '../../../src/queue/contract/contract.ts'
import { ManualClock } from '../../../src/testing/manual-clock.ts'
import { worldOn } from '../../world.ts'
import { serving } from './served.ts'

/** A server on SQLite that signs, with a child that was finished and whose result somebody then writes into the database. */
async function withForgedResult(result: object) {
  const folder = mkdtempSync(join(tmpdir(), 'treadle-forged-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true, maxRetries: 3 }))
  const path = join(folder, 'jobs.db')
  const clock = new ManualClock()
  const backend = (await openSqlite({ path, clock, logger: silentLogger, migrate: true })) as WholeBackend
  const ground = await serving(worldOn(backend, clock, { signingKey: 'a secret of sixteen' }), {})
  const { ask, status } = ground
  await ask('CreateJob', { name: 'parent' })
  await ask('GetJob', { name: 'parent' })
  await ask('CreateJob', { name: 'child', data: { amount: 1 }, parentJobID: 1 })
  await ask('CreateJob', { name: 'other', parentJobID: 1 })
  await ask('FinishJob', { jobID: 1 })
  await ask('GetJob', { name: 'child' })
  expect(await status('FinishJob', { jobID: 2, data: { amount: 2 } })).toBe('200 OK')
  const Database = await loadDriver()
  const database = new Database(path)
  database.exec(`UPDATE treadle_jobs SET result = '${JSON.stringify(result)}' WHERE number = 2`)
  database.close()
  const payload = async () => {
    const jobs = await backend.store.list({ job: 'child', limit: 10 })
    return JSON.parse(jobs[0]?.payload ?? 'null')
  }
  return { ...ground, payload }
}

test('a result that was written into the database is never signed as what a job is to do', async () => {
  const { ask, status, payload } = await withForgedResult({ amount: 1_000_000, retryAfterCount: 3 })
  expect(await status('RequeueJobs', { jobIDs: '2', decrementFailures: true })).toBe('200 OK')
  expect(await payload()).toEqual({ amount: 1 })
  expect((await ask('GetJob', { name: 'child' })).json).toMatchObject({ jobID: 2, data: { amount: 1 } })
})

test.each(['RetryJob', 'FinishJob'])('nor does it make a job one for tests, which %s may end at any time', async (verb) => {
  const { status, payload } = await withForgedResult({ amount: 1_000_000, mockRequest: true })
  expect(await status(verb, { jobID: 2 })).toBe('405 Can only retry/finish RUNNING and RUNQUEUED jobs')
  expect(await payload()).toEqual({ amount: 1 })
})

test('nor does an update of the job take from it whether the job is for tests', async () => {
  const { status, payload } = await withForgedResult({ mockRequest: true })
  expect(await status('UpdateJob', { jobID: 2, data: { amount: 3 } })).toBe('200 OK')
  expect(await payload()).toEqual({ amount: 3 })
})
