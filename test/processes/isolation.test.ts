import { treadle } from 'treadle'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { isAlive } from './alive.ts'
import { faultsOf, query, scratchFolder } from './database.ts'
import { endPrograms, eventually, startProgram } from './program.ts'

describe('a worker process with isolated handlers', () => {
  let folder: ReturnType<typeof scratchFolder>
  let path: string
  const started: number[] = []
  beforeEach(() => {
    folder = scratchFolder()
    path = folder.file('jobs.db')
  })
  afterEach(async () => {
    await endPrograms()
    for (const pid of started.splice(0)) if (isAlive(pid)) process.kill(pid, 'SIGKILL')
    folder.remove()
  })

  test.each(['thread', 'process'])(
    'loads its main script in a %s, up to where it works, and dispatches from there',
    async (kind) => {
      await dispatch(`${kind} tells`)
      const worker = startProgram('isolating-worker', { path, options: { scheduler: false } })
      const by = JSON.parse((await worker.line('told')).slice('told '.length))
      expect(by.pid === worker.pid).toBe(kind === 'thread')
      expect(by.threadId > 0).toBe(kind === 'thread')
      worker.signal('SIGTERM')
      const lines = await worker.success()
      expect(lines.filter((line) => line.startsWith('loaded '))).toEqual([
        `loaded ${worker.pid} 0`,
        `loaded ${by.pid} ${by.threadId}`,
      ])
      expect(lines.filter((line) => line.startsWith('done '))).toEqual([`done ${worker.pid} 0`])
      expect(query(path, 'SELECT id FROM treadle_jobs WHERE state <> 4')).toEqual([])
      expect(faultsOf(path)).toEqual([])
    },
  )

  test.each(['thread', 'process'])(
    'ends by itself at a second signal although a %s is blocked, and gives its job back',
    async (kind) => {
      await dispatch(`${kind} spins`)
      const worker = startProgram('isolating-worker', { path, options: { grace: '10m' } })
      const [pid] = (await worker.line('spinning')).split(' ').slice(1).map(Number)
      started.push(pid as number)
      worker.signal('SIGTERM')
      await worker.line('got SIGTERM')
      worker.signal('SIGTERM')
      await worker.success()
      expect(isAlive(pid as number)).toBe(false)
      expect(query<object>(path, 'SELECT state, attempts FROM treadle_jobs').map((row) => ({ ...row }))).toEqual([
        { state: 0, attempts: 0 },
      ])
    },
  )

  test('leaves no process behind when it is killed, also not one that is blocked', async () => {
    await dispatch('process spins')
    const worker = startProgram('isolating-worker', { path, options: {} })
    const [pid] = (await worker.line('spinning')).split(' ').slice(1).map(Number)
    started.push(pid as number)
    expect(pid).not.toBe(worker.pid)
    worker.signal('SIGKILL')
    await eventually('its process has ended too', () => !isAlive(pid as number))
    await worker.ended
  })

  async function dispatch(job: string): Promise<void> {
    const jobs = treadle(`sqlite:${path}`)
    try {
      await jobs.declare(job).dispatch()
    } finally {
      await jobs.close()
    }
  }
})
