import { readFileSync } from 'node:fs'
import { type Treadle, treadle } from 'treadle'
import { afterAll, afterEach, expect, test } from 'vitest'
import { execute, faultsOf, query, scratchFolder } from './database.ts'
import { endPrograms, eventually, startProgram } from './program.ts'

const folder = scratchFolder()
afterEach(endPrograms)
afterAll(() => folder.remove())

const jobCount = 150
const kills = 8

test('A19: workers are killed at random, and every effectively-once job has written exactly once', async () => {
  const path = folder.file('effectively.db')
  await killWorkers(path, { delivery: 'effectively-once' }, async (jobs) => {
    await jobs.open()
    execute(path, 'CREATE TABLE trace (job TEXT); CREATE TABLE counter (value INTEGER); INSERT INTO counter VALUES (0)')
  })
  const traces = query<{ job: string; times: number }>(path, 'SELECT job, count(*) AS times FROM trace GROUP BY job')
  expect(traces).toHaveLength(jobCount)
  expect(traces.filter(({ times }) => times !== 1)).toEqual([])
  expect(query(path, 'SELECT value FROM counter')).toEqual([{ value: jobCount }])
  expect(query(path, 'SELECT id FROM treadle_jobs WHERE state <> 4')).toEqual([])
  expect(
    query<{ rescued: number }>(path, 'SELECT count(*) AS rescued FROM treadle_jobs WHERE rescues > 0')[0]?.rescued,
  ).toBeGreaterThan(0)
  expect(faultsOf(path)).toEqual([])
})

test('A19: workers are killed at random, and no at-most-once job is begun twice', async () => {
  const path = folder.file('at-most.db')
  const log = folder.file('begun.log')
  await killWorkers(path, { delivery: 'at-most-once', log }, (jobs) => jobs.open())
  const begun = readFileSync(log, 'utf8').trimEnd().split('\n')
  expect(new Set(begun).size).toBe(begun.length)
  const ended = query<{ id: string; state: number; reason: string | null }>(path, 'SELECT id, state, reason FROM treadle_jobs')
  const dead = ended.filter(({ state }) => state === 5)
  expect(dead.length).toBeGreaterThan(0)
  expect(new Set(dead.map(({ reason }) => reason))).toEqual(new Set(['interrupted']))
  const succeeded = ended.filter(({ state }) => state === 4).map(({ id }) => id)
  expect(succeeded.length + dead.length).toBe(jobCount)
  expect(succeeded.filter((id) => !begun.includes(id))).toEqual([])
  expect(faultsOf(path)).toEqual([])
})

/** Each worker is killed after a few jobs of its own, the last one only when all have ended. */
async function killWorkers(path: string, options: object, prepare: (jobs: Treadle) => Promise<unknown>): Promise<void> {
  const jobs = treadle(`sqlite:${path}`)
  try {
    await prepare(jobs)
    await jobs.declare('deliver').dispatchMany(Array.from({ length: jobCount }, (_, n) => n))
    for (let kill = 0; kill < kills; kill++) {
      const worker = startProgram('delivery-worker', { path, ...options })
      // Now between the writes and the commit, now after the end.
      await worker.line(`${kill % 2 === 0 ? 'written' : 'ended'} ${1 + ((kill * 7) % 10)}`)
      await worker.kill()
    }
    startProgram('delivery-worker', { path, ...options })
    await eventually('every job has ended', async () => {
      const [counts] = await (await jobs.store()).counts()
      const { succeeded = 0, dead = 0 } = counts?.counts ?? {}
      return succeeded + dead === jobCount
    })
  } finally {
    await jobs.close()
  }
}
