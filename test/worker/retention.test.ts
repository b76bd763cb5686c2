import { describe, expect, it } from 'vitest'
import type { FinalState } from '../../src/queue/contract/job-state.ts'
import { world, worldOn } from '../world.ts'
import { faultyBackend } from './faults.ts'

const quiet = { signals: false, poll: '1h' } as const
const hour = 3_600_000

describe('keeping ended jobs', () => {
  it('X16: is for as long as each outcome says', async () => {
    const keep = { succeeded: '1h', dead: '2h', cancelled: '3h', skipped: '4h' } as const
    const { jobs, clock, backend } = world({ keep })
    await jobs.define('sound', async () => {}).dispatch()
    await jobs.define('broken', () => Promise.reject(new Error('no'))).dispatch()
    await jobs
      .define('skipped', async () => {})
      .when(() => false)
      .dispatch()
    await (
      await jobs
        .define('cancelled', async () => {})
        .delay('1d')
        .dispatch()
    ).cancel()
    await jobs.run()
    const kept = async () => (await backend.store.list({ limit: 10 })).map(({ job }) => job).toSorted()
    expect(await jobs.prune()).toBe(0)
    await clock.advance(hour)
    expect(await jobs.prune()).toBe(0)
    await clock.advance(1)
    expect(await jobs.prune()).toBe(1)
    expect(await kept()).toEqual(['broken', 'cancelled', 'skipped'])
    await clock.advance(hour)
    expect(await jobs.prune()).toBe(1)
    expect(await kept()).toEqual(['cancelled', 'skipped'])
    await clock.advance(2 * hour)
    expect(await jobs.prune()).toBe(2)
  })

  it('X27: never touches a job that could still run, however old', async () => {
    const { jobs, clock, backend } = world({ keep: { succeeded: 0, dead: 0, cancelled: 0, skipped: 0 } })
    await jobs.define('mail', async () => {}).dispatch()
    await jobs.declare('nobody').dispatch()
    await jobs
      .define('later', async () => {})
      .delay('900d')
      .dispatch()
    await backend.lease({
      jobs: [{ job: 'mail', concurrency: null }],
      queues: null,
      limit: 1,
      leaseMs: 1_000,
      owner: 'x',
      maxRescues: 9,
    })
    await clock.advance(800 * 24 * hour)
    expect(await jobs.prune()).toBe(0)
    expect(await backend.store.list({ limit: 10 })).toHaveLength(3)
  })

  it.each<[FinalState]>([['succeeded'], ['dead'], ['cancelled'], ['skipped']])(
    'X16: of 0 deletes at once what is %s, and only that',
    async (outcome) => {
      const { jobs, backend } = world({ keep: { [outcome]: 0 } })
      await jobs.define('succeeded', async () => {}).dispatch()
      await jobs.define('dead', () => Promise.reject(new Error('no'))).dispatch()
      await jobs
        .define('skipped', async () => {})
        .when(() => false)
        .dispatch()
      const cancelled = jobs.define('cancelled', async (_, { signal }) => {
        await cancelledRun.cancel()
        signal.throwIfAborted()
      })
      const cancelledRun = await cancelled.dispatch()
      await jobs.run()
      const left = (await backend.store.list({ limit: 10 })).map(({ state }) => state).toSorted()
      expect(left).toEqual(['cancelled', 'dead', 'skipped', 'succeeded'].filter((state) => state !== outcome))
    },
  )

  it('X16: of 0 can be said for one job alone', async () => {
    const { jobs, backend, names } = world()
    await jobs
      .define('chatty', async () => {})
      .keep({ succeeded: 0 })
      .dispatch()
    await jobs.define('mail', async () => {}).dispatch()
    await jobs.run()
    expect((await backend.store.list({ limit: 10 })).map(({ job }) => job)).toEqual(['mail'])
    expect(names().filter((name) => name === 'job:succeeded')).toHaveLength(2)
  })

  it('is seen to once a minute by every worker, and goes on after a failure', async () => {
    const { backend, sound, clock } = faultyBackend()
    let failures = 1
    const removals: number[] = []
    const start = clock.now()
    const store = Object.assign(Object.create(sound.store) as typeof sound.store, {
      remove: async (filter: Parameters<typeof sound.store.remove>[0]) => {
        removals.push(clock.now() - start)
        if (failures-- > 0) throw new Error('remove failed')
        return sound.store.remove(filter)
      },
      get: (id: string) => sound.store.get(id),
      list: (filter: Parameters<typeof sound.store.list>[0]) => sound.store.list(filter),
      sweep: (request: Parameters<typeof sound.store.sweep>[0]) => sound.store.sweep(request),
    })
    const { jobs, happened } = worldOn({ ...backend, store }, clock, { keep: { succeeded: '90s' } })
    await jobs.define('mail', async () => {}).dispatch()
    const working = jobs.work(quiet)
    await clock.advance(60_000)
    expect(removals).toEqual([60_000])
    expect(happened.filter(({ name }) => name === 'worker:error')).toHaveLength(1)
    expect(await sound.store.list({ limit: 10 })).toHaveLength(1)
    await clock.advance(59_999)
    expect(removals).toEqual([60_000])
    await clock.advance(1)
    expect(await sound.store.list({ limit: 10 })).toHaveLength(0)
    await jobs.stop()
    await working
    expect(clock.nextTimerAt).toBeNull()
  })

  it('removes any number, and forgets idempotency keys whose time is over', async () => {
    const { jobs, clock, backend } = world({ keep: { succeeded: '1h' } })
    await jobs
      .define('mail', async () => {})
      .idempotencyKey('k')
      .idempotencyTtl('1h')
      .dispatch()
    await jobs.define('bulk', async () => {}).dispatchMany(Array.from({ length: 2_500 }, () => null))
    await jobs.run()
    await clock.advance(hour + 1)
    expect(await jobs.prune()).toBe(2_501)
    expect((await backend.store.sweep({ part: 'keys', limit: 10 })).changed).toBe(0)
  })
})
