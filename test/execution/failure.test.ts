import { describe, expect, it } from 'vitest'
import { PermanentError, TreadleError } from '../../src/core/errors.ts'
import { definitionDefaults, JobDefinition } from '../../src/definition/definition.ts'
import { outcomeOfFailure, settlementOf } from '../../src/execution/end/outcome.ts'
import { world } from '../world.ts'

describe('a job that fails', () => {
  it.each([
    [0, 1],
    [1, 2],
    [2, 3],
  ])('X2, A8: with maxRetries %d runs exactly %d times', async (maxRetries, runs) => {
    const { jobs, clock, record, happened } = world()
    const attempts: number[] = []
    const job = jobs
      .define('fail', async (_, { attempt, maxAttempts }) => {
        attempts.push(attempt)
        throw new Error(`no ${attempt} of ${maxAttempts}`)
      })
      .maxRetries(maxRetries)
    const run = await job.dispatch()
    for (let pass = 0; pass < 6; pass++) {
      await jobs.run()
      await clock.advance(60_000)
    }
    expect(attempts).toEqual(Array.from({ length: runs }, (_, index) => index + 1))
    const record_ = await record(run)
    expect(record_).toMatchObject({ state: 'dead', reason: 'exhausted', attempts: runs })
    expect(record_.errors.map(({ message }) => message)).toEqual(attempts.map((attempt) => `no ${attempt} of ${runs}`))
    expect(happened.map(({ name }) => name).filter((name) => name !== 'job:started')).toEqual([
      ...Array.from({ length: maxRetries }, () => 'job:failed'),
      'job:dead',
    ])
  })

  it('X2: runs as often as the dispatch says, where that says something', async () => {
    const { jobs, record } = world()
    const job = jobs
      .define('fail', async () => {
        throw new Error('no')
      })
      .retries(5)
      .backoff({ strategy: 'none' })
    const run = await job.dispatch({}, { maxRetries: 1 })
    expect(await jobs.run()).toMatchObject({ retried: 1, dead: 1 })
    expect(await record(run)).toMatchObject({ attempts: 2, maxRetries: 1 })
  })

  it('J33: waits for its backoff, to the millisecond, and says so', async () => {
    const { jobs, clock, record, happened } = world()
    const job = jobs
      .define('fail', async (_, { attempt }) => {
        if (attempt < 4) throw new Error('no')
      })
      .retries(5, { base: '2s', max: '60s', jitter: 'none' })
    const run = await job.dispatch()
    for (const delayMs of [2_000, 4_000, 8_000]) {
      await jobs.run()
      expect(await record(run)).toMatchObject({ state: 'scheduled', runAt: clock.now() + delayMs })
      await clock.advance(delayMs - 1)
      expect(await jobs.run()).toMatchObject({ succeeded: 0, retried: 0 })
      await clock.advance(1)
    }
    expect(await jobs.run()).toMatchObject({ succeeded: 1 })
    expect(happened.flatMap(({ event }) => ('retryInMs' in event ? [event.retryInMs] : []))).toEqual([2_000, 4_000, 8_000])
  })

  it('A26: is retried in one place only: one attempt is one call of the handler', async () => {
    const { jobs } = world()
    let calls = 0
    const job = jobs
      .define('fail', async () => {
        calls++
        throw new Error('no')
      })
      .retries(9)
    await job.dispatch()
    await jobs.run()
    expect(calls).toBe(1)
  })

  it('ends at once with a PermanentError', async () => {
    const { jobs, record, names } = world()
    const job = jobs
      .define('fail', async () => {
        throw new PermanentError('the address does not exist')
      })
      .retries(9)
    const run = await job.dispatch()
    await jobs.run()
    expect(await record(run)).toMatchObject({
      state: 'dead',
      reason: 'permanent',
      attempts: 1,
      errors: [{ message: 'the address does not exist' }],
    })
    expect(names()).toEqual(['job:started', 'job:dead'])
  })

  it('ends at once where retryIf says no, and is retried where it says yes', async () => {
    const { jobs, record } = world()
    const job = jobs
      .define('fail', async (status: number) => {
        throw Object.assign(new Error(`status ${status}`), { status })
      })
      .retries(9)
      .retryIf((error) => (error as { status: number }).status >= 500)
    const [teapot, busy] = await job.dispatchMany([418, 503])
    await jobs.run()
    expect(await record(teapot as never)).toMatchObject({ state: 'dead', reason: 'permanent' })
    expect(await record(busy as never)).toMatchObject({ state: 'scheduled' })
  })

  it('is retried where retryIf itself throws', async () => {
    const { jobs, record } = world()
    const job = jobs
      .define('fail', async () => {
        throw new Error('no')
      })
      .retries(1)
      .retryIf(() => {
        throw new TypeError('undefined is not an object')
      })
    const run = await job.dispatch()
    expect(await jobs.run()).toMatchObject({ retried: 1 })
    expect(await record(run)).toMatchObject({ state: 'scheduled', errors: [{ message: 'no' }] })
  })

  it.each<[string, unknown, object]>([
    ['a text', 'out of paper', { message: 'out of paper' }],
    ['nothing', undefined, { message: 'thrown: undefined' }],
    ['an object without any form', Object.create(null), { message: 'thrown: {}' }],
    ['an object', { message: 'duplicate key', code: '23505' }, { message: 'duplicate key', code: '23505' }],
    ['an error with a cause', new Error('x', { cause: new Error('y') }), { message: 'x: y' }],
    ['an error with a message that is none', Object.assign(new Error('x'), { message: { a: 1 } }), { message: '{ a: 1 }' }],
    ['an error with a stack that is none', Object.assign(new Error('x'), { stack: [1, 2] }), { message: 'x' }],
    ['an error with a code', Object.assign(new Error('x'), { code: 'ECONNREFUSED' }), { message: 'x', code: 'ECONNREFUSED' }],
    ['an error with a number for a code', Object.assign(new Error('x'), { code: 5 }), { message: 'x' }],
    ['an error of the library', new TreadleError('URL_REFUSED', 'x'), { message: 'x', code: 'URL_REFUSED' }],
    ['a very long message', new Error('x'.repeat(100_000)), { message: 'x'.repeat(2_000) }],
  ])('keeps what it threw: %s', async (_, thrown, error) => {
    const { jobs, record } = world()
    const run = await jobs
      .define('fail', async () => {
        throw thrown
      })
      .dispatch()
    await jobs.run()
    const [kept] = (await record(run)).errors
    expect(kept).toMatchObject({ attempt: 1, ...error })
    expect(JSON.stringify(kept).length).toBeLessThan(12_000)
  })

  it('X15: is dead and not gone, with its history, and can be run again', async () => {
    const { jobs, record, backend } = world()
    let isBroken = true
    const job = jobs.define('fail', async () => {
      if (isBroken) throw new Error('no')
      return 'mended'
    })
    const run = await job.dispatch()
    await jobs.run()
    isBroken = false
    expect(await backend.store.retry([run.id])).toEqual(['requeued'])
    await jobs.run()
    expect(await record(run)).toMatchObject({ state: 'succeeded', result: '"mended"', errors: [{ message: 'no' }] })
  })
})

describe('what is decided about a failure', () => {
  const definition = new JobDefinition({ ...definitionDefaults, job: 'a', name: 'a', handler: null, maxAttempts: 3 })
  const failed = { definition, maxAttempts: 3, random: () => 0.5 }

  it('is another attempt until the last one', () => {
    const kinds = [1, 2, 3, 4].map((attempt) => outcomeOfFailure(new Error('x'), { ...failed, attempt }).kind)
    expect(kinds).toEqual(['retry', 'retry', 'dead', 'dead'])
  })

  it('reaches the backend as one settlement, or as none where the job belongs to another worker', () => {
    const keep = { succeeded: 0, dead: 1, cancelled: 0, skipped: 1 }
    const settle = (outcome: Parameters<typeof settlementOf>[0]) => settlementOf(outcome, 't', 2, 50, keep)
    expect(settle({ kind: 'lost' })).toBeNull()
    expect(settle({ kind: 'release' })).toEqual({ token: 't', kind: 'snooze', delayMs: 0 })
    expect(settle({ kind: 'cancelled' })).toEqual({ token: 't', kind: 'cancelled', keep: false })
    expect(settle({ kind: 'skipped', why: 'w' })).toEqual({ token: 't', kind: 'skipped', why: 'w', keep: true })
    expect(settle({ kind: 'done', result: '1', once: null, again: null })).toEqual({
      token: 't',
      kind: 'done',
      result: '1',
      keep: false,
    })
    expect(settle({ kind: 'dead', reason: 'exhausted', error: 'no' })).toEqual({
      token: 't',
      kind: 'dead',
      reason: 'exhausted',
      error: { attempt: 2, at: 50, message: 'no' },
      keep: true,
    })
  })
})
