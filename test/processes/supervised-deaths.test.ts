import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { faultsOf } from './database.ts'
import { SupervisedProject } from './supervised.ts'

describe('a worker process that dies', () => {
  test('by SIGKILL gives its jobs to the others at once, not when their leases run out', async () => {
    const project = new SupervisedProject()
    for (let n = 0; n < 4; n++) await project.send('finishes')
    const supervisor = project.supervise('--processes', '2', '--concurrency', '4', '--lease', '1h')
    await project.begun(4)
    const [ready] = await supervisor.until('child:ready', 2)
    process.kill(ready?.pid as number, 'SIGKILL')
    const [ended] = await supervisor.until('child:ended')
    expect(ended).toMatchObject({ pid: ready?.pid, signal: 'SIGKILL', expected: false, restartInMs: expect.any(Number) })
    project.go()
    await project.settled('finishes', 'succeeded', 4)
    await supervisor.until('child:ready', 3)
    supervisor.signal('SIGTERM')
    expect(await supervisor.running.ended).toMatchObject({ code: 0 })
    const rescued = project.rows().filter(({ rescues }) => rescues === 1)
    expect(rescued).toHaveLength(ended?.returned as number)
    expect(project.rows().every(({ attempts }) => attempts === 1)).toBe(true)
    expect(faultsOf(project.database)).toEqual([])
  })

  test('with the same job each time takes that job out of the queue as poisoned', async () => {
    const project = new SupervisedProject()
    const supervisor = project.supervise('--processes', '2', '--lease', '1h')
    await project.send('crashes')
    await project.settled('crashes', 'dead')
    await project.send('quick')
    await project.settled('quick', 'succeeded')
    const deaths = await supervisor.until('child:ended', 4)
    expect(deaths.map(({ code, returned, poisoned }) => [code, returned, poisoned])).toEqual([
      [7, 1, 0],
      [7, 1, 0],
      [7, 1, 0],
      [7, 0, 1],
    ])
    supervisor.signal('SIGTERM')
    expect(await supervisor.running.ended).toMatchObject({ code: 0 })
    expect(project.rows()[0]).toMatchObject({ state: 'dead', reason: 'poisoned', rescues: 4 })
    expect(supervisor.events.at(-1)).toMatchObject({ event: 'worker:stopped', died: 4, dead: 1 })
  })

  test('because a job spins past its timeout: that attempt has failed with TIMEOUT, and the others are done elsewhere', async () => {
    const project = new SupervisedProject()
    const supervisor = project.supervise('--processes', '1', '--lease', '1h')
    await supervisor.until('child:ready')
    await project.send('finishes')
    await project.begun(1)
    await project.sendDefined('spins')
    const [overdue] = await supervisor.until('child:overdue')
    expect(overdue).toMatchObject({ child: 1, job: 'spins', attempt: 1 })
    project.go()
    await project.settled('finishes', 'succeeded')
    await project.settled('spins', 'succeeded')
    supervisor.signal('SIGTERM')
    expect(await supervisor.running.ended).toMatchObject({ code: 0 })
    expect(project.rows()).toMatchObject([
      { job: 'finishes', attempts: 1, rescues: 1 },
      { job: 'spins', attempts: 2, rescues: 0, errors: expect.stringContaining('"code":"TIMEOUT"') },
    ])
    expect(supervisor.of('job:failed')).toMatchObject([{ job: 'spins', attempt: 1 }])
    expect(supervisor.events.at(-1)).toMatchObject({ event: 'worker:stopped', retried: 1, died: 1 })
  })
})

describe('a worker process that is replaced', () => {
  test('after so many jobs: none is lost, and all are done once', async () => {
    const project = new SupervisedProject()
    const supervisor = project.supervise('--processes', '2', '--max-jobs', '20', '--concurrency', '2')
    await supervisor.until('child:ready', 2)
    await project.send('logs', ...numbers(0, 100))
    const [replaced] = await supervisor.until('child:replaced')
    expect(replaced).toMatchObject({ why: 'jobs' })
    await project.send('logs', ...numbers(100, 200))
    await project.settled('logs', 'succeeded', 200)
    await supervisor.until('child:ended')
    supervisor.signal('SIGTERM')
    expect(await supervisor.running.ended).toMatchObject({ code: 0 })
    expect(numbersRun(project)).toEqual(numbers(0, 200))
    expect(supervisor.events.at(-1)).toMatchObject({ event: 'worker:stopped', succeeded: 200, died: 0 })
  })

  test('by its memory', async () => {
    const project = new SupervisedProject()
    const supervisor = project.supervise('--processes', '1', '--max-memory', '300mb')
    await supervisor.until('child:ready')
    await project.send('grows')
    await project.send('grows')
    const [replaced] = await supervisor.until('child:replaced')
    expect(replaced).toMatchObject({ child: 1, why: 'memory' })
    await supervisor.until('child:ready', 2)
    const [ended] = await supervisor.until('child:ended')
    expect(ended).toMatchObject({ pid: replaced?.pid, code: 0, expected: true, restartInMs: null })
    supervisor.signal('SIGTERM')
    expect(await supervisor.running.ended).toMatchObject({ code: 0 })
  })

  test('because it had to abandon a handler', async () => {
    const project = new SupervisedProject()
    const supervisor = project.supervise('--processes', '1')
    await project.sendDefined('leaves')
    const [replaced] = await supervisor.until('child:replaced')
    expect(replaced).toMatchObject({ child: 1, why: 'abandoned' })
    await supervisor.until('child:ended')
    supervisor.signal('SIGTERM')
    expect(await supervisor.running.ended).toMatchObject({ code: 0 })
    expect(project.rows()).toMatchObject([{ job: 'leaves', state: 'dead', attempts: 1, rescues: 0 }])
  })

  test('by SIGHUP, one after the other, while jobs flow: none is lost, and all are done once', async () => {
    const project = new SupervisedProject()
    const supervisor = project.supervise('--processes', '2')
    const [first, second] = (await supervisor.until('child:ready', 2)).map(({ pid }) => pid)
    const sending = project.send('logs', ...numbers(0, 300))
    supervisor.signal('SIGHUP')
    const [rolled] = await supervisor.until('roll:ended')
    expect(rolled).toMatchObject({ replaced: 2 })
    await sending
    await project.settled('logs', 'succeeded', 300)
    const living = supervisor.pids()
    expect(living).toHaveLength(3)
    expect(living).not.toContain(first)
    expect(living).not.toContain(second)
    supervisor.signal('SIGTERM')
    expect(await supervisor.running.ended).toMatchObject({ code: 0 })
    expect(numbersRun(project)).toEqual(numbers(0, 300))
    expect(project.rows().every(({ rescues, attempts }) => rescues === 0 && attempts === 1)).toBe(true)
  })

  test('by SIGHUP after a deployment that is broken goes on with what it has', async () => {
    const project = new SupervisedProject()
    const supervisor = project.supervise('--processes', '2')
    await supervisor.until('child:ready', 2)
    project.write('jobs/new.ts', 'this is no program')
    supervisor.signal('SIGHUP')
    const [failed] = await supervisor.until('roll:failed')
    expect(failed).toMatchObject({ replaced: 0, failure: { message: expect.stringContaining('new.ts') } })
    await project.send('quick')
    await project.settled('quick', 'succeeded')
    expect(supervisor.of('child:ended')).toHaveLength(1)
    supervisor.signal('SIGTERM')
    expect(await supervisor.running.ended).toMatchObject({ code: 0 })
  })
})

function numbers(from: number, to: number): readonly number[] {
  return Array.from({ length: to - from }, (_, index) => from + index)
}

function numbersRun(project: SupervisedProject): readonly number[] {
  const lines = readFileSync(project.path('ran.log'), 'utf8').trim().split('\n')
  return lines.map(Number).sort((a, b) => a - b)
}
