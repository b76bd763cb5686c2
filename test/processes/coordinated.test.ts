import { existsSync, readFileSync } from 'node:fs'
import { treadle } from 'treadle'
import { afterAll, afterEach, beforeEach, describe, expect, test } from 'vitest'
import { beanstalkdUrl, freshPrefix } from '../backends/beanstalkd-ground.ts'
import { execute, scratchFolder } from './database.ts'
import { endPrograms, eventually, startProgram } from './program.ts'

const folder = scratchFolder()
let queues = 0

describe.skipIf(beanstalkdUrl() === null)('processes on Beanstalkd with SQLite beside it', () => {
  let url = ''
  let path = ''
  let log = ''
  beforeEach(() => {
    url = `${beanstalkdUrl()}/${freshPrefix()}`
    path = folder.file(`${++queues}.db`)
    log = folder.file(`${queues}.log`)
  })
  afterEach(endPrograms)
  afterAll(() => folder.remove())

  /** The programs have the handlers; this one only dispatches. */
  const open = () => {
    const jobs = treadle(url, { coordination: `sqlite:${path}`, unsigned: true })
    jobs.define('charge', (_order: { order: number }) => 0).idempotencyKey(({ order }) => `charge:${order}`)
    jobs.define('limited', () => {}).concurrency(2)
    return jobs
  }
  const start = (more: object = {}) => startProgram('coordinated-worker', { url, coordination: `sqlite:${path}`, log, ...more })
  const logged = (word: string) =>
    existsSync(log)
      ? readFileSync(log, 'utf8')
          .split('\n')
          .filter((line) => line.startsWith(`${word} `))
      : []

  test('a worker that is killed between the store and the broker loses no job, and none runs twice', async () => {
    await using jobs = open()
    const run = await jobs.dispatch('charge', { order: 1 })
    const victim = start({ hangs: 'taking over' })
    await victim.line('stored')
    expect(await (await jobs.store()).get(run.id)).toMatchObject({ state: 'ready', attempts: 0 })
    await victim.kill()

    const survivor = start()
    expect(await run.result({ timeout: '2m' })).toBe(survivor.pid)
    // What is sent now comes behind the message that the dead one has left.
    await (await jobs.dispatch('charge', { order: 2 })).result({ timeout: '2m' })
    survivor.signal('SIGTERM')
    await survivor.success()
    expect(logged('start').length).toBe(2)
  })

  test('an idempotency key is held by one run at a time, also where a worker is killed in the middle', async () => {
    await using jobs = open()
    const runs = [await jobs.dispatch('charge', { order: 1 }), await jobs.dispatch('charge', { order: 1 })]
    const victim = start({ hangs: 'running' })
    await victim.line('running')
    await victim.kill()
    execute(path, `UPDATE treadle_jobs SET lease_until = 0 WHERE state = 3 AND owner LIKE '%:${victim.pid}:%'`)

    const survivor = start()
    const results = await Promise.all(runs.map((run) => run.result({ timeout: '2m' })))
    expect(results).toEqual([survivor.pid, survivor.pid])
    expect((await Promise.all(runs.map((run) => run.state()))).toSorted()).toEqual(['skipped', 'succeeded'])
    expect(logged('end').length).toBe(1)
    survivor.signal('SIGTERM')
    await survivor.success()
  })

  test('a limit holds over two workers, and what waits for its turn burns no attempt', async () => {
    await using jobs = open()
    const count = 40
    const runs = await jobs.dispatchMany(
      'limited',
      Array.from({ length: count }, () => null),
    )
    const workers = [start(), start()]
    await Promise.all(runs.map((run) => run.result({ timeout: '2m' })))
    for (const worker of workers) worker.signal('SIGTERM')
    await Promise.all(workers.map((worker) => worker.success()))

    const lines = readFileSync(log, 'utf8').trimEnd().split('\n')
    let running = 0
    for (const line of lines) {
      running += line.startsWith('start') ? 1 : -1
      expect(running).toBeLessThanOrEqual(2)
    }
    expect(lines.length).toBe(count * 2)
    const records = await (await jobs.store()).list({ state: 'succeeded', limit: count + 1 })
    expect(records.map(({ attempts }) => attempts)).toEqual(Array(count).fill(1))
  })

  test('each occurrence of a schedule runs once, however many schedulers follow it', async () => {
    const workers = [start({ ticks: true }), start({ ticks: true })]
    await eventually('some occurrences have run', async () => logged('tick').length >= 4)
    for (const worker of workers) worker.signal('SIGTERM')
    await Promise.all(workers.map((worker) => worker.success()))
    const occurrences = logged('tick').map((line) => line.split(' ')[1])
    expect(new Set(occurrences).size).toBe(occurrences.length)
  })
})
