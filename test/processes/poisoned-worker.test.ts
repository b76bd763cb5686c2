import { readFileSync } from 'node:fs'
import { type Treadle, treadle } from 'treadle'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { type FreshDatabase, freshDatabase } from '../services.ts'
import { scratchFolder } from './database.ts'
import { endPrograms, eventually, type Program, startProgram } from './program.ts'

const key = 'a key that all workers of this test share'

describe.each(['sqlite', 'postgres', 'mariadb'] as const)('on %s, a job that ends its worker', (engine) => {
  let folder: ReturnType<typeof scratchFolder>
  let database: FreshDatabase | undefined
  let jobs: Treadle
  let url: string
  let log: string
  let deaths: number
  let isOver: boolean
  beforeEach(async () => {
    folder = scratchFolder()
    log = folder.file('trace.log')
    database = engine === 'sqlite' ? undefined : await freshDatabase(engine)
    url = database?.url ?? `sqlite:${folder.file('jobs.db')}`
    jobs = treadle(url, { signingKey: key })
    deaths = 0
    isOver = false
  })
  afterEach(async () => {
    isOver = true
    await endPrograms()
    await jobs.close()
    await database?.dispose()
    folder.remove()
  })

  test.each([1, 10])('is dead after so many of them, and none that ran beside it is: at most %d at once', async (concurrency) => {
    const innocent = jobs.declare<number>('innocent')
    // Many that are quick, so that the worker claims ahead; then some that are under way when it dies, and some behind them.
    await innocent.dispatchMany(Array.from({ length: 100 }, () => 0))
    await innocent.dispatchMany(Array.from({ length: 4 }, () => 100))
    const poison = await jobs.declare('poison').dispatch()
    await innocent.dispatchMany(Array.from({ length: 10 }, () => 100))
    let worker = start(concurrency)
    await eventually('all innocent jobs have succeeded, and the other one is dead', async () => {
      worker = again(worker, concurrency)
      return (await poison.state()) === 'dead' && (await succeeded()) === 114
    })
    isOver = true
    worker.signal('SIGTERM')
    await worker.ended
    const store = await jobs.store()
    expect(await store.list({ state: 'dead', limit: 100 })).toMatchObject([{ id: poison.id, reason: 'poisoned', rescues: 4 }])
    expect(deaths).toBe(4)
    expect(readFileSync(log, 'utf8').match(/poison/g)).toHaveLength(4)
  })

  function start(concurrency: number): Program {
    const worker = startProgram('poisoned-worker', { url, key, log, concurrency })
    void worker.ended.then(() => {
      if (!isOver) deaths++
    })
    return worker
  }

  /** Another one in the place of one that has died. */
  function again(worker: Program, concurrency: number): Program {
    return worker.hasEnded ? start(concurrency) : worker
  }

  async function succeeded(): Promise<number> {
    const counts = await (await jobs.store()).counts()
    return counts.reduce((sum, each) => sum + each.counts.succeeded, 0)
  }
})
