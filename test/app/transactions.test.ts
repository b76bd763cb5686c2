import { type JobContext, type SqlTransaction, type Treadle, treadle } from 'treadle'
import { afterEach, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { nextTurn } from '../../src/core/time/clock.ts'
import { query, scratchFolder } from '../processes/database.ts'

const folder = scratchFolder()
const opened: Treadle[] = []
let files = 0

afterEach(async () => {
  await Promise.all(opened.splice(0).map((jobs) => jobs.close()))
})

function program() {
  const path = folder.file(`${++files}.db`)
  const log: string[] = []
  const say = (line: string) => void log.push(line)
  const jobs = treadle(`sqlite:${path}`, { logger: { debug: say, info: say, warn: say, error: say } })
  opened.push(jobs)
  const rows = () => query<{ value: string }>(path, 'SELECT value FROM written ORDER BY value').map(({ value }) => value)
  return { jobs, log, rows, path }
}

function write(value: string, ctx: JobContext, after: () => unknown = () => value) {
  return ctx.transaction((tx: SqlTransaction) => {
    tx.run('CREATE TABLE IF NOT EXISTS written (value TEXT)')
    tx.run('INSERT INTO written VALUES (?)', value)
    return after()
  })
}

describe('an effectively-once job', () => {
  it('ends with its writes, and its result is that of the transaction', async () => {
    const { jobs, rows } = program()
    const seen: unknown[] = []
    const job = jobs
      .define('job', async (_: unknown, ctx) => {
        seen.push(await write('one', ctx, () => ({ rows: 1 })))
        return 'ignored'
      })
      .delivery('effectively-once')
      .onSuccess((result) => void seen.push(result))
    const run = await job.dispatch({})
    expect(await jobs.run()).toMatchObject({ succeeded: 1 })
    expect(await run.result()).toEqual({ rows: 1 })
    expect(seen).toEqual([{ rows: 1 }, { rows: 1 }])
    expect(rows()).toEqual(['one'])
  })

  it('is dead when a child of it has failed, and what it wrote is rolled back', async () => {
    const { jobs, rows, log } = program()
    jobs.define('child', () => {
      throw new Error('no luck')
    })
    const seen: unknown[] = []
    const job = jobs
      .define('job', async (_: unknown, ctx) => {
        const child = await ctx.dispatchChild('child')
        while ((await child.state()) !== 'dead') await nextTurn()
        await write('one', ctx).catch((thrown: unknown) => seen.push(thrown))
      })
      .delivery('effectively-once')
      .onSuccess(() => void seen.push('a success'))
    const run = await job.dispatch({})
    await jobs.run()
    expect(await run.state()).toBe('dead')
    expect(seen).toMatchObject([{ code: 'STOPPED', message: expect.stringContaining('rolled back') }])
    expect(rows).toThrow('written')
    expect(log.join()).not.toContain('has succeeded')
  })

  it('has succeeded once the transaction is committed, whatever the handler does after it', async () => {
    const { jobs, rows, log } = program()
    const job = jobs
      .define('job', async (_: unknown, ctx) => {
        await write('one', ctx)
        throw new Error('too late')
      })
      .delivery('effectively-once')
      .retries(3, { jitter: 'none' })
    const run = await job.dispatch({})
    expect(await jobs.run()).toMatchObject({ succeeded: 1 })
    expect(await run.result()).toBe('one')
    expect(rows()).toEqual(['one'])
    expect(log.some((line) => line.includes('then threw: too late'))).toBe(true)
  })

  it('writes nothing when its function throws, and is tried again', async () => {
    const { jobs, rows } = program()
    const job = jobs
      .define('job', (_: unknown, ctx) =>
        write(`attempt ${ctx.attempt}`, ctx, () => {
          if (ctx.attempt === 1) throw new Error('no')
        }),
      )
      .delivery('effectively-once')
      .retries(1, { strategy: 'none' })
    const run = await job.dispatch({})
    await jobs.run()
    expect(await run.state()).toBe('succeeded')
    expect(rows()).toEqual(['attempt 2'])
  })

  it('refuses a function that gives a promise, and writes nothing of it', async () => {
    const { jobs, path } = program()
    const job = jobs.define('job', (_: unknown, ctx) => write('half', ctx, async () => 1)).delivery('effectively-once')
    const run = await job.dispatch({})
    await jobs.run()
    expect(await (await jobs.store()).get(run.id)).toMatchObject({ state: 'dead', errors: [{ code: 'DELIVERY_INVALID' }] })
    expect(query(path, "SELECT name FROM sqlite_schema WHERE name = 'written'")).toEqual([])
  })

  it('ends once: a second transaction after the first is refused, and changes nothing', async () => {
    const { jobs, rows, log } = program()
    const job = jobs
      .define('job', async (_: unknown, ctx) => {
        await write('one', ctx)
        await write('two', ctx)
      })
      .delivery('effectively-once')
    const run = await job.dispatch({})
    await jobs.run()
    expect(await run.state()).toBe('succeeded')
    expect(rows()).toEqual(['one'])
    expect(log.some((line) => line.includes('can be called once'))).toBe(true)
  })

  it('is cut off, and writes nothing, when its lease is lost', async () => {
    const { jobs, path } = program()
    const job = jobs
      .define('job', async (_: unknown, ctx) => {
        const owner = (await (await jobs.store()).get(ctx.id))?.owner as string
        await (await jobs.open()).reap(0, [owner])
        await write('lost', ctx)
      })
      .delivery('effectively-once')
    const run = await job.dispatch({})
    // It is given up when it was lost alone, and not beside others.
    expect(await jobs.run()).toMatchObject({ lost: 4 })
    expect(await run.state()).toBe('dead')
    expect(query(path, "SELECT name FROM sqlite_schema WHERE name = 'written'")).toEqual([])
  })

  it('checks its result before the commit, and keeps its idempotency key', async () => {
    const { jobs, rows } = program()
    const output = z.number()
    const job = jobs
      .define('job', { output }, (value: unknown, ctx) => write(String(value), ctx, () => value) as Promise<number>)
      .delivery('effectively-once')
      .idempotencyKey((value) => `key:${String(value)}`)
    await job.dispatch(1)
    await jobs.run()
    const [double, wrong] = [await job.dispatch(1), await job.dispatch('text')]
    await jobs.run()
    expect([await double.state(), await double.result()]).toEqual(['skipped', 1])
    expect(await wrong.state()).toBe('dead')
    expect(rows()).toEqual(['1'])
  })

  it('may end without a transaction where there is nothing to write', async () => {
    const { jobs } = program()
    const run = await jobs
      .define('job', async () => 'nothing')
      .delivery('effectively-once')
      .dispatch()
    await jobs.run()
    expect(await run.result()).toBe('nothing')
  })

  it.each([
    ['waits for its child', { delay: '1h' }, 'ready' as const, 'waiting', 'job:waiting'],
    ['is dead with its child', {}, 'dead' as const, 'dead', 'job:dead'],
  ])('that %s when its transaction ends is not told to have succeeded', async (_, options, child, count, event) => {
    const { jobs } = program()
    const fail = () => Promise.reject(new Error('no'))
    jobs.define('child', fail)
    const job = jobs
      .define('parent', async (_payload: unknown, ctx) => {
        const run = await ctx.dispatchChild('child', null, options)
        if (child === 'dead') await run.result().catch(() => {})
        return write('one', ctx)
      })
      .delivery('effectively-once')
    await job.dispatch({})
    const told: string[] = []
    for (const name of ['job:succeeded', 'job:waiting', 'job:dead'] as const) {
      jobs.on(name, ({ job }) => void (job === 'parent' && told.push(name)))
    }
    expect((await jobs.run({ concurrency: 2 }))[count as 'waiting' | 'dead']).toBeGreaterThan(0)
    expect(told).toEqual([event])
  })
})
