import { describe, expect, it } from 'vitest'
import type { StandIn, StandInRequest } from '../../src/queue/contract/contract.ts'
import { aborted, gate, until } from '../world.ts'
import { end, standingWorld } from './standing-world.ts'

const quiet = { signals: false, lease: '9s', grace: 0 } as const

describe('an event loop that stood still', () => {
  it('demands 9: for more than a second is reported with the jobs that ran and what to do about it', async () => {
    const { jobs, manual, standStill, stalls, happened, log } = standingWorld()
    const run = await jobs.define('heavy', async (_, { signal }) => aborted(signal)).dispatch()
    const working = jobs.work(quiet)
    await until(() => happened.some(({ name }) => name === 'job:started'))
    await manual.advance(3_000)
    standStill(1_000)
    await manual.advance(250)
    expect(stalls()).toEqual([])
    standStill(1_001)
    await manual.advance(250)
    const heavy = { id: run.id, job: 'heavy', name: 'heavy', queue: 'default', attempt: 1 }
    expect(stalls()).toEqual([{ stalledMs: 1_001, running: [heavy], suspects: [heavy] }])
    expect(log).toEqual([
      `warn the event loop was blocked for 1001 ms because of heavy (${run.id}). While a handler computes without a pause, nothing else in this process runs. Run it in a thread: .isolate('thread')`,
    ])
    await end(jobs, working, manual)
  })

  it('names all jobs that may have done it, each once', async () => {
    const { jobs, manual, standStill, happened, log } = standingWorld()
    for (const name of ['one', 'two', 'two']) {
      if (!jobs.has(name)) jobs.define(name, async (_, { signal }) => aborted(signal))
      await jobs.dispatch(name)
    }
    const working = jobs.work(quiet)
    await until(() => happened.filter(({ name }) => name === 'job:started').length === 3)
    standStill(2_000)
    await manual.advance(250)
    expect(log[0]).toContain('blocked for 2000 ms while these jobs ran or ended: one, two. ')
    await end(jobs, working, manual)
  })

  it.each([
    ['was stopped', 3, 'and this process computed for only 3 ms of that: it was stopped (SIGSTOP'],
    ['got some of its time', 700, `because of heavy (`],
  ])('tells a process that %s from a handler that computes', async (_, duringMs, said) => {
    let computedMs = 500
    const { jobs, manual, standStill, stalls, happened, log } = standingWorld({}, () => computedMs)
    await jobs.define('heavy', async (_payload, { signal }) => aborted(signal)).dispatch()
    const working = jobs.work(quiet)
    await until(() => happened.some(({ name }) => name === 'job:started'))
    await manual.advance(3_000)
    computedMs += duringMs
    standStill(7_000)
    await manual.advance(250)
    const isBlamed = duringMs === 700
    expect(stalls()).toMatchObject([{ stalledMs: 7_000, computedMs: duringMs, running: [{ job: 'heavy' }] }])
    expect(stalls()).toMatchObject([{ suspects: isBlamed ? [{ job: 'heavy' }] : [] }])
    expect(log[0]).toContain(said)
    expect(log[0]?.includes(".isolate('thread')")).toBe(isBlamed)
    await end(jobs, working, manual)
  })

  it('is reported from as much as the option says', async () => {
    const { jobs, manual, standStill, stalls, happened } = standingWorld()
    await jobs.define('heavy', async (_, { signal }) => aborted(signal)).dispatch()
    const working = jobs.work({ ...quiet, stall: '200ms' })
    await until(() => happened.some(({ name }) => name === 'job:started'))
    standStill(201)
    await manual.advance(250)
    expect(stalls()).toMatchObject([{ stalledMs: 201 }])
    await end(jobs, working, manual)
  })

  it('X20: has its leases renewed before the next claim returns them to the queue', async () => {
    const { jobs, manual, standStill, record, names } = standingWorld()
    const { open, opened } = gate()
    let ran = 0
    const run = await jobs
      .define('long', async () => {
        ran++
        await opened
      })
      .dispatch()
    const working = jobs.work({ ...quiet, lease: '3s', poll: '100ms' })
    await until(() => ran === 1)
    await manual.advance(500)
    standStill(10_000)
    // The first that comes by after the standstill is the claim: the heartbeat has its time only later.
    await manual.advance(200)
    open()
    await run.result()
    expect(ran).toBe(1)
    expect(names()).not.toContain('job:lost')
    expect(await record(run)).toMatchObject({ state: 'succeeded', rescues: 0, attempts: 1 })
    await end(jobs, working, manual)
  })
})

describe('the stand-in for an event loop', () => {
  it('demands 9: is asked for with the first lease, hears beats while jobs run, rests after them, and ends with the worker', async () => {
    const heard: string[] = []
    const asked: StandInRequest[] = []
    const standIn: StandIn = {
      beat: () => void heard.push('beat'),
      rest: () => void heard.push('rest'),
      stop: () => void heard.push('stop'),
    }
    const { jobs, manual, names } = standingWorld({
      standIn(request: StandInRequest) {
        asked.push(request)
        return standIn
      },
    })
    const { open, opened } = gate()
    const job = jobs.define('long', () => opened)
    const working = jobs.work({ ...quiet, maxStall: '2h' })
    await manual.advance(60_000)
    expect(asked).toEqual([])
    await job.dispatch()
    await until(() => names().includes('job:started'))
    expect(asked).toEqual([{ owner: expect.any(String), leaseMs: 9_000, graceMs: 5_000, longestMs: 7_200_000 }])
    expect(heard).toEqual(['beat'])
    await manual.advance(1_000)
    expect(heard).toEqual(Array(5).fill('beat'))
    open()
    await until(() => names().includes('job:succeeded'))
    await manual.advance(1_000)
    expect(heard.slice(5)).toEqual(['rest'])
    await end(jobs, working, manual)
    expect(heard.slice(6)).toEqual(['stop'])
    expect(asked).toHaveLength(1)
  })
})
