import { describe, expect, expectTypeOf, it } from 'vitest'
import type { Run } from '../../src/definition/dispatching/run.ts'
import { openMemory } from '../../src/engines/memory/index.ts'
import type { WholeBackend } from '../../src/queue/contract/contract.ts'
import { ManualClock } from '../../src/testing/manual-clock.ts'
import { world, worldOn } from '../world.ts'

class Greet {
  handle(payload: { name: string }) {
    return `hello ${payload.name}`
  }
}

describe('J7: a dispatch that names its job last', () => {
  it('J23: takes a duration in place of the options as the delay, as jobs.dispatch does, and nothing else', async () => {
    const { jobs, record, clock } = world()
    const greet = jobs.define('greet', (payload: { name: string }) => payload.name)
    const ada = { name: 'Ada' }
    const runs = [
      await jobs.dispatch('greet', ada, '1m'),
      await jobs.args(ada).dispatch('greet', '1m' as never),
      await jobs.delay('1h').dispatch('greet', ada, 60_000 as never),
    ]
    const told = await Promise.all(runs.map(record))
    expect(told.map(({ runAt }) => runAt - clock.now())).toEqual([60_000, 60_000, 60_000])
    await expect(jobs.args(ada).dispatch('greet', true as never)).rejects.toThrow('delay must be')
    await expect(greet.delay('1h').dispatch(ada, true as never)).rejects.toThrow('delay must be')
    await expect(jobs.at(new Date(0)).dispatch('greet', ada, '1m' as never)).rejects.toThrow(/delay|at/)
  })

  it('begins with the payload, the delay or the instant, in any order', async () => {
    const { jobs, record, clock } = world()
    const greet = jobs.define('greet', (payload: { name: string }) => payload.name)
    const at = new Date(Date.UTC(2030, 0, 1))
    const ada = { name: 'Ada' }
    const runs = [
      await jobs.args(ada).dispatch('greet'),
      await jobs.delay('1h').dispatch('greet', ada),
      await jobs.at(at).args(ada).dispatch(greet),
      await jobs.delay('1h').at(null).dispatch(greet, ada, { priority: 9 }),
      await jobs.args(ada).delay('5m').dispatch(Greet),
      await jobs.args(ada).at(at).dispatch(greet.toDefinition().withQueue('fast')),
    ]
    const told = await Promise.all(runs.map(record))
    expect(told.map(({ payload }) => payload)).toEqual(runs.map(() => '{"name":"Ada"}'))
    const now = clock.now()
    expect(told.map(({ runAt }) => runAt)).toEqual([now, now + 3_600_000, at.getTime(), now, now + 300_000, at.getTime()])
    expect(told.map(({ job, queue, priority }) => [job, queue, priority])).toEqual([
      ['greet', 'default', 5],
      ['greet', 'default', 5],
      ['greet', 'default', 5],
      ['greet', 'default', 9],
      ['Greet', 'default', 5],
      ['greet', 'fast', 5],
    ])
  })

  it('Z2: takes a function as the handler of this one job, with the payload and the time of the draft', async () => {
    const { jobs, clock, record } = world()
    const runs = [
      await jobs.args({ name: 'Ada' }).dispatch('upload', ({ name }) => `${name} is uploaded`),
      await jobs.delay('1h').dispatch('upload', () => 'an hour later'),
      await jobs
        .at(null)
        .args({ name: 'Bob' })
        .delay('1m')
        .dispatch('upload', ({ name }) => name.length, { priority: 9 }),
    ] as const
    expectTypeOf(runs[2]).toEqualTypeOf<Run<number>>()
    expect((await record(runs[2])).priority).toBe(9)
    for (const time of [0, 60_000, 3_600_000]) {
      await clock.advance(time)
      await jobs.run()
    }
    expect(await Promise.all(runs.map((run) => run.result()))).toEqual(['Ada is uploaded', 'an hour later', 3])
    expect(jobs.has('upload')).toBe(false)
  })

  it('can be used again: nothing of it is changed', async () => {
    const { jobs, record } = world()
    jobs.define('greet', () => {})
    const soon = jobs.delay('1m')
    await soon.at(null).dispatch('greet')
    expect((await record(await soon.dispatch('greet'))).state).toBe('scheduled')
  })
})

describe('Z17: rescheduling', () => {
  it('takes so long from now, as well as an instant', async () => {
    const { jobs, record, clock } = world()
    const run = await jobs.define('greet', () => {}).dispatch()
    await run.reschedule('10m')
    expect((await record(run)).runAt).toBe(clock.now() + 600_000)
    await run.reschedule(250)
    expect((await record(run)).runAt).toBe(clock.now() + 250)
    await run.reschedule('2030-06-10T09:00:00Z')
    expect((await record(run)).runAt).toBe(Date.UTC(2030, 5, 10, 9))
    await expect(run.reschedule('soon')).rejects.toMatchObject({ code: 'INSTANT_INVALID' })
  })
})

describe('D10: scheduledAt', () => {
  it('is the earliest run of dispatches that say no other time', async () => {
    const { jobs, record, clock } = world()
    const at = new Date(Date.UTC(2030, 0, 1))
    const job = jobs.define('remind', () => {}).scheduledAt(at)
    const runs = [await job.dispatch(), await job.dispatch(null, { delay: '1m' }), await job.at(null).dispatch()]
    const times = await Promise.all(runs.map(async (run) => (await record(run)).runAt))
    expect(times).toEqual([at.getTime(), clock.now() + 60_000, clock.now()])
  })
})

describe('an idempotency key on a queue without coordination', () => {
  it('is refused when the worker starts, and not by its first job', async () => {
    const clock = new ManualClock()
    const whole = openMemory({ clock })
    const without = new Proxy(whole, {
      get: (backend, name) => {
        if (name === 'coordination') return undefined
        const value: unknown = Reflect.get(backend, name, backend)
        return typeof value === 'function' ? value.bind(backend) : value
      },
    }) as WholeBackend
    const { jobs } = worldOn(without, clock)
    jobs.define('pay', () => {}).idempotencyKey('once')
    await expect(jobs.run()).rejects.toMatchObject({
      code: 'CAPABILITY_MISSING',
      message: expect.stringContaining('"pay" has an idempotency key'),
    })
  })
})
