import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Treadle, treadle } from 'treadle'
import { drain, ManualClock } from 'treadle/testing'
import { afterAll, afterEach, beforeEach, describe, expect, test } from 'vitest'
import { sealEnvelope } from '../../src/envelope/envelope.ts'

const start = new Date('2026-03-01T08:00:00Z').getTime()
const folder = mkdtempSync(join(tmpdir(), 'treadle-drain-'))
let databases = 0
let clock: ManualClock
let jobs: Treadle

afterAll(() => rmSync(folder, { recursive: true, force: true }))

describe.each(['memory', 'sqlite'])('draining a queue in %s', (kind) => {
  beforeEach(() => {
    clock = new ManualClock(start)
    jobs = treadle(kind === 'memory' ? 'memory:' : `sqlite:${join(folder, `${databases++}.db`)}`, { clock })
  })

  afterEach(() => jobs.close())

  test('an unknown option is refused with those that it has', async () => {
    await expect(drain(jobs, { untill: 1 } as never)).rejects.toMatchObject({
      code: 'CONFIG_INVALID',
      message: 'drain: unknown option "untill" (known: concurrency, queues, jobs, maxRescues, signal, clock, for)',
    })
  })

  test('without a clock it runs what is due and leaves what is not', async () => {
    const ran: string[] = []
    const note = jobs.define('note', (text: string) => void ran.push(text))
    await note.dispatch('now')
    await note.delay('1h').dispatch('later')
    expect(await drain(jobs)).toMatchObject({ succeeded: 1 })
    expect(ran).toEqual(['now'])
  })

  test('with a clock it moves on to where rates let the next job start', async () => {
    const ran: [number, number][] = []
    const note = jobs
      .define('note', (n: number) => void ran.push([n, (clock.now() - start) / 60_000]))
      .group((n) => (n % 2 === 0 ? 'even' : 'odd'), { rate: { limit: 1, per: '1h' } })
    const all = jobs.define('all', async (_: unknown, ctx) => {
      for (const n of [1, 2, 3, 4]) await ctx.dispatchChild(note, n)
      return (await ctx.children()).length
    })
    const run = await all.dispatch()
    expect(await drain(jobs, { clock })).toMatchObject({ succeeded: 5 })
    expect(await run.result()).toBe(4)
    expect(ran.sort(([a], [b]) => a - b)).toEqual([
      [1, 0],
      [2, 0],
      [3, 60],
      [4, 60],
    ])
  })

  test('with a clock it runs each job at its own instant', async () => {
    const ran: [string, number][] = []
    const note = jobs.define('note', (text: string) => void ran.push([text, clock.now() - start]))
    await note.delay('2h').dispatch('second')
    await note.delay('1h').dispatch('first')
    expect(await drain(jobs, { clock })).toMatchObject({ succeeded: 2 })
    expect(ran).toEqual([
      ['first', 3_600_000],
      ['second', 7_200_000],
    ])
  })

  test('it moves over retries and snoozes, and what they lead to is run too', async () => {
    const attempts: number[] = []
    jobs.define('after', () => {})
    const flaky = jobs
      .define('flaky', async (_: null, ctx) => {
        attempts.push(ctx.attempt)
        if (attempts.length === 1) ctx.snooze('10m')
        if (ctx.attempt < 3) throw new Error('not yet')
        await jobs.args(null).delay('1d').dispatch('after')
      })
      .retries(2, { strategy: 'fixed', base: '1m', jitter: 'none' })
    await flaky.dispatch(null)
    expect(await drain(jobs, { clock })).toMatchObject({ succeeded: 2, retried: 2, snoozed: 1, dead: 0 })
    expect(attempts).toEqual([1, 1, 2, 3])
    expect(clock.now() - start).toBe(12 * 60_000 + 86_400_000)
  })

  test('it does not wait for jobs that it would not run', async () => {
    jobs.define('note', () => {})
    await jobs.declare<null>('elsewhere').delay('2h').dispatch(null)
    await (await jobs.store()).setPaused({ queue: 'paused' }, true)
    await jobs.args(null).delay('3h').dispatch('note', { queue: 'paused' })
    await jobs.args(null).delay('4h').dispatch('note', { queue: 'other' })
    expect(await drain(jobs, { clock, queues: ['default', 'paused'] })).toMatchObject({ succeeded: 0 })
    expect(clock.now()).toBe(start)
  })

  test('schedules are followed only for a given time', async () => {
    const ran: string[] = []
    jobs.define('report', () => void ran.push(new Date(clock.now()).toISOString())).dailyAt('09:30')
    expect(await drain(jobs, { clock })).toMatchObject({ enqueued: 0, succeeded: 0 })
    expect(await drain(jobs, { clock, for: '2d' })).toMatchObject({ succeeded: 2 })
    expect(ran).toEqual(['2026-03-01T09:30:00.000Z', '2026-03-02T09:30:00.000Z'])
    expect(clock.now()).toBe(start + 2 * 86_400_000)
  })

  test('a repeat is followed for the given time, from the end of each run', async () => {
    const ran: number[] = []
    const poll = async () => {
      ran.push((clock.now() - start) / 1_000)
      await clock.advance(5_000)
    }
    jobs.define('poll', poll).repeat('FINISHED, +1 MINUTE')
    expect(await drain(jobs, { clock })).toMatchObject({ enqueued: 0, succeeded: 0 })
    expect(await drain(jobs, { clock, for: '4m' })).toMatchObject({ succeeded: 4, skipped: 0 })
    expect(ran).toEqual([0, 65, 130, 195])
    expect(clock.now()).toBe(start + 240_000)
  })

  test('what a repeat has to catch up with is run at once', async () => {
    const ran: number[] = []
    jobs.define('poll', () => void ran.push((clock.now() - start) / 3_600_000)).repeat('SCHEDULED, +1 HOUR')
    await drain(jobs, { clock, for: '1h' })
    await clock.advance(2.5 * 3_600_000)
    await drain(jobs, { clock, for: '1h' })
    expect(ran).toEqual([0, 1, 3.5, 3.5, 4])
  })

  test('a job that repeats as its sender said is followed for the given time', async () => {
    const ran: number[] = []
    jobs.define('tidy', () => void ran.push((clock.now() - start) / 3_600_000))
    const { backend, keys, newId } = await jobs.served()
    const terms = { queue: 'default', priority: 0, maxRetries: 0, timeoutMs: null, singleInstance: false }
    const identity = { id: newId(), job: 'tidy', name: 'tidy', ...terms, idempotencyKey: null, meta: {}, occurrence: null }
    const at = { createdAt: start, runAt: start, uniqueKey: null }
    await backend.send([sealEnvelope({ ...identity, repeat: 'SCHEDULED, +1 HOUR' }, 'null', at, keys)])
    expect(await drain(jobs, { clock, for: '150m' })).toMatchObject({ succeeded: 3 })
    expect(ran).toEqual([0, 1, 2])
  })
})

test('a job that snoozes for ever is told of, and does not hang the test', async () => {
  const manual = new ManualClock(start)
  await using snoozing = treadle('memory:', { clock: manual })
  await snoozing.define('sleepy', (_: null, ctx) => ctx.snooze('1m')).dispatch(null)
  await expect(drain(snoozing, { clock: manual })).rejects.toMatchObject({ code: 'WAIT_TIMEOUT' })
})

test('a time without a clock is refused', async () => {
  await using memory = treadle('memory:')
  await expect(drain(memory, { for: '1d' })).rejects.toMatchObject({ code: 'CONFIG_INVALID' })
})
