import { describe, expect, it } from 'vitest'
import { TreadleError } from '../../src/core/errors.ts'
import { ManualClock } from '../../src/testing/manual-clock.ts'
import { Breaker, type BreakerChange } from '../../src/worker/health/breaker/breaker.ts'
import { gate, until, worldOn } from '../world.ts'
import { faultyBackend } from './faults.ts'

describe('a breaker', () => {
  function newBreaker(config: { threshold: number; cooldownMs: number } | null = { threshold: 3, cooldownMs: 1_000 }) {
    const clock = new ManualClock()
    const changes: BreakerChange[] = []
    const breaker = new Breaker(config, clock, (change) => changes.push(change))
    const fail = (times: number) => {
      for (let failure = 1; failure <= times; failure++) breaker.failed(new Error(`failure ${failure}`))
    }
    return { clock, breaker, changes, fail }
  }

  it('O4: opens with the failure that reaches its threshold, and holds claims back from then on', () => {
    const { breaker, changes, fail } = newBreaker()
    fail(2)
    expect([breaker.state, breaker.waitMs]).toEqual(['closed', 0])
    fail(1)
    expect([breaker.state, breaker.waitMs]).toEqual(['open', 1_000])
    expect(changes).toEqual([{ state: 'open', failures: 3, error: expect.objectContaining({ message: 'failure 1' }) }])
  })

  it('O4: counts failures in a row: a success in between begins anew', () => {
    const { breaker, fail } = newBreaker()
    for (let round = 0; round < 10; round++) {
      fail(2)
      breaker.succeeded()
    }
    expect(breaker.state).toBe('closed')
  })

  it('O4: lets one claim through when its time is over; a failure opens it again at once, a success closes it', async () => {
    const { clock, breaker, changes, fail } = newBreaker()
    fail(3)
    await clock.advance(999)
    expect(breaker.waitMs).toBe(1)
    await clock.advance(1)
    expect(breaker.waitMs).toBe(0)
    breaker.claiming()
    fail(1)
    expect([breaker.state, breaker.waitMs]).toEqual(['open', 1_000])
    await clock.advance(1_000)
    breaker.claiming()
    breaker.succeeded()
    expect(changes.map(({ state, failures }) => [state, failures])).toEqual([
      ['open', 3],
      ['half-open', 3],
      ['open', 4],
      ['half-open', 4],
      ['closed', 0],
    ])
  })

  it('closes at once with the success of any call, also before its time is over', () => {
    const { breaker, fail } = newBreaker()
    fail(5)
    breaker.succeeded()
    expect([breaker.state, breaker.waitMs]).toEqual(['closed', 0])
  })

  it('is not put off by failures that come while it is open', async () => {
    const { clock, breaker, fail } = newBreaker()
    fail(3)
    await clock.advance(600)
    fail(10)
    expect(breaker.waitMs).toBe(400)
  })

  it('O4: does not take the closing of the queue for a failure, and without a config never opens', () => {
    const { breaker } = newBreaker()
    for (let time = 0; time < 10; time++) breaker.failed(new TreadleError('BACKEND_CLOSED', 'closed'))
    expect(breaker.state).toBe('closed')
    const without = newBreaker(null)
    without.fail(100)
    expect([without.breaker.state, without.changes]).toEqual(['closed', []])
  })
})

describe('a worker whose queue keeps failing', () => {
  const quiet = { signals: false, lease: '9s', scheduler: false } as const

  it('A10, O4: claims nothing for a while, tries once, and goes on when it is answered', async () => {
    const { backend, clock, failing, calls } = faultyBackend()
    const { jobs, happened, log } = worldOn(backend, clock)
    const run = await jobs.define('mail', async () => 'sent').dispatch()
    failing.lease = 6
    const working = jobs.work(quiet)
    await clock.advance(10_000)
    expect(calls.lease).toHaveLength(5)
    expect(await jobs.workerState()).toMatchObject({ breaker: 'open' })
    expect((await backend.store.workers.list()).map(({ breaker }) => breaker)).toEqual(['open'])
    expect(log).toContain(
      'warn the queue failed 5 times in a row, the last time with: lease failed. No job is claimed for 15s; running jobs continue',
    )
    await clock.advance(7_000)
    expect(calls.lease).toHaveLength(6)
    await clock.advance(15_000)
    expect(await run.result()).toBe('sent')
    const states = happened.flatMap(({ name, event }) => (name === 'worker:breaker' ? [(event as BreakerChange).state] : []))
    expect(states).toEqual(['open', 'half-open', 'open', 'half-open', 'closed'])
    expect(log).toContain('warn the queue answers again: jobs are claimed as before')
    await jobs.stop()
    await working
  })

  it('A10: says once that an outage begins and ends, and once a minute what it fails with, while listeners hear of each failure', async () => {
    const { backend, clock, failing } = faultyBackend()
    const { jobs, names, log } = worldOn(backend, clock)
    const { open, opened } = gate()
    const run = await jobs.define('long', () => opened).dispatch()
    const working = jobs.work(quiet)
    await until(() => names().includes('job:started'))
    for (let outage = 1; outage <= 2; outage++) {
      failing.lease = failing.extend = Number.POSITIVE_INFINITY
      await clock.advance(10 * 60_000)
      failing.lease = failing.extend = 0
      await clock.advance(60_000)
    }
    const lines = (start: string) => log.filter((line) => line.startsWith(start)).length
    expect(names().filter((name) => name === 'worker:error').length).toBeGreaterThan(200)
    // Claims and renewals fail with an error of their own each.
    expect(lines('error ')).toBeLessThan(50)
    expect(log).toContainEqual(
      expect.stringMatching(/^error extend failed \(\d+ more times since it was last logged\); trying again$/),
    )
    expect([lines('warn the queue failed'), lines('warn the queue answers again')]).toEqual([2, 2])
    open()
    await run.result()
    await jobs.stop()
    await working
  })

  it('A10: renews and settles all the while, and the first of these that succeeds ends the wait for claims', async () => {
    const { backend, clock, failing, calls } = faultyBackend()
    const { jobs, names, record } = worldOn(backend, clock)
    const { open, opened } = gate()
    const run = await jobs.define('long', () => opened).dispatch()
    const working = jobs.work({ ...quiet, breaker: { threshold: 2, cooldown: '10m' } })
    await until(() => names().includes('job:started'))
    failing.lease = failing.extend = 1_000
    await clock.advance(4_000)
    expect(await jobs.workerState()).toMatchObject({ breaker: 'open' })
    const claims = calls.lease.length
    failing.lease = failing.extend = 0
    await clock.advance(3_000)
    expect(calls.lease.length).toBeGreaterThan(claims)
    expect(await jobs.workerState()).toMatchObject({ breaker: 'closed' })
    open()
    await run.result()
    expect(await record(run)).toMatchObject({ rescues: 0, attempts: 1 })
    await jobs.stop()
    await working
  })

  it('stops at once while it waits', async () => {
    const { backend, clock, failing } = faultyBackend()
    const { jobs } = worldOn(backend, clock)
    jobs.define('mail', async () => {})
    failing.lease = Number.POSITIVE_INFINITY
    const working = jobs.work({ ...quiet, breaker: { threshold: 1, cooldown: '1h' } })
    await clock.advance(1_000)
    await jobs.stop()
    await working
    expect(clock.nextTimerAt).toBeNull()
  })
})
