import { type Treadle, treadle } from 'treadle'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { faultsOf, query, scratchFolder } from './database.ts'
import { endPrograms, type Program, startProgram } from './program.ts'

describe('a worker in another process that looks only every ten minutes', () => {
  let folder: ReturnType<typeof scratchFolder>
  let path: string
  let jobs: Treadle
  let worker: Program

  beforeEach(async () => {
    folder = scratchFolder()
    path = folder.file('jobs.db')
    jobs = treadle(`sqlite:${path}`)
    jobs.declare('echo')
    jobs.declare('until-aborted')
    worker = startProgram('patient-worker', { path, concurrency: 2 })
    await worker.line('working')
  })
  afterEach(async () => {
    await jobs.close()
    await endPrograms()
    folder.remove()
  })

  test('runs what is dispatched here, also after it has been idle', async () => {
    for (let number = 0; number < 5; number++) {
      const run = await jobs.dispatch('echo', { number })
      expect(await run.result({ timeout: '30s' })).toEqual({ number })
    }
    const many = await jobs.dispatchMany('echo', [10, 20, 30])
    expect(await Promise.all(many.map((run) => run.result({ timeout: '30s' })))).toEqual([10, 20, 30])
  })

  test('runs a job in time that falls due while it sleeps', async () => {
    const run = await jobs.dispatch('echo', 'later', { delay: '300ms' })
    expect(await run.result({ timeout: '30s' })).toBe('later')
  })

  test('runs a job that is moved to now', async () => {
    const run = await jobs.dispatch('echo', 'moved', { delay: '1h' })
    await run.reschedule(new Date())
    expect(await run.result({ timeout: '30s' })).toBe('moved')
  })

  test('runs what waited in a queue that is resumed', async () => {
    const store = await jobs.store()
    await store.setPaused({ queue: 'default' }, true)
    const run = await jobs.dispatch('echo', 'resumed')
    await store.setPaused({ queue: 'default' }, false)
    expect(await run.result({ timeout: '30s' })).toBe('resumed')
  })

  test('hears of the cancellation of a running job through its signal', async () => {
    const run = await jobs.dispatch('until-aborted', null)
    await worker.line(`started ${run.id}`)
    expect(await run.cancel()).toBe(true)
    await expect(run.result({ timeout: '30s' })).rejects.toMatchObject({ code: 'RUN_FAILED' })
    expect(await run.state()).toBe('cancelled')
    await worker.line(`aborted ${run.id} STOPPED`)
  })

  test('hears of it also with all hands full and more jobs at hand', async () => {
    const runs = await jobs.dispatchMany('until-aborted', [1, 2, 3, 4, 5, 6])
    for (const run of runs) {
      await worker.line(`started ${run.id}`)
      await run.cancel()
      await worker.line(`aborted ${run.id} STOPPED`)
    }
    await Promise.all(runs.map((run) => expect(run.result({ timeout: '30s' })).rejects.toMatchObject({ code: 'RUN_FAILED' })))
    expect(query(path, 'SELECT id FROM treadle_jobs WHERE state <> 6')).toEqual([])
    expect(faultsOf(path)).toEqual([])
  })
})
