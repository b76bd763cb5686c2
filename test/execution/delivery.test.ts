import { describe, expect, it } from 'vitest'
import { PermanentError } from '../../src/core/errors.ts'
import type { JobContext } from '../../src/definition/context.ts'
import { runInline } from '../../src/testing/run-inline.ts'
import { aborted, gate, until, world } from '../world.ts'

describe('a job that is delivered at most once', () => {
  it('A19: is begun, durably, before its handler is called, and many of them together', async () => {
    const { jobs, backend } = world()
    const calls: string[] = []
    const begin = backend.begin.bind(backend)
    backend.begin = async (tokens) => {
      calls.push(`begin ${tokens.length}`)
      return begin(tokens)
    }
    const job = jobs.define('job', async () => void calls.push('run')).delivery('at-most-once')
    await job.dispatchMany([1, 2, 3])
    await jobs.run()
    expect(calls).toEqual(['begin 3', 'run', 'run', 'run'])
  })

  it('other jobs are not begun', async () => {
    const { jobs, backend } = world()
    backend.begin = () => Promise.reject(new Error('nobody asked'))
    const run = await jobs.define('job', async () => 1).dispatch()
    await jobs.run()
    expect(await run.result()).toBe(1)
  })

  it('is dead when its handler fails, also where the job was sent with retries', async () => {
    const sender = world()
    const run = await sender.jobs
      .define('job', async () => {})
      .retries(3)
      .dispatch()
    const { jobs } = sender.other()
    const fail = () => Promise.reject(new Error('no'))
    jobs.define('job', fail).delivery('at-most-once')
    await jobs.run()
    const expected = { state: 'dead', reason: 'exhausted', attempts: 1, errors: [{ message: 'no' }] }
    expect(await sender.record(run)).toMatchObject(expected)
  })

  it('is dead as permanent when the handler says so', async () => {
    const { jobs, record } = worldWith(() => {
      throw new PermanentError('never')
    })
    const run = await jobs.dispatch('job')
    await jobs.run()
    expect(await record(run)).toMatchObject({ state: 'dead', reason: 'permanent' })
  })

  it('cannot be snoozed', async () => {
    const { jobs, record } = worldWith((_, { snooze }) => snooze('1m'))
    const run = await jobs.dispatch('job')
    await jobs.run()
    expect(await record(run)).toMatchObject({ state: 'dead', reason: 'exhausted', errors: [{ code: 'DELIVERY_INVALID' }] })
  })

  it('is dead as interrupted when a shutdown cuts it off, and says that it may be incomplete', async () => {
    const { jobs, clock, record } = worldWith((_, { signal }) => aborted(signal))
    const run = await jobs.dispatch('job')
    const working = jobs.work({ signals: false })
    await until(async () => (await record(run)).state === 'running')
    const stopping = jobs.stop()
    await clock.advance(60_000)
    await Promise.all([stopping, working])
    const { state, reason, errors } = await record(run)
    expect([state, reason]).toEqual(['dead', 'interrupted'])
    expect(errors[0]?.message).toMatch(/must not start twice/)
  })

  it('goes back when it was called off before its handler was called', async () => {
    const { jobs, backend, record } = worldWith(() => {})
    const run = await jobs.dispatch('job')
    const begin = backend.begin.bind(backend)
    const { open, opened } = gate()
    backend.begin = async (tokens) => {
      await opened
      return begin(tokens)
    }
    const working = jobs.run()
    await until(async () => (await record(run)).state === 'running')
    await run.cancel()
    open()
    await working
    expect(await record(run)).toMatchObject({ state: 'cancelled' })
  })

  it('is not run while that it begins cannot be written, and is tried again', async () => {
    let runs = 0
    const { jobs, backend, clock, record, log } = worldWith(() => void runs++)
    const begin = backend.begin.bind(backend)
    backend.begin = () => Promise.reject(new Error('disk full'))
    const run = await jobs.dispatch('job')
    await jobs.run()
    expect([runs, (await record(run)).state, (await record(run)).attempts]).toEqual([0, 'scheduled', 0])
    expect(log.some((line) => line.includes('could not be written: disk full'))).toBe(true)
    backend.begin = begin
    await clock.advance(1_000)
    await jobs.run()
    expect([runs, (await record(run)).state]).toEqual([1, 'succeeded'])
  })

  it('is not run where its lease is lost by then', async () => {
    let runs = 0
    const { jobs, backend, names } = worldWith(() => void runs++)
    backend.begin = async () => ['lost']
    await jobs.dispatch('job')
    await jobs.run({ limit: 1 })
    expect([runs, names()]).toEqual([0, ['job:lost']])
  })

  it('that was interrupted runs again when a person puts it back', async () => {
    const { jobs, backend, clock, record } = worldWith(() => 'done')
    const run = await jobs.dispatch('job')
    const jobsOf = [{ job: 'job', concurrency: null }]
    const lease = { jobs: jobsOf, queues: null, limit: 1, leaseMs: 1_000, owner: 'dying', maxRescues: 3 }
    const { leases } = await backend.lease(lease)
    await backend.begin(leases.map(({ token }) => token))
    await clock.advance(1_000)
    await jobs.run()
    expect(await record(run)).toMatchObject({ state: 'dead', reason: 'interrupted' })
    await backend.store.retry([run.id])
    await jobs.run()
    expect(await record(run)).toMatchObject({ state: 'succeeded' })
  })

  it('has no retries, in its definition nor in a dispatch', async () => {
    const { jobs } = world()
    const wrong = jobs.define('wrong', async () => {}).retries(1)
    expect(() => wrong.delivery('at-most-once').toDefinition()).toThrow(/never starts twice: give it no retries/)
    const job = jobs.define('job', async () => {}).delivery('at-most-once')
    await expect(job.dispatch({}, { maxRetries: 1 })).rejects.toThrow(/never starts twice/)
    expect(() =>
      jobs
        .define('other', async () => {})
        .delivery('once' as never)
        .toDefinition(),
    ).toThrow(/delivery must be at-least-once, at-most-once or effectively-once, got 'once'/)
  })
})

describe('ctx.transaction', () => {
  it('is for jobs that declare it', async () => {
    const { jobs, record } = world()
    const run = await jobs.define('job', (_: unknown, { transaction }) => transaction(() => 1)).dispatch({})
    await jobs.run()
    expect(await record(run)).toMatchObject({ state: 'dead', errors: [{ code: 'DELIVERY_INVALID' }] })
  })

  it('is not for handlers in another thread or process', () => {
    const job = world()
      .jobs.define('job', async () => {})
      .delivery('effectively-once')
      .isolate('thread')
    expect(() => job.toDefinition()).toThrow(/effectively-once needs the database in the same thread/)
  })

  it('a worker on a queue without transactions refuses to start, and names the job', async () => {
    const { jobs } = world()
    jobs.define('charge', (_: unknown, ctx) => ctx.transaction(() => 1)).delivery('effectively-once')
    jobs.define('other', async () => {})
    const refusal = { code: 'CAPABILITY_MISSING', message: expect.stringMatching(/"charge" is effectively-once.*sqlite:FILE/) }
    await expect(jobs.work()).rejects.toMatchObject(refusal)
    await expect(jobs.run()).rejects.toMatchObject(refusal)
    await jobs.run({ jobs: ['other'] })
  })

  it('has no database in a run without a queue', async () => {
    const { jobs } = world()
    const job = jobs.define('charge', (_: unknown, ctx) => ctx.transaction(() => 1)).delivery('effectively-once')
    await expect(runInline(job, {})).rejects.toMatchObject({ code: 'CAPABILITY_MISSING' })
  })
})

type Handle = (payload: unknown, context: JobContext) => unknown

function worldWith(handle: Handle) {
  const made = world()
  made.jobs.define('job', handle as never).delivery('at-most-once')
  return made
}
