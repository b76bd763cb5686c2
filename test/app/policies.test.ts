import { describe, expect, it } from 'vitest'
import { retryPresets } from '../../src/definition/policies/retry.ts'
import { world } from '../world.ts'

const failing = () => {
  throw new Error('it broke')
}

describe('hooks of the instance', () => {
  it('are those of all jobs, after the hooks of the job itself', async () => {
    const { jobs } = world()
    const told: string[] = []
    jobs
      .before((_, ctx) => told.push(`before ${ctx.job}`))
      .onSuccess((result, _, ctx) => told.push(`${ctx.job} gave ${result}`))
      .onError((error, _, ctx) => told.push(`${ctx.job} threw ${(error as Error).message}`))
      .finally((_, ctx) => told.push(`finally ${ctx.job}`))
    await jobs
      .define('good', () => 7)
      .onSuccess(() => told.push('its own'))
      .dispatch()
    await jobs.run()
    await jobs.define('bad', failing).dispatch()
    await jobs.run()
    expect(told).toEqual([
      'before good',
      'its own',
      'good gave 7',
      'finally good',
      'before bad',
      'bad threw it broke',
      'finally bad',
    ])
  })

  it('are refused where they are no functions', () => {
    expect(() => world().jobs.onError(7 as never)).toThrow(expect.objectContaining({ code: 'CONFIG_INVALID' }))
  })
})

describe('Z9: failWhen', () => {
  it('makes a failure of a result, which is retried as any other', async () => {
    const { jobs, record, clock } = world()
    let calls = 0
    const errors: unknown[] = []
    const run = await jobs
      .define('sync', () => ++calls > 1)
      .failWhen((result) => result === false)
      .retries(1)
      .onError((error) => errors.push(error))
      .dispatch()
    await jobs.run()
    expect(await record(run)).toMatchObject({ attempts: 1, errors: [{ code: 'RESULT_FAILED' }] })
    await clock.advance(60_000)
    await jobs.run()
    expect([await run.result(), errors]).toEqual([true, [expect.objectContaining({ code: 'RESULT_FAILED' })]])
  })

  it('holds for all jobs where the instance says it', async () => {
    const { jobs, record } = world()
    jobs.failWhen((result) => result === false)
    const runs = [await jobs.define('a', () => false).dispatch(), await jobs.define('b', () => 0).dispatch()]
    await jobs.run()
    expect(await Promise.all(runs.map(async (run) => (await record(run)).state))).toEqual(['dead', 'succeeded'])
  })
})

describe('Z20: a backoff of its own', () => {
  it('is a function of the attempt and the error', async () => {
    const { jobs, record, clock } = world()
    const asked: unknown[] = []
    const run = await jobs
      .define('sync', failing)
      .retries(3, (attempt, error) => {
        asked.push([attempt, (error as Error).message])
        return attempt === 1 ? '5s' : 250
      })
      .dispatch()
    await jobs.run()
    expect((await record(run)).runAt).toBe(clock.now() + 5_000)
    await clock.advance(5_000)
    await jobs.run()
    expect((await record(run)).runAt).toBe(clock.now() + 250)
    expect(asked).toEqual([
      [1, 'it broke'],
      [2, 'it broke'],
    ])
  })

  it.each([
    ['throws', failing],
    ['gives no duration', () => 'soon'],
    ['gives nothing', () => undefined as never],
  ])('is as if it was not there where it %s, with a warning', async (_, backoff) => {
    const { jobs, record, clock, log } = world()
    const run = await jobs.define('sync', failing).retries(1).backoff(backoff).dispatch()
    await jobs.run()
    const { state, runAt } = await record(run)
    expect(['scheduled', 'ready']).toContain(state)
    expect(runAt - clock.now()).toBeLessThanOrEqual(1_000)
    expect(log.join('\n')).toContain('Job "sync": its backoff function failed, so the default backoff is used')
  })

  it('a retryIf that throws is as if it was not there, with a warning', async () => {
    const { jobs, record, log } = world()
    const run = await jobs.define('sync', failing).retries(1).retryIf(failing).dispatch()
    await jobs.run()
    expect((await record(run)).reason).toBe(null)
    expect(log.join('\n')).toContain('Job "sync": its retryIf function failed, so the error is retried: it broke')
  })

  it('and only some errors are retried', async () => {
    const { jobs, record } = world()
    class RateLimited extends Error {}
    const run = (error: Error) =>
      jobs
        .define(error.message, () => {
          throw error
        })
        .retries(5, retryPresets.immediate)
        .retryIf((thrown) => thrown instanceof RateLimited)
        .dispatch()
    const runs = [await run(new RateLimited('limited')), await run(new Error('broken'))]
    await jobs.run()
    expect(await Promise.all(runs.map(async (each) => (await record(each)).attempts))).toEqual([6, 1])
  })
})
