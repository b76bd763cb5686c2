import { afterEach, describe, expect, test } from 'vitest'
import { silentLogger } from '../../src/core/logger.ts'
import { treadle } from '../../src/index.ts'
import { beanstalkdUrl, freshPrefix } from '../backends/beanstalkd-ground.ts'
import { freshPrefix as freshRedisPrefix, redisUrl } from '../backends/redis-ground.ts'

const options = { unsigned: true, logger: silentLogger } as const

describe('where coordination is', () => {
  test.each([
    ['memory:', /lost with the program/],
    ['beanstalkd://127.0.0.1', /is a broker itself/],
    ['mongodb://127.0.0.1', /No backend opens/],
    [7 as never, /must be the URL of a database/],
  ])('%s is refused', (coordination, why) => {
    expect(() => treadle('beanstalkd://127.0.0.1', { ...options, coordination })).toThrow(why)
    expect(() => treadle({ backends: { default: { url: 'beanstalkd://127.0.0.1', coordination } }, ...options })).toThrow(why)
  })

  test('nothing but a broker has one', async () => {
    await using jobs = treadle('memory:', { ...options, coordination: 'sqlite:coordination.db' })
    await expect(jobs.open()).rejects.toMatchObject({ code: 'CONFIG_INVALID', message: /coordination is for brokers/ })
  })

  test('it is known without its password', async () => {
    await using jobs = treadle('beanstalkd://127.0.0.1', { ...options, coordination: 'redis://app:secret@127.0.0.1' })
    expect(await jobs.coordination()).toMatch(/^redis:\/\/app:\*+@127\.0\.0\.1$/)
  })

  test('of several backends each has its own', async () => {
    const backends = {
      default: { url: 'beanstalkd://127.0.0.1', coordination: 'redis://one' },
      second: { url: 'beanstalkd://127.0.0.1', coordination: 'redis://two' },
      third: 'sqlite:third.db',
    }
    await using jobs = treadle({ backends, ...options })
    const named = await Promise.all(['default', 'second', 'third'].map(async (name) => (await jobs.backend(name)).coordination()))
    expect(named).toEqual(['redis://one', 'redis://two', null])
  })
})

describe.skipIf(beanstalkdUrl() === null)('a broker alone', () => {
  const open = () => treadle(`${beanstalkdUrl()}/${freshPrefix()}`, options)
  const line = /\{ coordination: 'redis:\/\/…' \}/

  test('refuses what needs a database when a worker starts, and says which line to add', async () => {
    await using limited = open()
    limited.define('limited', () => {}).concurrency(1)
    await expect(limited.work()).rejects.toMatchObject({ code: 'CAPABILITY_MISSING', message: line })
    await using scheduled = open()
    scheduled.define('scheduled', () => {}).everyMinute()
    await expect(scheduled.work()).rejects.toMatchObject({ code: 'CAPABILITY_MISSING', message: line })
  })

  test('refuses keys when they are dispatched, and looking', async () => {
    await using jobs = open()
    const job = jobs.define('job', () => {})
    await expect(job.dispatch(null, { unique: 'a' })).rejects.toMatchObject({ code: 'CAPABILITY_MISSING', message: line })
    await expect(jobs.store()).rejects.toMatchObject({ code: 'CAPABILITY_MISSING', message: line })
  })
})

describe.skipIf(beanstalkdUrl() === null || redisUrl() === null)('a broker with Redis beside it', () => {
  let working: Promise<unknown> | undefined
  afterEach(() => working)

  function open() {
    const coordination = `${redisUrl()}/0?prefix=${freshRedisPrefix()}`
    return treadle(`${beanstalkdUrl()}/${freshPrefix()}`, { ...options, coordination })
  }

  test('gives the result of a job to the program that dispatched it, before and after it was claimed', async () => {
    await using jobs = open()
    const double = jobs.define('double', (n: number) => n * 2)
    const run = await double.dispatch(21)
    expect(await run.state()).toBe('ready')
    await expect(run.result({ timeout: '1ms' })).rejects.toMatchObject({ code: 'WAIT_TIMEOUT' })
    working = jobs.work({ signals: false })
    expect(await run.result()).toBe(42)
    expect(await run.state()).toBe('succeeded')
    await expect(jobs.handle('019b76da-a800-7103-8909-700df22307b6').result()).rejects.toMatchObject({ code: 'RUN_NOT_FOUND' })
  })

  test('lets a job wait for one that is still in the broker', async () => {
    await using jobs = open()
    const step = jobs.define('step', (n: number) => n + 1)
    const after = await step.dispatch(2, { dependsOn: await step.dispatch(1) })
    await jobs.run()
    expect(await after.result()).toBe(3)
  })

  test('knows a job of a large backlog from its first claim on', async () => {
    await using jobs = open()
    const step = jobs.define('step', (n: number) => n + 1)
    const [first] = await step.dispatchMany(Array.from({ length: 1_001 }, (_, n) => n))
    await expect(first?.state()).rejects.toMatchObject({ code: 'RUN_NOT_FOUND', message: /from its first claim on/ })
    await expect(first?.result({ timeout: '1ms' })).rejects.toMatchObject({ code: 'WAIT_TIMEOUT', message: /not claimed yet/ })
    const waiting = step.dispatch(2, { dependsOn: first! })
    await expect(waiting).rejects.toMatchObject({ code: 'CAPABILITY_MISSING', message: /one workflow/ })
    await jobs.run({ limit: 1 })
    expect(await first?.result()).toBe(1)
  })

  test('keeps dead jobs in the store, to be replayed', async () => {
    await using jobs = open()
    let isBroken = true
    const job = jobs
      .define('job', () => {
        if (isBroken) throw new Error('broken')
        return 'mended'
      })
      .retries(0, { jitter: 'none' })
    const run = await job.dispatch(null)
    await jobs.run()
    const store = await jobs.store()
    const [dead] = await store.list({ state: 'dead', limit: 10 })
    expect(dead).toMatchObject({ id: run.id, reason: 'exhausted', attempts: 1 })
    isBroken = false
    expect(await store.retry([run.id])).toEqual(['requeued'])
    await jobs.run()
    expect(await run.result()).toBe('mended')
  })
})
