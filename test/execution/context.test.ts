import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { openMemory } from '../../src/engines/memory/index.ts'
import { ManualClock } from '../../src/testing/manual-clock.ts'
import { gate, world, worldOn } from '../world.ts'

describe('what a handler sees of its run', () => {
  it('A2, D15: is all of it, with attempts counted from 1', async () => {
    const { jobs } = world()
    const seen: object[] = []
    const job = jobs
      .define('mail', async (payload: { to: string }, context) => {
        const { id, job: key, name, queue, attempt, maxAttempts, meta } = context
        seen.push({ id, key, name, queue, attempt, maxAttempts, meta, isSame: context.payload === payload })
      })
      .named('Send mail')
      .queue('mail')
      .retries(2)
      .meta({ tenant: 'acme', region: 'eu' })
    const run = await job.dispatch({ to: 'ada' }, { queue: 'slow', meta: { region: 'us' } })
    await jobs.run()
    expect(seen).toEqual([
      {
        id: run.id,
        key: 'mail',
        name: 'Send mail',
        queue: 'slow',
        attempt: 1,
        maxAttempts: 3,
        meta: { tenant: 'acme', region: 'us' },
        isSame: true,
      },
    ])
  })

  it('can be taken apart', async () => {
    const { jobs, record } = world()
    const job = jobs.define('mail', async (_, { signal, progress, heartbeat, logger, snooze }) => {
      await progress(0.5)
      logger.info('half')
      return [signal.aborted, await heartbeat(), typeof snooze]
    })
    const run = await job.dispatch()
    await jobs.run()
    expect(await record(run)).toMatchObject({ state: 'succeeded', progress: '0.5', result: '[false,true,"function"]' })
  })

  it('has a logger that says which job speaks', async () => {
    const { jobs, log } = world()
    const job = jobs
      .define('mail', async (_, { logger }) => {
        for (const level of ['debug', 'info', 'warn', 'error'] as const) logger[level](`a ${level}`)
      })
      .named('Mail')
    const { id } = await job.dispatch()
    await jobs.run()
    expect(log).toEqual(['debug', 'info', 'warn', 'error'].map((level) => `${level} [Mail ${id}] a ${level}`))
  })

  it('can report its progress: a share, or any JSON', async () => {
    const { jobs, clock } = world()
    const { open, opened } = gate()
    const job = jobs.define('import', async (_, { progress }) => {
      await progress({ rows: 5, of: 9 })
      await opened
      await progress(1)
    })
    const run = await job.dispatch()
    expect(await run.progress()).toBeNull()
    const pass = jobs.run()
    await clock.advance(0)
    expect(await run.progress()).toEqual({ rows: 5, of: 9 })
    open()
    await pass
    expect(await run.progress()).toBe(1)
  })

  it('refuses a progress that is not JSON', async () => {
    const { jobs, record } = world()
    const run = await jobs.define('import', async (_, { progress }) => progress(Number.NaN)).dispatch()
    await jobs.run()
    expect(await record(run)).toMatchObject({ state: 'dead', errors: [{ code: 'PAYLOAD_NOT_JSON' }] })
  })

  it('A2: can renew its lease, and is told when another worker has the job now', async () => {
    const clock = new ManualClock()
    const memory = openMemory({ clock })
    const extend = memory.extend.bind(memory)
    let isLost = false
    Object.assign(memory, { extend: async (tokens: string[], ms: number) => (isLost ? ['lost'] : extend(tokens, ms)) })
    const { jobs, names } = worldOn(memory, clock)
    const answers: unknown[] = []
    const job = jobs.define('long', async (_, { heartbeat, signal }) => {
      answers.push(await heartbeat(), signal.aborted)
      isLost = true
      answers.push(await heartbeat(), signal.aborted)
      signal.throwIfAborted()
    })
    await job.dispatch()
    expect(await jobs.run()).toMatchObject({ lost: 1 })
    expect(answers).toEqual([true, false, false, true])
    expect(names()).toEqual(['job:started', 'job:lost'])
  })
})

describe('the result of a run', () => {
  it.each<[string, unknown, unknown]>([
    ['an object', { sent: 3 }, { sent: 3 }],
    ['a text', 'sent', 'sent'],
    ['null', null, null],
    ['false', false, false],
    ['nothing', undefined, undefined],
    ['a date, as JSON knows it', new Date(0), '1970-01-01T00:00:00.000Z'],
  ])('is kept: %s', async (_, returned, kept) => {
    const { jobs } = world()
    const run = await jobs.define('mail', async () => returned).dispatch()
    await jobs.run()
    expect(await run.result()).toEqual(kept)
  })

  it('that is not JSON is left out with a warning: the work was done', async () => {
    const { jobs, record, log } = world()
    const run = await jobs.define('mail', async () => ({ count: 1n })).dispatch()
    expect(await jobs.run()).toMatchObject({ succeeded: 1 })
    expect(await record(run)).toMatchObject({ state: 'succeeded', result: null })
    expect(log).toEqual(['warn The result of "mail" is not JSON: "count" is a bigint; it is not stored'])
  })

  it('that is too large is left out with a warning', async () => {
    const { jobs, record, log } = world()
    const run = await jobs.define('mail', async () => 'x'.repeat(1_100_000)).dispatch()
    await jobs.run()
    expect(await record(run)).toMatchObject({ state: 'succeeded', result: null })
    expect(log).toEqual([expect.stringContaining('more than the 1048576 allowed')])
  })

  it('must fit the schema of the output, or the attempt has failed', async () => {
    const { jobs, record, clock } = world()
    const output = z.object({ sent: z.number() })
    const results: unknown[] = [{ sent: 'three' }, { sent: 3, extra: true }]
    const job = jobs.define('mail', { output }, async () => results.shift() as { sent: number }).retries(1)
    const run = await job.dispatch()
    expect(await jobs.run()).toMatchObject({ retried: 1 })
    expect((await record(run)).errors).toMatchObject([{ code: 'RESULT_INVALID' }])
    await clock.advance(1_000)
    await jobs.run()
    expect(await record(run)).toMatchObject({ state: 'succeeded', result: '{"sent":3}' })
  })
})
