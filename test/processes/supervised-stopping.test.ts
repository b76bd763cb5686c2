import { describe, expect, test } from 'vitest'
import { faultsOf } from './database.ts'
import { SupervisedProject } from './supervised.ts'

describe('worker processes whose leader is told to stop', () => {
  test('J37 R17: while they are idle end at once, and with code 0', async () => {
    const project = new SupervisedProject()
    const supervisor = project.supervise('--processes', '2', '--grace', '10m')
    await supervisor.until('child:ready', 2)
    supervisor.signal('SIGTERM')
    expect(await supervisor.running.ended).toMatchObject({ code: 0 })
    expect(supervisor.of('child:ended').map(({ code, expected }) => [code, expected])).toEqual([
      [0, true],
      [0, true],
    ])
    expect(supervisor.events.at(-1)).toMatchObject({ event: 'worker:stopped', started: 2, died: 0, succeeded: 0 })
    expect(supervisor.pids()).toEqual([])
  })

  test('while they start end without having claimed anything', async () => {
    const project = new SupervisedProject()
    await project.send('quick')
    const supervisor = project.supervise('--processes', '2')
    await supervisor.until('child:started', 2)
    supervisor.signal('SIGTERM')
    expect(await supervisor.running.ended).toMatchObject({ code: 0 })
    expect(project.rows()).toMatchObject([{ attempts: expect.any(Number), rescues: 0 }])
    expect(project.rows()[0]?.state).not.toBe('running')
    expect(supervisor.pids()).toEqual([])
  })

  test('J37 A22: while jobs run finish them, give back the rest, and sum up what they did', async () => {
    const project = new SupervisedProject()
    for (let n = 0; n < 6; n++) await project.send('finishes')
    const supervisor = project.supervise('--processes', '2', '--concurrency', '2')
    await project.begun(4)
    supervisor.signal('SIGTERM')
    await supervisor.running.says('stopping: waiting for running jobs')
    project.go()
    expect(await supervisor.running.ended).toMatchObject({ code: 0 })
    expect(supervisor.events.at(-1)).toMatchObject({ event: 'worker:stopped', lost: 0, died: 0 })
    // A process that hears of the stop later than its jobs end may take another job before.
    const { succeeded } = supervisor.events.at(-1) as unknown as { readonly succeeded: number }
    expect(succeeded).toBeGreaterThanOrEqual(4)
    expect(
      project
        .rows()
        .map(({ state, attempts }) => `${state} ${attempts}`)
        .sort(),
    ).toEqual([...Array(6 - succeeded).fill('ready 0'), ...Array(succeeded).fill('succeeded 1')])
    expect(faultsOf(project.database)).toEqual([])
  })

  test('once more abort what runs and give it back unburnt', async () => {
    const project = new SupervisedProject()
    await project.send('heeds')
    const supervisor = project.supervise('--processes', '2', '--grace', '1h')
    await project.begun(1)
    supervisor.signal('SIGTERM')
    await supervisor.running.says('stopping')
    supervisor.signal('SIGTERM')
    expect(await supervisor.running.ended).toMatchObject({ code: 130 })
    expect(project.rows()).toMatchObject([{ state: 'ready', attempts: 0, rescues: 0 }])
    expect(supervisor.pids()).toEqual([])
  })

  test('for the third time are killed, and what they had goes back', async () => {
    const project = new SupervisedProject()
    await project.send('blocks')
    const supervisor = project.supervise('--processes', '1', '--grace', '1h', '--lease', '1h')
    await project.begun(1)
    supervisor.signal('SIGTERM')
    await supervisor.running.says('stopping')
    supervisor.signal('SIGTERM')
    await supervisor.running.says('aborting')
    supervisor.signal('SIGTERM')
    expect(await supervisor.running.ended).toMatchObject({ code: 130 })
    expect(project.rows()).toMatchObject([{ state: 'ready', attempts: 0, rescues: 1 }])
    expect(supervisor.pids()).toEqual([])
  })

  test('by a Ctrl-C, which reaches all of them at once, do not count it twice', async () => {
    const project = new SupervisedProject()
    await project.send('finishes')
    const supervisor = project.supervise('--processes', '1', '--grace', '1h')
    await project.begun(1)
    const [ready] = await supervisor.until('child:ready')
    for (const pid of [ready?.pid as number, ready?.pid as number, supervisor.pid]) process.kill(pid, 'SIGINT')
    await supervisor.running.says('stopping')
    project.go()
    expect(await supervisor.running.ended).toMatchObject({ code: 0 })
    expect(project.rows()).toMatchObject([{ state: 'succeeded', attempts: 1, rescues: 0 }])
  })

  test('by a service manager that tells each of them finish what they run all the same', async () => {
    const project = new SupervisedProject()
    await project.send('finishes')
    const supervisor = project.supervise('--processes', '1', '--grace', '1h')
    await project.begun(1)
    const [ready] = await supervisor.until('child:ready')
    supervisor.signal('SIGTERM')
    await supervisor.running.says('stopping')
    process.kill(ready?.pid as number, 'SIGTERM')
    process.kill(ready?.pid as number, 'SIGTERM')
    project.go()
    expect(await supervisor.running.ended).toMatchObject({ code: 0 })
    expect(project.rows()).toMatchObject([{ state: 'succeeded', attempts: 1 }])
  })
})

describe('worker processes whose leader is killed', () => {
  test('while they are idle end by themselves', async () => {
    const project = new SupervisedProject()
    const supervisor = project.supervise('--processes', '2', '--grace', '1h')
    await supervisor.until('child:ready', 2)
    supervisor.signal('SIGKILL')
    await supervisor.untilNoneIsLeft()
  })

  test('while they run jobs finish these and end', async () => {
    const project = new SupervisedProject()
    await project.send('finishes')
    await project.send('finishes')
    const supervisor = project.supervise('--processes', '2', '--concurrency', '1', '--grace', '1h')
    await project.begun(2)
    supervisor.signal('SIGKILL')
    await supervisor.running.ended
    expect(supervisor.pids()).toHaveLength(2)
    project.go()
    await supervisor.untilNoneIsLeft()
    expect(project.rows().map(({ state }) => state)).toEqual(['succeeded', 'succeeded'])
  })

  test('while one of them is blocked do not stay for ever', async () => {
    const project = new SupervisedProject()
    await project.send('blocks')
    const supervisor = project.supervise('--processes', '2', '--grace', '10ms')
    await supervisor.until('child:ready', 2)
    await project.begun(1)
    supervisor.signal('SIGKILL')
    await supervisor.untilNoneIsLeft()
  })
})
