import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { silentLogger } from '../../../src/core/logger.ts'
import { openSqlite } from '../../../src/engines/sqlite/index.ts'
import type { WholeBackend } from '../../../src/queue/contract/contract.ts'
import { ManualClock } from '../../../src/testing/manual-clock.ts'
import { SqlGround } from '../../backends/sql-ground.ts'
import { mysqlUrl } from '../../services.ts'
import { worldOn } from '../../world.ts'
import { type Served, serving } from './served.ts'

const engines = ['sqlite', 'postgres', 'mariadb', 'mysql'] as const

/** What the commands' own tests show of a queue in memory, in one go on each engine. */
describe.each(engines)('a server on %s', (engine) => {
  const isMissing = engine === 'mysql' && mysqlUrl() === null

  test.skipIf(isMissing)('makes, hands out, changes and ends jobs', async () => {
    const { ask, clock } = await servedOn(engine)
    const state = async (jobID: number) => {
      const { status, json } = await ask('QueryJob', { jobID })
      return status === '200 OK' ? json.state : status
    }
    const data = '{ "b": 12345678901234567890,  "a":[1.50, "ü\\u0001"] }'
    expect((await ask('CreateJob', { name: 'a', data, repeat: 'scheduled, +1 hour' })).json).toEqual({ jobID: 1 })
    expect((await ask('CreateJobs', { jobs: [{ name: 'b', jobPriority: 1000 }, { name: 'b' }] })).json).toEqual({
      jobIDs: [2, 3],
    })
    expect((await ask('CreateJob', { name: 'a', unique: true, data })).json).toEqual({ jobID: 1 })
    expect((await ask('GetJob', { name: '*' })).json).toMatchObject({ jobID: 2, priority: 1000 })
    expect((await ask('GetJob', { name: 'a' })).body).toContain(`"data":${data},`)

    expect((await ask('FinishJob', { jobID: 2 })).status).toBe('200 OK')
    await ask('UpdateJob', { jobID: 1, data: { step: 1 } })
    expect((await ask('QueryJob', { jobID: 1 })).json).toMatchObject({ state: 'RUNNING', data: { step: 1 } })
    await ask('FinishJob', { jobID: 1 })
    expect((await ask('QueryJob', { jobID: 1 })).json).toMatchObject({
      state: 'QUEUED',
      data: { step: 1 },
      nextRun: '2026-01-01 01:00:00',
      lastRun: '2026-01-01 00:00:00',
    })
    await clock.advance(3_600_000)
    expect((await ask('GetJob', { name: 'a' })).json).toMatchObject({ jobID: 1, lastRun: '2026-01-01 00:00:00' })
    await ask('RetryJob', { jobID: 1, name: 'renamed', ignoreRepeat: true, jobPriority: 850 })
    expect((await ask('GetJob', { name: 'ren*' })).json).toMatchObject({ jobID: 1, name: 'renamed', priority: 850 })
    await ask('FailJob', { jobID: 1, data: { error: 'enough' } })
    expect(await state(1)).toBe('FAILED')
    await ask('UpdateJob', { jobID: 1, data: { looked: true } })
    await ask('RequeueJobs', { jobIDs: '1' })
    expect((await ask('QueryJob', { jobID: 1 })).json).toMatchObject({ state: 'QUEUED', data: { looked: true } })

    await ask('DeleteJob', { jobID: 3 })
    await ask('DeleteJob', { jobID: 1 })
    for (const jobID of [1, 2, 3]) expect(await state(jobID)).toBe('404 No job with this jobID')
    expect((await ask('Status')).json.jobs).toEqual({ blocked: 0, dead: 0, ready: 0, running: 0, scheduled: 0 })
  })

  test.skipIf(isMissing)('a parent that waits is requeued, and ends after its child', async () => {
    const { ask } = await servedOn(engine)
    await ask('CreateJob', { name: 'parent', data: { n: 1 } })
    await ask('GetJob', { name: 'parent' })
    await ask('CreateJob', { name: 'child', parentJobID: 1 })
    await ask('FinishJob', { jobID: 1, data: { n: 2 } })
    expect((await ask('QueryJob', { jobID: 1 })).json.state).toBe('PAUSED')
    await ask('RequeueJobs', { jobIDs: 1 })
    expect((await ask('QueryJob', { jobID: 1 })).json).toMatchObject({ state: 'QUEUED', data: { n: 2 } })
    expect((await ask('GetJob', { name: 'parent' })).json).toMatchObject({ jobID: 1, data: { n: 2 } })
    await ask('FinishJob', { jobID: 1 })
    expect((await ask('QueryJob', { jobID: 1 })).json.state).toBe('PAUSED')
    await ask('GetJob', { name: 'child' })
    await ask('FinishJob', { jobID: 2, data: { done: true } })
    expect((await ask('GetJob', { name: 'parent' })).json).toMatchObject({ jobID: 1, finishedChildJobs: [{ jobID: 2 }] })
    expect((await ask('FinishJob', { jobID: 1 })).status).toBe('200 OK')
    expect((await ask('QueryJob', { jobID: 1 })).status).toBe('404 No job with this jobID')
  })

  test.skipIf(isMissing)('lets parents wait for their children, and hands out again what nobody finished', async () => {
    const { ask, clock, restart, stop } = await servedOn(engine)
    await ask('CreateJob', { name: 'parent' })
    await ask('GetJob', { name: 'parent' })
    await ask('CreateJobs', { jobs: [1, 2].map((n) => ({ name: 'child', parentJobID: 1, data: { n } })) })
    expect((await ask('GetJob', { name: 'child' })).status).toBe('404 No job found')
    expect((await ask('FinishJob', { jobID: 1, data: { p: 2 } })).status).toBe('200 OK')
    await ask('CreateJob', { name: 'late', parentJobID: 1, retryAfter: '+1 MINUTE' })
    expect((await ask('GetJobs', { name: 'child', numResults: 5 })).json.jobs).toMatchObject([
      { jobID: 2, parentJobID: 1, parentData: { p: 2 } },
      { jobID: 3 },
    ])
    expect((await ask('GetJob', { name: 'late' })).json.jobID).toBe(4)
    await clock.advance(60_000)
    expect((await ask('GetJob', { name: 'late' })).json).toMatchObject({ jobID: 4, data: { retryAfterCount: 1 } })
    await stop()

    const other = await restart()
    await other.ask('FinishJob', { jobID: 2, data: { done: 2 } })
    await other.ask('FailJob', { jobID: 3 })
    expect((await other.ask('QueryJob', { jobID: 1 })).json.state).toBe('PAUSED')
    await other.ask('FinishJob', { jobID: 4 })
    const { json } = await other.ask('GetJob', { name: 'parent' })
    expect(json.finishedChildJobs).toHaveLength(2)
    expect(json).toMatchObject({ jobID: 1, data: { p: 2 }, failedChildJobs: [{ jobID: 3 }] })
    expect((await other.ask('FinishJob', { jobID: 1 })).status).toBe('200 OK')
    expect((await other.ask('QueryJob', { jobID: 2 })).status).toBe('404 No job with this jobID')
  })

  test.skipIf(isMissing)('answers those who wait, each with a job of its own', async () => {
    const { client, ask } = await servedOn(engine)
    const workers = await Promise.all(Array.from({ length: 40 }, () => client()))
    await Promise.all(workers.map((worker, index) => worker.wait(['*', 'mail', 'ma*', 'other, mail'][index % 4] as string)))
    await ask('CreateJobs', { jobs: Array.from({ length: 40 }, () => ({ name: 'mail' })) })
    const replies = await Promise.all(workers.map((worker) => worker.reply()))
    expect(new Set(replies.map((reply) => /"jobID":(\d+)/.exec(reply)?.[1])).size).toBe(40)
  })
})

async function servedOn(engine: (typeof engines)[number]): Promise<Served> {
  const clock = new ManualClock()
  const backend = await open(engine, clock)
  return serving(worldOn(backend, clock, { signingKey: 'a key for this test alone' }), {})
}

async function open(engine: (typeof engines)[number], clock: ManualClock): Promise<WholeBackend> {
  if (engine === 'sqlite') {
    const folder = mkdtempSync(join(tmpdir(), 'treadle-served-'))
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
    return (await openSqlite({ path: join(folder, 'jobs.db'), clock, logger: silentLogger, migrate: true })) as WholeBackend
  }
  const ground = new SqlGround(engine)
  await ground.start()
  onTestFinished(() => ground.stop())
  return (await ground.open(clock)) as WholeBackend
}
