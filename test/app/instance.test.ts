import { describe, expect, it } from 'vitest'
import { aborted, gate, until, world } from '../world.ts'

const quiet = { signals: false } as const

describe('an instance', () => {
  it('tells what happens, to whoever listens, until they stop', async () => {
    const { jobs, clock } = world()
    const heard: string[] = []
    const job = jobs
      .define('mail', async (_, { attempt, signal }) => {
        if (attempt === 1) throw new Error('no paper')
        if (attempt === 2) await aborted(signal)
      })
      .named('Mail')
      .queue('mail')
      .retries(2, { strategy: 'none' })
      .timeout('1s')
    jobs.on('job:started', ({ attempt }) => heard.push(`started ${attempt}`))
    jobs.on('job:failed', ({ error, retryInMs }) => heard.push(`failed ${(error as Error).message} ${retryInMs}`))
    jobs.on('job:succeeded', ({ job: key, name, queue, attempt, durationMs }) =>
      heard.push(`succeeded ${key} ${name} ${queue} ${attempt} ${durationMs >= 0}`),
    )
    const silent = jobs.on('job:started', () => heard.push('unheard'))
    silent()
    const run = await job.dispatch()
    const pass = jobs.run()
    await clock.advance(1_000)
    await pass
    expect(heard).toEqual([
      'started 1',
      'failed no paper 0',
      'started 2',
      `failed Job "mail" (${run.id}) was over its timeout 0`,
      'started 3',
      'succeeded mail Mail mail 3 true',
    ])
  })

  it('is not disturbed by a listener that throws', async () => {
    const { jobs, log } = world()
    jobs.on('job:started', () => {
      throw new Error('deaf')
    })
    jobs.on('job:succeeded', async () => {
      throw new Error('deaf later')
    })
    await jobs.define('mail', async () => {}).dispatch()
    expect(await jobs.run()).toMatchObject({ succeeded: 1 })
    await until(() => log.length === 2)
    expect(log).toEqual([
      'error a listener of "job:started" threw: deaf',
      'error a listener of "job:succeeded" threw: deaf later',
    ])
  })

  it('can declare a job of another program: it is dispatched here and never run here', async () => {
    const { jobs, record } = world()
    const job = jobs.declare<{ to: string }>('elsewhere').queue('remote').retries(3)
    jobs.define('mail', async () => {})
    const run = await job.dispatch({ to: 'ada' })
    expect(await jobs.run()).toMatchObject({ succeeded: 0 })
    expect(await record(run)).toMatchObject({ state: 'ready', queue: 'remote', maxRetries: 3, attempts: 0 })
  })

  it('refuses a second definition, one without a handler, and schemas that are none', () => {
    const { jobs } = world()
    jobs.define('mail', async () => {})
    expect(() => jobs.define('mail', async () => {})).toThrow(expect.objectContaining({ code: 'JOB_DUPLICATE' }))
    expect(() => jobs.declare('mail')).toThrow(expect.objectContaining({ code: 'JOB_DUPLICATE' }))
    expect(() => jobs.define('null', null as never)).toThrow(expect.objectContaining({ code: 'HANDLER_INVALID' }))
    expect(() => jobs.define('nothing', undefined as never)).toThrow(expect.objectContaining({ code: 'HANDLER_INVALID' }))
    expect(() => jobs.define('object', { input: {} } as never, async () => {})).toThrow(
      expect.objectContaining({ code: 'DEFINITION_INVALID' }),
    )
  })

  it('tells the problems of all its definitions at once', () => {
    const { jobs } = world()
    jobs.define('one', async () => {}).queue('two words')
    jobs.define('two', async () => {}).maxAttempts(0)
    jobs.define('sound', async () => {})
    expect(jobs.problems()).toHaveLength(2)
  })
})

describe('closing an instance', () => {
  it('leaves its queue open to the jobs that still run while it is being closed', async () => {
    const { jobs, names } = world()
    const entered = gate()
    const goOn = gate()
    const next = jobs.define('next', async () => {})
    const job = jobs.define('job', async () => {
      entered.open()
      await goOn.opened
      const [run] = await next.dispatchMany([1])
      return run?.state()
    })
    await job.dispatch()
    const working = jobs.work(quiet)
    await entered.opened
    const closing = jobs.close()
    await expect(jobs.work(quiet)).rejects.toThrow(expect.objectContaining({ code: 'WORKER_RUNNING' }))
    goOn.open()
    await Promise.all([closing, working])
    expect(names()).toEqual(['job:started', 'job:succeeded'])
  })

  it('stops its work first, can be done twice, and refuses every use afterwards', async () => {
    const { jobs, names, clock } = world()
    const { open, opened } = gate<string>()
    const job = jobs.define('mail', () => opened)
    await job.dispatch()
    const working = jobs.work(quiet)
    await until(() => names().includes('job:started'))
    const closing = jobs.close()
    open('sent')
    await closing
    expect(await working).toMatchObject({ succeeded: 1 })
    await jobs.close()
    const closed = expect.objectContaining({ code: 'BACKEND_CLOSED' })
    await expect(job.dispatch()).rejects.toThrow(closed)
    await expect(job.dispatchMany([null])).rejects.toThrow(closed)
    await expect(jobs.store()).rejects.toThrow(closed)
    await expect(jobs.run()).rejects.toThrow(closed)
    await expect(jobs.work(quiet)).rejects.toThrow(closed)
    expect(clock.nextTimerAt).toBeNull()
  })

  it('waits for dispatches that are under way', async () => {
    const { jobs } = world()
    const job = jobs.define('mail', async () => {})
    await jobs.open()
    const dispatched = Promise.all(Array.from({ length: 50 }, () => job.dispatch()))
    await new Promise((resolve) => setImmediate(resolve))
    await jobs.close()
    expect(await dispatched).toHaveLength(50)
  })

  it('does nothing where nothing was opened, and is what `await using` does', async () => {
    const { jobs } = world()
    await jobs[Symbol.asyncDispose]()
    await expect(jobs.open()).rejects.toThrow(expect.objectContaining({ code: 'BACKEND_CLOSED' }))
  })

  it('ends a pass that is under way', async () => {
    const { jobs, names, clock } = world()
    await jobs.define('long', (_, { signal }) => aborted(signal)).dispatch()
    const pass = jobs.run()
    await until(() => names().includes('job:started'))
    const closing = jobs.close()
    await clock.advance(40_000)
    await closing
    expect(await pass).toMatchObject({ released: 1 })
  })
})
