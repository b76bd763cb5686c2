import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { connect, faultsOf } from './database.ts'
import { SupervisedProject } from './supervised.ts'

describe('treadle work that gets a SIGTERM', () => {
  test('J37: while it loads the jobs ends, and has claimed nothing', async () => {
    const project = new SupervisedProject({
      'jobs/slow.ts': `console.log('loading')\nawait new Promise((resolve) => setTimeout(resolve, 3_600_000))`,
    })
    await project.send('quick')
    const worker = project.start(['work'])
    await worker.says('loading')
    worker.child.kill('SIGTERM')
    await worker.ended
    expect(worker.child.signalCode).toBe('SIGTERM')
    expect(project.rows()).toMatchObject([{ state: 'ready', attempts: 0, rescues: 0 }])
  })

  test('J37: while it claims gives back what it got, or gets nothing', async () => {
    const project = new SupervisedProject()
    await project.send('finishes')
    const lock = connect(project.database)
    lock.exec('BEGIN IMMEDIATE')
    const worker = project.start(['work', '--no-scheduler'])
    await worker.says('working on')
    worker.child.kill('SIGTERM')
    await worker.says('stopping')
    lock.exec('COMMIT')
    lock.close()
    expect(await worker.ended).toMatchObject({ code: 0 })
    expect(project.rows()).toMatchObject([{ state: 'ready', attempts: 0, rescues: 0 }])
  })

  test('J37 A22: while a job runs waits for it', async () => {
    const project = new SupervisedProject()
    await project.send('finishes')
    const worker = project.start(['work'])
    await project.begun(1)
    worker.child.kill('SIGTERM')
    await worker.says('stopping')
    project.go()
    expect(await worker.ended).toMatchObject({ code: 0 })
    expect(project.rows()).toMatchObject([{ state: 'succeeded', attempts: 1, rescues: 0 }])
  })

  test('J37 A22: while a result is being written waits until it is on disk', async () => {
    const project = new SupervisedProject()
    await project.send('logs', 1)
    await project.send('finishes')
    const worker = project.start(['work'])
    await project.begun(1)
    await project.settled('logs', 'succeeded')
    const lock = connect(project.database)
    lock.exec('BEGIN IMMEDIATE')
    project.go()
    worker.child.kill('SIGTERM')
    await worker.says('stopping')
    lock.exec('COMMIT')
    lock.close()
    expect(await worker.ended).toMatchObject({ code: 0, out: expect.stringContaining('✓ finishes') })
    expect(project.rows().map(({ state }) => state)).toEqual(['succeeded', 'succeeded'])
    expect(faultsOf(project.database)).toEqual([])
  })

  test('a third time gives back the job of a handler that heeds nothing', async () => {
    const project = new SupervisedProject()
    await project.send('finishes')
    const worker = project.start(['work', '--lease', '10m'])
    await project.begun(1)
    worker.child.kill('SIGTERM')
    await worker.says('stopping')
    worker.child.kill('SIGTERM')
    await worker.says('aborting')
    worker.child.kill('SIGTERM')
    expect(await worker.ended).toMatchObject({ code: 130, out: expect.stringContaining('finishes') })
    expect(project.rows()).toMatchObject([{ state: 'ready', attempts: 0, rescues: 0 }])
  })

  test('after a SIGHUP aborts, as two of one kind do', async () => {
    const project = new SupervisedProject()
    await project.send('heeds')
    const worker = project.start(['work', '--lease', '10m'])
    await project.begun(1)
    worker.child.kill('SIGHUP')
    await worker.says('stopping')
    worker.child.kill('SIGTERM')
    expect(await worker.ended).toMatchObject({ code: 130, err: expect.not.stringContaining('did not answer') })
    expect(project.rows()).toMatchObject([{ state: 'ready', attempts: 0, rescues: 0 }])
  })
})

describe('treadle work that is killed', () => {
  test('J35: and started again does what it had begun once more, and counts it as a rescue', async () => {
    const project = new SupervisedProject()
    await project.send('finishes')
    const first = project.start(['work', '--lease', '1s'])
    await project.begun(1)
    first.child.kill('SIGKILL')
    await first.ended
    expect(project.rows()).toMatchObject([{ state: 'running', attempts: 1, rescues: 0 }])
    project.go()
    const second = project.start(['work'])
    await project.settled('finishes', 'succeeded')
    second.child.kill('SIGTERM')
    expect(await second.ended).toMatchObject({ code: 0 })
    expect(project.rows()).toMatchObject([{ attempts: 1, rescues: 1 }])
    expect(readFileSync(project.path('begun.log'), 'utf8')).toBe('..')
  })
})
