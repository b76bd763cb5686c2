import { describe, expect, it, onTestFinished } from 'vitest'
import { treadle } from '../../src/app/treadle.ts'
import { loggerInto } from '../world.ts'

describe('sync:', () => {
  it('A13: runs a job where it is dispatched, under an id that says so', async () => {
    const { jobs } = program()
    const ran: unknown[] = []
    const job = jobs.define('mail', async (payload: { to: string }) => {
      ran.push(payload)
      return 'sent'
    })
    const run = await job.dispatch({ to: 'ada' })
    expect(ran).toEqual([{ to: 'ada' }])
    expect(run.id).toMatch(/^sync-[0-9a-f]{8}-/)
    expect(await run.state()).toBe('succeeded')
    expect(await run.result()).toBe('sent')
  })

  it('A13: retries inline, without the pauses, and ends as dead', async () => {
    const { jobs } = program()
    const attempts: number[] = []
    const job = jobs
      .define('fail', async (_, { attempt }) => {
        attempts.push(attempt)
        throw new Error('no')
      })
      .retries(3, { jitter: 'none' })
    const run = await job.dispatch()
    expect(attempts).toEqual([1, 2, 3, 4])
    expect(await run.state()).toBe('dead')
    await expect(run.result()).rejects.toThrow('no')
  })

  it('runs a delayed job at once: it holds nothing back', async () => {
    const { jobs } = program()
    const job = jobs.define('mail', async () => 'sent')
    expect(await (await job.delay('1h').dispatch()).state()).toBe('succeeded')
    expect(await (await job.at('2099-01-01T00:00:00Z').dispatch()).state()).toBe('succeeded')
  })

  it('has hooks, filters, keys and schemas like any other', async () => {
    const { jobs } = program()
    const called: string[] = []
    const job = jobs
      .define('mail', async () => {})
      .when(() => called.push('when') > 0)
      .before(() => called.push('before'))
      .onSuccess(() => called.push('onSuccess'))
      .idempotencyKey('once')
    const states = [await (await job.dispatch()).state(), await (await job.dispatch()).state()]
    expect(states).toEqual(['succeeded', 'skipped'])
    expect(called).toEqual(['when', 'before', 'onSuccess'])
  })

  it('lets a job dispatch another one, and many at once', async () => {
    const { jobs } = program()
    const ran: number[] = []
    const count = jobs.define('count', async (left: number): Promise<void> => {
      ran.push(left)
      if (left > 0) await count.dispatch(left - 1)
    })
    await count.dispatch(3)
    expect(ran).toEqual([3, 2, 1, 0])
    const runs = await count.dispatchMany([0, 0, 0])
    expect(await Promise.all(runs.map((run) => run.state()))).toEqual(['succeeded', 'succeeded', 'succeeded'])
    await Promise.all([count.dispatch(0), count.dispatch(0)])
    expect(ran).toHaveLength(9)
  })

  it('leaves a job alone that only another program handles', async () => {
    const { jobs } = program()
    jobs.define('mail', async () => {})
    const run = await jobs.declare('elsewhere').dispatch({})
    expect(await run.state()).toBe('ready')
  })
})

function program() {
  const log: string[] = []
  const jobs = treadle('sync:', { logger: loggerInto(log) })
  onTestFinished(() => jobs.close())
  return { jobs, log }
}
