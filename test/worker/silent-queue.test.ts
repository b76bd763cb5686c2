import { describe, expect, it } from 'vitest'
import type { WholeBackend } from '../../src/queue/contract/contract.ts'
import { overlaid } from '../testing/broken-backend.ts'
import { aborted, gate, until, worldOn } from '../world.ts'
import { faultyBackend } from './faults.ts'

const quiet = { signals: false } as const
const never = new Promise<never>(() => {})

/** A queue whose calls are no longer answered once `silence` was called, and its programs. */
function silentWorld() {
  const { sound, clock } = faultyBackend()
  let isSilent = false
  const answered = <Answer>(call: () => Promise<Answer>) => (isSilent ? never : call())
  const { workers } = sound.store
  const backend = overlaid<WholeBackend>(sound, {
    lease: (request) => answered(() => sound.lease(request)),
    settle: (settlements) => answered(() => sound.settle(settlements)),
    extend: (tokens, leaseMs) => answered(() => sound.extend(tokens, leaseMs)),
    store: overlaid(sound.store, {
      workers: overlaid(workers, { leave: (owner) => answered(() => workers.leave(owner)) }),
    }),
  })
  const silence = () => {
    isSilent = true
  }
  return { ...worldOn(backend, clock), silence }
}

const unanswered = expect.stringContaining('the queue did not answer during the shutdown')

describe('stopping a worker whose queue does not answer', () => {
  it('takes five seconds for all calls together if no job runs', async () => {
    const { jobs, clock, log, silence } = silentWorld()
    jobs.define('mail', async () => {}).everyMinute()
    const working = jobs.work(quiet)
    await until(async () => (await jobs.workerState()) !== null)
    await clock.advance(3_000)
    silence()
    await clock.advance(2_000)
    let hasEnded = false
    const stopping = jobs.stop().then(() => {
      hasEnded = true
    })
    await clock.advance(4_999)
    expect(hasEnded).toBe(false)
    await clock.advance(1)
    await stopping
    await working
    expect(log).toContainEqual(unanswered)
    await jobs.close()
  })

  it('gives the outcomes of jobs the grace and ten seconds to be written, and then five to all other calls', async () => {
    const { jobs, clock, names, silence } = silentWorld()
    const { open, opened } = gate()
    await jobs.define('mail', () => opened).dispatch()
    const working = jobs.work({ ...quiet, grace: '20s', lease: '10m' })
    await until(() => names().includes('job:started'))
    silence()
    open()
    let hasEnded = false
    const stopping = jobs.stop().then(() => {
      hasEnded = true
    })
    await clock.advance(34_999)
    expect(hasEnded).toBe(false)
    await clock.advance(1)
    await stopping
    await working
  })

  it('takes two seconds after a second signal, counted from when the last handler has ended', async () => {
    const { jobs, clock, names, log, silence } = silentWorld()
    await jobs.define('long', (_, { signal }) => aborted(signal)).dispatch()
    const working = jobs.work({ ...quiet, lease: '10m' })
    await until(() => names().includes('job:started'))
    silence()
    void jobs.stop()
    await clock.advance(1_000)
    const aborting = jobs.stop({ abort: true })
    await clock.advance(1_999)
    expect(log).toEqual([])
    await clock.advance(1)
    await aborting
    await working
    expect(log).toContainEqual(unanswered)
  })

  it('does not count a job whose handler was not called as running after a second signal', async () => {
    const { sound, clock } = faultyBackend()
    const asked = gate()
    const begin: typeof sound.begin = () => {
      asked.open()
      return never
    }
    const { jobs, log } = worldOn(overlaid<WholeBackend>(sound, { begin, settle: () => never }), clock)
    await jobs
      .define('once', () => {})
      .delivery('at-most-once')
      .dispatch()
    const working = jobs.work({ ...quiet, lease: '10m' })
    await asked.opened
    void jobs.stop()
    await clock.advance(1_000)
    const aborting = jobs.stop({ abort: true })
    await clock.advance(2_000)
    await Promise.all([aborting, working])
    expect(log).toContainEqual(unanswered)
  })

  it('returns the jobs of a claim that is answered after all', async () => {
    const { sound, clock } = faultyBackend()
    const claimed = gate()
    const { open, opened } = gate()
    const lease: typeof sound.lease = async (request) => {
      const batch = await sound.lease(request)
      claimed.open()
      await opened
      return batch
    }
    const { jobs, record } = worldOn(overlaid<WholeBackend>(sound, { lease }), clock)
    const run = await jobs.define('mail', async () => {}).dispatch()
    const working = jobs.work(quiet)
    await claimed.opened
    const stopping = jobs.stop()
    await clock.advance(5_000)
    await Promise.all([stopping, working])
    expect(await record(run)).toMatchObject({ state: 'running' })
    open()
    await until(async () => (await record(run)).state === 'ready')
    expect(await record(run)).toMatchObject({ attempts: 0, rescues: 0 })
  })

  it('says nothing if all calls are answered', async () => {
    const { jobs, log } = silentWorld()
    await jobs.define('mail', async () => {}).dispatch()
    const working = jobs.work(quiet)
    await until(async () => (await jobs.workerState()) !== null)
    await jobs.stop()
    await working
    expect(log).toEqual([])
  })
})
