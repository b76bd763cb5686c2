import { describe, expect, it } from 'vitest'
import { type Treadle, treadle } from '../../src/app/treadle.ts'
import { TreadleError } from '../../src/core/errors.ts'
import { ManualClock } from '../../src/testing/manual-clock.ts'
import { backoffMs, persistently } from '../../src/worker/loop/persistent.ts'
import { aborted, gate, loggerInto, until, worldOn } from '../world.ts'
import { faultyBackend } from './faults.ts'

const quiet = { signals: false, poll: '1h' } as const

describe('a backend that fails', () => {
  it('is asked for jobs again, for ever, with growing pauses where there is no breaker, and each failure is reported', async () => {
    const { backend, clock, failing, calls } = faultyBackend()
    const { jobs, happened, log } = worldOn(backend, clock)
    const run = await jobs.define('mail', async () => 'sent').dispatch()
    failing.lease = 10
    const working = jobs.work({ ...quiet, breaker: false })
    await clock.advance(60_000)
    expect(await run.result()).toBe('sent')
    expect(pausesOf(calls.lease).slice(0, 10)).toEqual([75, 150, 300, 600, 1_200, 2_400, 4_800, 7_500, 7_500, 7_500])
    expect(happened.filter(({ name }) => name === 'worker:error').map(({ event }) => event)).toEqual(
      Array.from({ length: 10 }, () => ({ error: expect.objectContaining({ message: 'lease failed' }) })),
    )
    expect(log[0]).toBe('error lease failed; trying again')
    await jobs.stop()
    expect(await working).toMatchObject({ succeeded: 1 })
  })

  it('is asked again also where the clock of a test stands still', async () => {
    const { backend, clock, failing } = faultyBackend()
    const { jobs } = worldOn(backend, clock)
    const run = await jobs.define('mail', async () => 'sent').dispatch()
    failing.lease = 1
    failing.settle = 1
    expect(await jobs.run()).toMatchObject({ succeeded: 1 })
    expect(await run.result()).toBe('sent')
  })

  it('is told of the end of a job until it has heard: what was done is not done again', async () => {
    const { backend, clock, failing } = faultyBackend()
    const { jobs, record, names } = worldOn(backend, clock)
    let ran = 0
    const run = await jobs.define('mail', async () => ++ran).dispatch()
    failing.settle = 12
    const working = jobs.work({ ...quiet, lease: '3s' })
    await until(() => names().includes('worker:error'))
    expect(names()).not.toContain('job:succeeded')
    // Longer than several leases: what waits to be settled is still held, and renewed.
    await clock.advance(90_000)
    expect(await record(run)).toMatchObject({ state: 'succeeded', result: '1', rescues: 0 })
    expect(ran).toBe(1)
    expect(names()).toContain('job:succeeded')
    await jobs.stop()
    await working
  })

  it('fails a dispatch: whether to try again is for its caller to say', async () => {
    const { backend, clock, failing, calls } = faultyBackend()
    const { jobs } = worldOn(backend, clock)
    const job = jobs.define('mail', async () => {})
    failing.send = 1
    await expect(job.dispatch()).rejects.toThrow('send failed')
    expect(calls.send).toHaveLength(1)
    expect((await job.dispatch()).created).toBe(true)
  })

  it('cannot keep a worker from stopping', async () => {
    const { backend, clock, failing } = faultyBackend()
    const { jobs, names } = worldOn(backend, clock)
    const { open, opened } = gate()
    await jobs.define('mail', () => opened).dispatch()
    const working = jobs.work({ ...quiet, grace: '1s' })
    await until(() => names().includes('job:started'))
    failing.settle = Number.POSITIVE_INFINITY
    failing.lease = Number.POSITIVE_INFINITY
    open()
    const stopping = jobs.stop()
    await clock.advance(60_000)
    await stopping
    expect(await working).toMatchObject({ succeeded: 0, lost: 1 })
    expect(clock.nextTimerAt).toBeNull()
  })

  it('cannot keep a worker from stopping that never got a job', async () => {
    const { backend, clock, failing } = faultyBackend()
    const { jobs } = worldOn(backend, clock)
    jobs.define('mail', async () => {})
    failing.lease = Number.POSITIVE_INFINITY
    const working = jobs.work(quiet)
    await clock.advance(1_000)
    await jobs.stop()
    await working
    expect(clock.nextTimerAt).toBeNull()
  })

  it('that was closed ends the work instead of being asked for ever', async () => {
    const { backend, clock } = faultyBackend()
    const { jobs } = worldOn(backend, clock)
    jobs.define('mail', async () => {})
    const working = jobs.work({ ...quiet, poll: '1s' })
    await clock.advance(0)
    await backend[Symbol.asyncDispose]()
    const ended = expect(working).rejects.toThrow(expect.objectContaining({ code: 'BACKEND_CLOSED' }))
    await clock.advance(20_000)
    await ended
  })

  it('does not matter to a job that is defined wrongly while others run: the worker says so and goes on', async () => {
    const { backend, clock } = faultyBackend()
    const { jobs, log } = worldOn(backend, clock)
    const sound = jobs.define('sound', async () => 'ran')
    const working = jobs.work({ ...quiet, poll: '1s' })
    await clock.advance(0)
    const broken = jobs.define('broken', async () => {}).queue('two words')
    await clock.advance(2_000)
    expect(log[0]).toContain('a queue must be')
    broken.queue('mended')
    const run = await sound.dispatch()
    await clock.advance(10_000)
    expect(await run.result()).toBe('ran')
    await jobs.stop()
    await working
  })
})

describe('trying persistently', () => {
  it('gives the first answer, and what failed before it to the report', async () => {
    const clock = new ManualClock()
    const reported: unknown[] = []
    let calls = 0
    const work = async () => {
      if (++calls < 3) throw new Error(`no ${calls}`)
      return 'yes'
    }
    const answer = persistently(work, { clock, signal: new AbortController().signal, onError: (error) => reported.push(error) })
    await clock.advance(1_000)
    expect(await answer).toBe('yes')
    expect(reported).toHaveLength(2)
  })

  it('ends with the last error once the signal aborts', async () => {
    const clock = new ManualClock()
    const stop = new AbortController()
    let calls = 0
    const work = async () => {
      throw new Error(`no ${++calls}`)
    }
    const answer = persistently(work, { clock, signal: stop.signal, onError: () => {} })
    const ended = expect(answer).rejects.toThrow(/no \d/)
    await clock.advance(1_000)
    stop.abort()
    await ended
    expect(clock.nextTimerAt).toBeNull()
  })

  it('ends at once when the queue was closed', async () => {
    const closed = new TreadleError('BACKEND_CLOSED', 'closed')
    const options = { clock: new ManualClock(), signal: new AbortController().signal, onError: () => {} }
    await expect(persistently(() => Promise.reject(closed), options)).rejects.toBe(closed)
  })

  it('pauses between half a step and a whole one, up to ten seconds, however often it failed', () => {
    const clock = new ManualClock()
    clock.setRandom(() => 0)
    expect([0, 1, 2, 10_000].map((failures) => backoffMs(failures, clock))).toEqual([50, 100, 200, 5_000])
    clock.setRandom(() => 1)
    expect([0, 1, 2, 10_000].map((failures) => backoffMs(failures, clock))).toEqual([100, 200, 400, 10_000])
  })
})

function pausesOf(instants: readonly number[]): readonly number[] {
  return instants.slice(1).map((instant, index) => instant - (instants[index] as number))
}

describe('what a worker says of a call that failed', () => {
  it('is not that it is tried again where it is not', async () => {
    const { backend, clock, failing } = faultyBackend()
    const { jobs, log, names } = worldOn(backend, clock)
    const run = await jobs.define('mail', async () => 'sent').dispatch()
    failing.settle = Number.POSITIVE_INFINITY
    const working = jobs.work({ ...quiet, grace: 0 })
    await until(() => names().includes('worker:error'))
    const stopping = jobs.stop()
    await clock.advance(20_000)
    await Promise.all([stopping, working])
    expect(log.at(-1)).toBe(`error the end of mail (${run.id}) could not be written, so it will run again: settle failed`)
  })

  it('is said once of a stand-in that cannot be made, and the jobs run all the same', async () => {
    const { backend, clock } = faultyBackend()
    backend.standIn = () => {
      throw new Error('no threads left')
    }
    const { jobs, log, record } = worldOn(backend, clock)
    const runs = await jobs.define('mail', async () => 'sent').dispatchMany([1, 2, 3])
    await jobs.run({ concurrency: 1 })
    for (const run of runs) expect(await record(run)).toMatchObject({ state: 'succeeded' })
    expect(log).toEqual(['error leases will not be renewed while the event loop stands still: no threads left'])
  })

  it('does not matter where the logger itself fails', async () => {
    const { backend, clock, failing } = faultyBackend()
    const fail = () => {
      throw new Error('the log is full')
    }
    const { jobs, record } = worldOn(backend, clock, { logger: { debug: fail, info: fail, warn: fail, error: fail } })
    const hook = () => Promise.reject(new Error('no'))
    const job = jobs.define('mail', async (_: unknown, { logger }) => logger.info('on its way')).finally(hook)
    const run = await job.dispatch(1)
    failing.lease = 3
    const working = jobs.run()
    await clock.advance(60_000)
    await working
    expect(await record(run)).toMatchObject({ state: 'succeeded', attempts: 1 })
  })
})

describe('a renewal that is under way', () => {
  it('is waited for before the next claim, which returns what has run out', async () => {
    const { backend, clock } = faultyBackend()
    const { jobs, names } = worldOn(backend, clock)
    const order: string[] = []
    const renewed = gate()
    const { extend, lease } = backend
    backend.extend = async (tokens, leaseMs) => {
      order.push('renewal begins')
      await renewed.opened
      order.push('renewal ends')
      return extend(tokens, leaseMs)
    }
    backend.lease = (request) => {
      order.push('claim')
      return lease(request)
    }
    await jobs.define('long', (_, { signal }) => aborted(signal)).dispatch()
    const working = jobs.work({ signals: false, grace: 0, lease: '9s', poll: '2s' })
    await until(() => names().includes('job:started'))
    order.splice(0)
    await clock.advance(5_000)
    expect(order).toEqual(['claim', 'renewal begins'])
    renewed.open()
    await until(() => order.includes('claim') && order.length > 3)
    expect(order).toEqual(['claim', 'renewal begins', 'renewal ends', 'claim'])
    const stopping = jobs.stop()
    await clock.advance(20_000)
    await Promise.all([stopping, working])
  })
})

describe('a job that fails', () => {
  async function logOf(prepare: (jobs: Treadle) => unknown): Promise<readonly string[]> {
    const clock = new ManualClock()
    const log: string[] = []
    await using jobs = treadle('memory:', { clock, logger: loggerInto(log) })
    jobs
      .define('mail', async () => {
        throw new Error('not sent', { cause: new Error('no such address') })
      })
      .retries(1, { strategy: 'fixed', base: '10s', jitter: 'none' })
    prepare(jobs)
    const { id } = await jobs.dispatch('mail')
    for (let pass = 0; pass < 2; pass++) {
      await jobs.run()
      await clock.advance(10_000)
    }
    return log.map((line) => line.replace(id, 'ID'))
  }

  it('is told to the log where nobody listens for it', async () => {
    expect(await logOf(() => {})).toEqual([
      'warn mail (ID): attempt 1 failed, the next one is in 10s: not sent: no such address',
      'error mail (ID) is dead (exhausted) at attempt 2: not sent: no such address',
    ])
  })

  it('is told to who listens, and then not to the log', async () => {
    const heard: string[] = []
    const log = await logOf((jobs) => {
      jobs.on('job:failed', ({ name }) => heard.push(`${name} failed`))
      jobs.on('job:dead', ({ name }) => heard.push(`${name} is dead`))
    })
    expect([log, heard]).toEqual([[], ['mail failed', 'mail is dead']])
  })

  it('is told to the log also while somebody waits for a result', async () => {
    const log = await logOf((jobs) => {
      jobs.define('other', async () => {})
      void jobs.dispatch('other', null, { delay: '1h' }).then((run) => run.result({ timeout: '1m' }).catch(() => {}))
    })
    expect(log.at(-1)).toMatch(/^error mail \(ID\) is dead/)
  })
})
