import { describe, expect, it } from 'vitest'
import { openMemory } from '../../src/engines/memory/index.ts'
import { ManualClock } from '../../src/testing/manual-clock.ts'
import { gate, world, worldOn } from '../world.ts'

describe('an idempotency key', () => {
  it('X17: does not stand in the way of a retry', async () => {
    const { jobs, clock, record } = world()
    const job = jobs
      .define('charge', async (_, { attempt }) => {
        if (attempt === 1) throw new Error('no answer')
        return 'charged'
      })
      .idempotencyKey('order:1')
      .retries(1)
    const run = await job.dispatch()
    await jobs.run()
    await clock.advance(1_000)
    await jobs.run()
    expect(await record(run)).toMatchObject({ state: 'succeeded', attempts: 2 })
  })

  it('A6, D18: skips a second job after the first has succeeded, without an attempt', async () => {
    const { jobs, record } = world()
    let charged = 0
    const job = jobs.define('charge', async (_: { order: number }) => charged++).idempotencyKey(({ order }) => `order:${order}`)
    const first = await job.dispatch({ order: 1 })
    await jobs.run()
    const [second, other] = [await job.dispatch({ order: 1 }), await job.dispatch({ order: 2 })]
    expect(await jobs.run()).toMatchObject({ succeeded: 1, skipped: 1 })
    expect(charged).toBe(2)
    expect(await record(first)).toMatchObject({ state: 'succeeded' })
    expect(await record(second)).toMatchObject({
      state: 'skipped',
      attempts: 0,
      reason: 'a job with the idempotency key "order:1" has succeeded',
    })
    expect(await record(other)).toMatchObject({ state: 'succeeded' })
  })

  it('A6: gives the second job the result of the first, for as long as the key is kept', async () => {
    const { jobs, clock, record } = world()
    let charged = 0
    const job = jobs
      .define('charge', async () => ({ charged: ++charged }))
      .idempotencyKey('order:1')
      .idempotencyTtl('1h')
    await job.dispatch()
    await jobs.run()
    const second = await job.dispatch()
    await jobs.run()
    expect(await record(second)).toMatchObject({ state: 'skipped', result: '{"charged":1}' })
    expect(await second.result()).toEqual({ charged: 1 })
    await clock.advance(3_600_000)
    const third = await job.dispatch()
    await jobs.run()
    expect(await third.result()).toEqual({ charged: 2 })
  })

  it('gives null for a first run without a result, and another skipped job has none to give', async () => {
    const { jobs } = world()
    const job = jobs.define('charge', async () => {}).idempotencyKey('order:1')
    await job.dispatch()
    await jobs.run()
    const second = await job.dispatch()
    const filtered = await jobs
      .define('filtered', async () => {})
      .skip(() => true)
      .dispatch()
    await jobs.run()
    expect(await second.result()).toBeNull()
    await expect(filtered.result()).rejects.toMatchObject({ code: 'RUN_FAILED' })
  })

  it('X17: of a job that died is free again', async () => {
    const { jobs, record } = world()
    let isBroken = true
    const job = jobs
      .define('charge', async () => {
        if (isBroken) throw new Error('no')
      })
      .idempotencyKey('order:1')
    await job.dispatch()
    await jobs.run()
    isBroken = false
    const second = await job.dispatch()
    await jobs.run()
    expect(await record(second)).toMatchObject({ state: 'succeeded' })
  })

  it('of a job that runs makes a second one wait, without an attempt', async () => {
    const { jobs, clock, record } = world()
    const { open, opened } = gate()
    const job = jobs.define('charge', () => opened).idempotencyKey('order:1')
    const [first, second] = [await job.dispatch(), await job.dispatch()]
    const pass = jobs.run()
    await clock.advance(0)
    expect(await record(second)).toMatchObject({ state: 'scheduled', attempts: 0, runAt: clock.now() + 1_000 })
    open()
    expect(await pass).toMatchObject({ succeeded: 1, snoozed: 1 })
    await clock.advance(1_000)
    await jobs.run()
    expect(await record(first)).toMatchObject({ state: 'succeeded' })
    expect(await record(second)).toMatchObject({ state: 'skipped', attempts: 0 })
  })

  it('D18: is remembered for its time, and not longer', async () => {
    const { jobs, clock, record } = world()
    const job = jobs
      .define('charge', async () => {})
      .idempotencyKey('order:1')
      .idempotencyTtl('1h')
    await job.dispatch()
    await jobs.run()
    await clock.advance(3_599_999)
    const within = await job.dispatch()
    await jobs.run()
    await clock.advance(1)
    const after = await job.dispatch()
    await jobs.run()
    expect(await record(within)).toMatchObject({ state: 'skipped' })
    expect(await record(after)).toMatchObject({ state: 'succeeded' })
  })

  it('of a run that a filter skipped is free', async () => {
    const { jobs, record } = world()
    let isOpen = false
    const job = jobs
      .define('charge', async () => {})
      .idempotencyKey('order:1')
      .when(() => isOpen)
    await job.dispatch()
    await jobs.run()
    isOpen = true
    const second = await job.dispatch()
    await jobs.run()
    expect(await record(second)).toMatchObject({ state: 'succeeded' })
  })

  it('D18: is not a unique key: both jobs are stored', async () => {
    const { jobs } = world()
    const job = jobs.define('charge', async () => {}).idempotencyKey('order:1')
    const [first, second] = [await job.dispatch(), await job.dispatch()]
    expect([first.created, second.created]).toEqual([true, true])
    expect(second.id).not.toBe(first.id)
  })

  it('that cannot be looked up puts the job off, and does not count as its failure', async () => {
    const clock = new ManualClock()
    const memory = openMemory({ clock })
    let failures = 1
    const { coordination } = memory
    Object.assign(memory, {
      coordination: {
        ...coordination,
        claimOnce: async (key: string, jobId: string) => {
          if (failures-- > 0) throw new Error('connection lost')
          return coordination.claimOnce(key, jobId)
        },
      },
    })
    const { jobs, record, log } = worldOn(memory, clock)
    const run = await jobs
      .define('charge', async () => {})
      .idempotencyKey('order:1')
      .dispatch()
    expect(await jobs.run()).toMatchObject({ snoozed: 1, dead: 0 })
    expect(await record(run)).toMatchObject({ state: 'scheduled', attempts: 0 })
    expect(log).toEqual([expect.stringContaining('connection lost')])
    await clock.advance(1_000)
    await jobs.run()
    expect(await record(run)).toMatchObject({ state: 'succeeded' })
  })
})
