import { writeFileSync } from 'node:fs'
import { type RunReport, treadle } from 'treadle'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { faultsOf, query, scratchFolder } from './database.ts'
import { endPrograms, eventually, type Program, startProgram } from './program.ts'

describe('a worker process that is told to stop', () => {
  let folder: ReturnType<typeof scratchFolder>
  let path: string
  let go: string
  beforeEach(() => {
    folder = scratchFolder()
    path = folder.file('jobs.db')
    go = folder.file('go')
  })
  afterEach(async () => {
    await endPrograms()
    folder.remove()
  })

  test('J37 A22: by SIGTERM while jobs run lets them finish, gives back what it had not begun, and exits with 0', async () => {
    await dispatch('finishes', 10)
    const worker = startProgram('stoppable-worker', { path, go, options: { concurrency: 4 } })
    await eventually('four jobs run', () => worker.lines.filter((line) => line.startsWith('started ')).length === 4)
    worker.signal('SIGTERM')
    await worker.line('got SIGTERM')
    writeFileSync(go, '')
    await worker.success()
    expect(reportOf(worker)).toMatchObject({ succeeded: 4, dead: 0, retried: 0, lost: 0 })
    expect(rows()).toEqual([
      { state: 0, attempts: 0, rescues: 0, jobs: 6 },
      { state: 4, attempts: 1, rescues: 0, jobs: 4 },
    ])
    expect(faultsOf(path)).toEqual([])
  })

  test('by SIGTERM while idle exits at once', async () => {
    const worker = startProgram('stoppable-worker', { path, go, options: { grace: '10m', poll: '10m' } })
    await worker.line('working')
    worker.signal('SIGTERM')
    await worker.success()
    expect(reportOf(worker)).toMatchObject({ succeeded: 0, released: 0 })
  })

  test('aborts what runs longer than the grace and gives it back with its attempt', async () => {
    await dispatch('heeds', 3)
    const worker = startProgram('stoppable-worker', { path, go, options: { grace: '100ms' } })
    await eventually('three jobs run', () => worker.lines.filter((line) => line.startsWith('started ')).length === 3)
    worker.signal('SIGTERM')
    await worker.success()
    expect(reportOf(worker)).toMatchObject({ released: 3, succeeded: 0, retried: 0, dead: 0 })
    expect(rows()).toEqual([{ state: 0, attempts: 0, rescues: 0, jobs: 3 }])
    expect(faultsOf(path)).toEqual([])
  })

  test('gives back the job of a handler that heeds nothing, and exits by itself', async () => {
    await dispatch('stubborn', 1)
    const worker = startProgram('stoppable-worker', { path, go, options: { grace: '50ms' } })
    await worker.line('started')
    worker.signal('SIGTERM')
    await worker.success()
    expect(reportOf(worker)).toMatchObject({ released: 1 })
    expect(rows()).toEqual([{ state: 0, attempts: 0, rescues: 0, jobs: 1 }])
  })

  test('by a second SIGINT does not wait for the grace to pass', async () => {
    await dispatch('heeds', 2)
    const worker = startProgram('stoppable-worker', { path, go, options: { grace: '10m' } })
    await eventually('two jobs run', () => worker.lines.filter((line) => line.startsWith('started ')).length === 2)
    worker.signal('SIGINT')
    await worker.line('got SIGINT')
    expect(worker.lines.some((line) => line.startsWith('report '))).toBe(false)
    worker.signal('SIGINT')
    await worker.success()
    expect(reportOf(worker)).toMatchObject({ released: 2 })
    expect(rows()).toEqual([{ state: 0, attempts: 0, rescues: 0, jobs: 2 }])
  })

  // The signal falls into a claim, a settlement or between them, as chance has it: in none may a job stay behind.
  test.each([1, 2, 3, 4, 5, 6])('X20: in full swing leaves no job claimed, round %i', async (round) => {
    await dispatch('quick', 5_000)
    const worker = startProgram('stoppable-worker', { path, go, options: { concurrency: 10 } })
    await eventually('it has begun', () => countOf(4) >= 100 * round)
    worker.signal('SIGTERM')
    await worker.success()
    const { succeeded, lost } = reportOf(worker)
    expect(lost).toBe(0)
    expect(countOf(3)).toBe(0)
    expect(countOf(4)).toBe(succeeded)
    expect(countOf(0)).toBe(5_000 - succeeded)
    expect(query(path, 'SELECT id FROM treadle_jobs WHERE rescues > 0 OR attempts > 1')).toEqual([])
    expect(faultsOf(path)).toEqual([])
  })

  async function dispatch(job: string, count: number): Promise<void> {
    const jobs = treadle(`sqlite:${path}`)
    try {
      await jobs.declare(job).dispatchMany(Array.from({ length: count }, (_, number) => number))
    } finally {
      await jobs.close()
    }
  }

  function rows(): unknown[] {
    const found = query<object>(
      path,
      `SELECT state, attempts, rescues, count(*) AS jobs FROM treadle_jobs
       GROUP BY state, attempts, rescues ORDER BY state, attempts, rescues`,
    )
    return found.map((row) => ({ ...row }))
  }

  function countOf(state: number): number {
    return query<{ rows: number }>(path, 'SELECT count(*) AS rows FROM treadle_jobs WHERE state = ?', state)[0]!.rows
  }
})

function reportOf(worker: Program): RunReport {
  const line = worker.lines.find((each) => each.startsWith('report '))
  return JSON.parse((line ?? '').slice('report '.length)) as RunReport
}
