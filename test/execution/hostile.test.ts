import { describe, expect, it } from 'vitest'
import { world } from '../world.ts'

const fail = () => {
  throw new Error('read me not')
}
const never = () => new Promise<never>(() => {})

describe('a handler that throws what nobody can read', () => {
  it.each([
    ['code', () => Object.defineProperty(new Error('disk'), 'code', { get: () => fail() })],
    ['message', () => Object.defineProperty(new Error(), 'message', { get: () => fail() })],
    ['stack', () => Object.defineProperty(new Error('disk'), 'stack', { get: () => fail() })],
  ] as [string, () => unknown][])('fails its own job alone: a %s that throws', async (_, thrown) => {
    const { jobs, record } = world()
    const bad = await jobs
      .define('bad', () => {
        throw thrown()
      })
      .dispatch()
    const good = await jobs.define('good', async () => 1).dispatch()
    expect(await jobs.run()).toMatchObject({ dead: 1, succeeded: 1 })
    expect(await record(bad)).toMatchObject({ state: 'dead', reason: 'exhausted' })
    expect(await good.result()).toBe(1)
  })
})

describe('what never ends', () => {
  it('does not keep a job from its timeout when it is a filter', async () => {
    const { jobs, clock, record } = world()
    const run = await jobs
      .define('mail', async () => {})
      .when(never)
      .timeout('1s')
      .dispatch()
    const passing = jobs.run()
    await clock.advance(10_000)
    expect(await passing).toMatchObject({ dead: 1 })
    expect((await record(run)).errors[0]).toMatchObject({ code: 'TIMEOUT' })
  })

  it.each(['onSuccess', 'finally'] as const)(
    'does not keep a job that succeeded from being recorded when it is %s',
    async (hook) => {
      const { jobs, clock, record, log } = world()
      const run = await jobs
        .define('mail', async () => 7)
        [hook](never)
        .dispatch()
      const passing = jobs.run()
      await clock.advance(20_000)
      expect(await passing).toMatchObject({ succeeded: 1 })
      expect(await record(run)).toMatchObject({ state: 'succeeded', result: '7' })
      expect(log.join()).toContain('a hook failed: it did not end within 10s')
    },
  )
})
