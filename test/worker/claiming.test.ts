import { afterEach, describe, expect, it, onTestFinished, vi } from 'vitest'
import { gate, until, type World, world, worldOn } from '../world.ts'
import { faultyBackend } from './faults.ts'

const quiet = { signals: false } as const

describe('a worker', () => {
  it('runs as many jobs at once as it may, and not one more', async () => {
    const { jobs } = world()
    const meter = newMeter()
    const job = jobs.define('mail', () => meter.run())
    await job.dispatchMany(Array.from({ length: 7 }, () => null))
    const working = jobs.work({ ...quiet, concurrency: 3 })
    await until(() => meter.running === 3)
    await turns(20)
    expect(meter).toMatchObject({ running: 3, started: 3 })
    await meter.drain(7)
    await jobs.stop()
    expect(await working).toMatchObject({ succeeded: 7 })
    expect(meter.most).toBe(3)
  })

  it('takes up a job at once when one is dispatched, without waiting for its next look', async () => {
    const { jobs, clock } = world()
    const job = jobs.define('mail', async () => {})
    const working = jobs.work({ ...quiet, poll: '1h' })
    const before = clock.now()
    for (let sent = 0; sent < 5; sent++) {
      const run = await job.dispatch()
      await run.result()
    }
    expect(clock.now()).toBe(before)
    await jobs.stop()
    expect(await working).toMatchObject({ succeeded: 5 })
  })

  it('takes up the next job the moment that one ends, also with a single hand', async () => {
    const { jobs, clock } = world()
    const job = jobs.define('mail', async () => {})
    const runs = await job.dispatchMany(Array.from({ length: 40 }, () => null))
    const before = clock.now()
    const working = jobs.work({ ...quiet, concurrency: 1 })
    await Promise.all(runs.map((run) => run.result()))
    expect(clock.now()).toBe(before)
    await jobs.stop()
    await working
  })

  it('does not overlook a job that ends while it asks the queue: the next one starts without waiting', async () => {
    // Jobs seem to take long, so the worker leases only what it can start.
    let elapsedMs = 0
    vi.spyOn(performance, 'now').mockImplementation(() => (elapsedMs += 1_000))
    onTestFinished(() => void vi.restoreAllMocks())
    const { backend, sound, clock } = faultyBackend()
    const asked = gate()
    const answer = gate()
    const lease: typeof sound.lease = async (request) => {
      if (request.limit > 0) return sound.lease(request)
      asked.open()
      await answer.opened
      return sound.lease(request)
    }
    const { jobs } = worldOn({ ...backend, lease }, clock)
    const first = gate()
    const job = jobs.define('mail', async (isFirst: boolean) => (isFirst ? first.opened : undefined))
    const [, next] = await job.dispatchMany([true, false])
    const working = jobs.work({ ...quiet, concurrency: 1 })
    await clock.advance(1_000)
    await asked.opened
    first.open()
    await turns(10)
    answer.open()
    await next?.result()
    await jobs.stop()
    await working
  })

  it('asks for jobs only when it has room for some, also while others end as it asks', async () => {
    const { backend, sound, clock } = faultyBackend()
    const limits: number[] = []
    const lease: typeof sound.lease = async (request) => {
      limits.push(request.limit)
      // Jobs that were claimed ahead end in this time.
      await turns(50)
      return sound.lease(request)
    }
    const { jobs } = worldOn({ ...backend, lease }, clock)
    const job = jobs.define('mail', async () => {})
    await job.dispatchMany(Array.from({ length: 3_000 }, () => null))
    expect(await jobs.run({ concurrency: 10, scheduler: false })).toMatchObject({ succeeded: 3_000 })
    expect(limits.length).toBeGreaterThan(5)
    expect(limits.filter((limit) => limit === 0)).toEqual([])
  })

  it('J30, X38: takes only jobs that it has handlers for; others wait for a worker that has', async () => {
    const one = world()
    const two = one.other()
    const mail = one.jobs.define('mail', async () => 'one')
    const unknown = await two.jobs.define('report', async () => 'two').dispatch()
    const nobody = await one.jobs.declare('nobody').dispatch()
    const known = await mail.dispatch()
    await one.jobs.run()
    expect(await states(one, known, unknown, nobody)).toEqual(['succeeded', 'ready', 'ready'])
    await two.jobs.run()
    expect(await states(one, known, unknown, nobody)).toEqual(['succeeded', 'succeeded', 'ready'])
    expect(await one.record(nobody)).toMatchObject({ attempts: 0 })
  })

  it('J39, X38: takes only the queues and the jobs that it was told', async () => {
    const { jobs, ...rest } = world()
    const a = jobs.define('a', async () => {})
    const b = jobs.define('b', async () => {})
    const runs = [
      await a.dispatch({}, { queue: 'x' }),
      await b.dispatch({}, { queue: 'x' }),
      await a.dispatch({}, { queue: 'y' }),
    ]
    await jobs.run({ queues: ['x'], jobs: ['a'] })
    expect(await states({ jobs, ...rest }, ...runs)).toEqual(['succeeded', 'ready', 'ready'])
    await jobs.run({ queues: ['x', 'y'] })
    expect(await states({ jobs, ...rest }, ...runs)).toEqual(['succeeded', 'succeeded', 'succeeded'])
  })

  it('leaves a paused queue alone until it is resumed', async () => {
    const { jobs, backend, record } = world()
    const run = await jobs
      .define('mail', async () => {})
      .queue('mail')
      .dispatch()
    await backend.store.setPaused({ queue: 'mail' }, true)
    await jobs.run()
    expect(await record(run)).toMatchObject({ state: 'ready', attempts: 0 })
    await backend.store.setPaused({ queue: 'mail' }, false)
    await jobs.run()
    expect(await record(run)).toMatchObject({ state: 'succeeded' })
  })

  it('X1: takes the higher priority first, and of equals the one that came first', async () => {
    const { jobs } = world()
    const ran: string[] = []
    const job = jobs.define('mail', async (name: string) => void ran.push(name))
    await job.dispatch('normal')
    await job.dispatch('low', { priority: 'low' })
    await job.dispatch('critical', { priority: 'critical' })
    await job.dispatch('second normal')
    await job.dispatch('high', { priority: 10 })
    await jobs.run({ concurrency: 1 })
    expect(ran).toEqual(['critical', 'high', 'normal', 'second normal', 'low'])
  })

  it('starts a delayed job at its millisecond, not before, without polling for it', async () => {
    const { jobs, clock } = world()
    const startedAt: number[] = []
    const job = jobs.define('mail', async () => void startedAt.push(clock.now()))
    const working = jobs.work({ ...quiet, poll: '10m' })
    const before = clock.now()
    await job.delay(1_234).dispatch()
    await job.at(new Date(before + 4_321)).dispatch()
    await clock.advance(10_000)
    expect(startedAt).toEqual([before + 1_234, before + 4_321])
    await jobs.stop()
    await working
  })
})

describe('a limit per job', () => {
  it('X5, J31: holds over all workers, and whoever waits for it burns no attempt', async () => {
    const one = world()
    const two = one.other()
    const meter = newMeter()
    const define = ({ jobs }: World) => jobs.define('mail', () => meter.run()).concurrency(2)
    const [mail] = [define(one), define(two)]
    const runs = await mail.dispatchMany(Array.from({ length: 9 }, () => null))
    const working = [one.jobs.work({ ...quiet, concurrency: 4 }), two.jobs.work({ ...quiet, concurrency: 4 })]
    await until(() => meter.running === 2)
    await turns(20)
    await meter.drain(9)
    await Promise.all([one.jobs.stop(), two.jobs.stop()])
    await Promise.all(working)
    expect(meter.most).toBe(2)
    for (const run of runs) expect(await one.record(run)).toMatchObject({ state: 'succeeded', attempts: 1, rescues: 0 })
  })

  it('A21, X5: of one makes a job wait for the other, and never fails it', async () => {
    const { jobs, names } = world()
    const meter = newMeter()
    const job = jobs.define('dump', () => meter.run()).singleInstance()
    await job.dispatchMany([null, null, null])
    const working = jobs.work(quiet)
    await meter.drain(3)
    await jobs.stop()
    expect(await working).toMatchObject({ succeeded: 3, retried: 0, dead: 0, snoozed: 0 })
    expect(meter.most).toBe(1)
    expect(names()).not.toContain('job:failed')
  })

  it('X5: is none by default', async () => {
    const { jobs } = world()
    const meter = newMeter()
    await jobs.define('mail', () => meter.run()).dispatchMany(Array.from({ length: 10 }, () => null))
    const working = jobs.work(quiet)
    await until(() => meter.running === 10)
    await meter.drain(10)
    await jobs.stop()
    await working
  })

  it('J31: does not hold up other jobs', async () => {
    const { jobs } = world()
    const { open, opened } = gate()
    const alone = jobs.define('alone', () => opened).singleInstance()
    const free = jobs.define('free', async () => 'ran')
    await alone.dispatchMany([null, null, null], { priority: 'critical' })
    const run = await free.dispatch()
    const working = jobs.work(quiet)
    expect(await run.result()).toBe('ran')
    open()
    await jobs.stop()
    await working
  })
})

describe('prefetching', () => {
  afterEach(() => {
    vi.restoreAllMocks()
  })

  it('X20: gives back what has not begun when the worker stops: it is ready, with all its attempts, in its place', async () => {
    // Jobs seem to take no time at all, so the worker leases more than it can start.
    vi.spyOn(performance, 'now').mockReturnValue(0)
    const { jobs, backend, record, names } = world()
    const { open, opened } = gate()
    const job = jobs.define('mail', async (isSlow: boolean) => (isSlow ? opened : undefined))
    const runs = await job.dispatchMany(Array.from({ length: 60 }, (_, index) => index === 30))
    const working = jobs.work({ ...quiet, concurrency: 1 })
    await until(async () => (await record(runs[30] as never)).state === 'running')
    await until(async () => (await backend.store.list({ state: 'running', limit: 100 })).length > 1)
    const stopping = jobs.stop()
    await until(async () => (await backend.store.list({ state: 'running', limit: 100 })).length === 1)
    open()
    await stopping
    const report = await working
    expect(report.succeeded).toBe(31)
    expect(report.released).toBeGreaterThan(0)
    for (const run of runs.slice(31)) expect(await record(run)).toMatchObject({ state: 'ready', attempts: 0, rescues: 0 })
    expect(names().filter((name) => name === 'job:started')).toHaveLength(31)
    const next: string[] = []
    jobs.on('job:started', ({ id }) => next.push(id))
    await jobs.run({ concurrency: 1 })
    expect(next).toEqual(runs.slice(31).map(({ id }) => id))
  })

  it.each([30, 70])('asks for no more ahead than a backend says: %s', async (largestClaim) => {
    vi.spyOn(performance, 'now').mockReturnValue(0)
    const { backend, clock } = faultyBackend()
    const lease = vi.spyOn(backend, 'lease')
    const { jobs } = worldOn({ ...backend, largestClaim }, clock)
    await jobs.define('mail', async () => {}).dispatchMany(Array.from({ length: 4_000 }, () => null))
    await jobs.run({ concurrency: 10 })
    const largest = Math.max(...lease.mock.calls.map(([{ limit }]) => limit))
    expect(largest).toBeGreaterThan(largestClaim / 2)
    expect(largest).toBeLessThanOrEqual(largestClaim)
  })

  it('keeps leased jobs alive that wait for their turn', async () => {
    vi.spyOn(performance, 'now').mockReturnValue(0)
    const { jobs, clock, backend, record } = world()
    const { open, opened } = gate()
    const job = jobs.define('mail', async (isSlow: boolean) => (isSlow ? opened : undefined))
    const runs = await job.dispatchMany(Array.from({ length: 60 }, (_, index) => index === 30))
    const working = jobs.work({ ...quiet, concurrency: 1, lease: '3s' })
    await until(async () => (await backend.store.list({ state: 'running', limit: 100 })).length > 1)
    await until(async () => (await record(runs[30] as never)).state === 'running')
    await clock.advance(30_000)
    open()
    await Promise.all(runs.map((run) => run.result()))
    for (const run of runs) expect(await record(run)).toMatchObject({ state: 'succeeded', attempts: 1, rescues: 0 })
    await jobs.stop()
    await working
  })
})

/** Counts how many runs there are at once; each ends when it is let go. */
function newMeter() {
  const waiting: (() => void)[] = []
  const meter = {
    running: 0,
    started: 0,
    most: 0,
    run: async () => {
      meter.started++
      meter.most = Math.max(meter.most, ++meter.running)
      await new Promise<void>((resolve) => waiting.push(resolve))
      meter.running--
    },
    /** Lets runs end, one by one, until so many have started and ended. */
    drain: async (all: number) => {
      while (meter.started < all || meter.running > 0) {
        waiting.shift()?.()
        await turns(3)
      }
    },
  }
  return meter
}

async function turns(count: number): Promise<void> {
  for (let turn = 0; turn < count; turn++) await new Promise((resolve) => setImmediate(resolve))
}

async function states({ record }: World, ...runs: readonly { readonly id: string }[]): Promise<readonly string[]> {
  return Promise.all(runs.map(async (run) => (await record(run)).state))
}
