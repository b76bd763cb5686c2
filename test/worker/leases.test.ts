import { describe, expect, it } from 'vitest'
import { pause } from '../../src/core/time/clock.ts'
import type { LeaseRequest } from '../../src/queue/contract/contract.ts'
import { gate, until, world, worldOn } from '../world.ts'
import { faultyBackend } from './faults.ts'

const quiet = { signals: false, lease: '3s' } as const

describe('the lease of a running job', () => {
  it('A19, X35: is renewed while the job runs, many leases long: nobody rescues it because it is slow', async () => {
    const one = world()
    const two = one.other()
    const { open, opened } = gate()
    let started = 0
    for (const { jobs } of [one, two]) {
      jobs.define('long', async () => {
        started++
        await opened
      })
    }
    const run = await one.jobs.dispatch('long')
    const working = [one.jobs.work(quiet), two.jobs.work(quiet)]
    await one.clock.advance(60_000)
    open()
    await run.result()
    expect(started).toBe(1)
    expect(await one.record(run)).toMatchObject({ state: 'succeeded', attempts: 1, rescues: 0 })
    await Promise.all([one.jobs.stop(), two.jobs.stop()])
    await Promise.all(working)
  })

  it('is renewed three times in its time', async () => {
    const { backend, clock, calls } = faultyBackend()
    const { jobs } = worldOn(backend, clock)
    const { open, opened } = gate()
    await jobs.define('long', () => opened).dispatch()
    const working = jobs.work({ ...quiet, lease: '9s' })
    await clock.advance(10_000)
    expect(calls.extend).toEqual([3_000, 6_000, 9_000])
    open()
    await jobs.stop()
    await working
  })

  it('is renewed three times in its time, counted from when a renewal was asked for, however slow the answers are', async () => {
    const { backend, clock, calls } = faultyBackend()
    const { extend } = backend
    backend.extend = async (tokens, leaseMs) => {
      const receipts = await extend(tokens, leaseMs)
      await pause(clock, 2_500)
      return receipts
    }
    const { jobs } = worldOn(backend, clock)
    const { open, opened } = gate()
    await jobs.define('long', () => opened).dispatch()
    const working = jobs.work({ ...quiet, lease: '9s' })
    await clock.advance(10_000)
    expect(calls.extend).toEqual([3_000, 6_000, 9_000])
    open()
    await clock.advance(5_000)
    await jobs.stop()
    await working
  })

  it('survives renewals that fail: they are tried again at once, not in a third of the lease', async () => {
    const { backend, clock, failing, calls } = faultyBackend()
    const { jobs, record, happened } = worldOn(backend, clock)
    const { open, opened } = gate()
    const run = await jobs.define('long', () => opened).dispatch()
    failing.extend = 4
    const working = jobs.work({ ...quiet, lease: '9s' })
    await clock.advance(8_000)
    expect(calls.extend).toEqual([3_000, 3_075, 3_225, 3_525, 4_125, 7_125])
    expect(happened.filter(({ name }) => name === 'worker:error')).toHaveLength(4)
    await clock.advance(30_000)
    open()
    await run.result()
    expect(await record(run)).toMatchObject({ rescues: 0, attempts: 1 })
    await jobs.stop()
    await working
  })

  it('that ran out while this worker was cut off does not make it run the job beside itself', async () => {
    const { backend, clock, failing } = faultyBackend()
    const { jobs, names, record } = worldOn(backend, clock)
    const { open, opened } = gate()
    let running = 0
    let most = 0
    const run = await jobs
      .define('long', async () => {
        most = Math.max(most, ++running)
        await opened
        running--
      })
      .dispatch()
    failing.extend = 1_000
    const working = jobs.work(quiet)
    await clock.advance(4_000)
    expect(most).toBe(1)
    failing.extend = 0
    open()
    await clock.advance(10_000)
    expect(most).toBe(1)
    expect(names()).toContain('job:lost')
    expect(await record(run)).toMatchObject({ state: 'succeeded' })
    await jobs.stop()
    await working
  })

  it('X35: that runs out because its worker died is given to the next one, and the attempt is not burnt', async () => {
    const { jobs, clock, backend, record } = world()
    const attempts: number[] = []
    const run = await jobs.define('mail', async (_, { attempt }) => void attempts.push(attempt)).dispatch()
    await backend.lease(claim('mail', 'a worker that dies'))
    expect(await jobs.run()).toMatchObject({ succeeded: 0 })
    await clock.advance(3_000)
    expect(await jobs.run()).toMatchObject({ succeeded: 1 })
    expect(attempts).toEqual([1])
    expect(await record(run)).toMatchObject({ state: 'succeeded', rescues: 1, attempts: 1 })
  })

  it('X3: a job that kills its workers is dead as poisoned after so many of them, and never drawn again', async () => {
    const { jobs, clock, backend, record } = world()
    let ran = 0
    const run = await jobs.define('killer', async () => ran++).dispatch()
    for (let death = 0; death < 3; death++) {
      const { leases } = await backend.lease(claim('killer', `victim ${death}`))
      expect(leases).toHaveLength(1)
      await clock.advance(3_000)
    }
    expect(await jobs.run({ maxRescues: 2 })).toMatchObject({ succeeded: 0 })
    expect(await record(run)).toMatchObject({ state: 'dead', reason: 'poisoned', rescues: 3 })
    expect(ran).toBe(0)
  })
})

describe('a lease that was lost', () => {
  it('A12, J35: aborts the run and reports it; the new owner’s end counts, the old one’s is not applied', async () => {
    const { backend, sound, clock, failing } = faultyBackend()
    const [one, two] = [worldOn(backend, clock), worldOn(sound, clock)]
    const reasons: unknown[] = []
    const stuck = gate<string>()
    one.jobs.define('long', async (_, { signal }) => {
      signal.addEventListener('abort', () => reasons.push(signal.reason))
      return stuck.opened
    })
    two.jobs.define('long', async () => 'the new owner')
    const run = await one.jobs.dispatch('long')
    const working = one.jobs.work(quiet)
    await until(async () => (await one.record(run)).state === 'running')
    // The first worker is cut off from the queue for longer than its lease.
    failing.extend = failing.lease = Number.POSITIVE_INFINITY
    await clock.advance(3_000)
    expect(await two.jobs.run()).toMatchObject({ succeeded: 1 })
    failing.extend = failing.lease = 0
    await clock.advance(3_000)
    expect(reasons).toEqual([
      expect.objectContaining({ code: 'STOPPED', message: expect.stringContaining('passed to another worker') }),
    ])
    stuck.open('the old owner')
    await until(() => one.names().includes('job:lost'))
    expect(one.names()).not.toContain('job:succeeded')
    expect(await run.result()).toBe('the new owner')
    await one.jobs.stop()
    expect(await working).toMatchObject({ lost: 1, succeeded: 0 })
  })

  it('A12: a stale owner can neither settle, renew nor report', async () => {
    const { jobs, clock, backend, record } = world()
    const run = await jobs.define('mail', async () => {}).dispatch()
    const [old] = (await backend.lease(claim('mail', 'old'))).leases
    await clock.advance(3_000)
    const [current] = (await backend.lease(claim('mail', 'new'))).leases
    const token = old?.token as string
    expect(await backend.settle([{ token, kind: 'done', result: '"old"', keep: true }])).toEqual(['lost'])
    expect(await backend.extend([token], 60_000)).toEqual(['lost'])
    await backend.store.report([{ token, progress: '1' }])
    expect(await record(run)).toMatchObject({
      state: 'running',
      owner: 'new',
      progress: null,
      leaseExpiresAt: current?.expiresAt,
    })
  })
})

function claim(job: string, owner: string): LeaseRequest {
  return { jobs: [{ job, concurrency: null }], queues: null, limit: 1, leaseMs: 3_000, owner, maxRescues: 100 }
}
