import { describe, expect, it } from 'vitest'
import type { LeaseRequest } from '../../src/queue/contract/contract.ts'
import { mostTogether } from '../../src/worker/runs/rescued-jobs.ts'
import { gate, until, world } from '../world.ts'
import { end } from './standing-world.ts'

const quiet = { signals: false, lease: '30s', grace: 0 } as const

describe('a job whose workers have died', () => {
  it('runs beside fewer others each time, and at last alone', () => {
    const most = (concurrency: number, maxRescues: number) =>
      [0, 1, 2, 3, 4].map((rescues) => mostTogether(rescues, { concurrency, maxRescues }))
    const all = Number.POSITIVE_INFINITY
    expect(most(100, 3)).toEqual([all, 25, 7, 1, 1])
    expect(most(10, 3)).toEqual([all, 3, 1, 1, 1])
    expect(most(1, 3)).toEqual([all, 1, 1, 1, 1])
    expect(most(100, 1)).toEqual([all, 1, 1, 1, 1])
    expect(most(100, 0)).toEqual([all, 1, 1, 1, 1])
  })

  it('is begun alone at its last chance: it waits for those that run, and the others wait for it', async () => {
    const { jobs, clock, backend } = world()
    const gates = { before: gate(), last: gate(), after: gate() }
    const running = new Set<string>()
    const together: string[][] = []
    jobs.define('job', async (name: keyof typeof gates) => {
      running.add(name)
      together.push([...running])
      await gates[name].opened
      running.delete(name)
    })
    await jobs.dispatch('job', 'last')
    for (let death = 0; death < 3; death++) {
      await backend.lease(claim({ amongOthers: true }))
      await clock.advance(1_000)
    }
    await backend.reap(3)
    await jobs.dispatch('job', 'before', { priority: 9 })
    await jobs.dispatch('job', 'after', { priority: 1 })
    const working = jobs.work(quiet)
    await until(() => running.has('before'))
    await clock.advance(1_000)
    expect([...running]).toEqual(['before'])
    gates.before.open()
    await until(() => running.has('last'))
    await clock.advance(1_000)
    expect([...running]).toEqual(['last'])
    gates.last.open()
    gates.after.open()
    await clock.advance(1_000)
    await until(() => together.length === 3)
    expect(together).toEqual([['before'], ['last'], ['after']])
    await end(jobs, working, clock)
  })

  it('is begun alone in its process: workers on other queues of that process would die with it', async () => {
    const [one, other] = [world(), world()]
    const gates = { before: gate(), last: gate(), after: gate() }
    const running = new Set<string>()
    const together: string[][] = []
    for (const { jobs } of [one, other]) {
      jobs.define('job', async (name: keyof typeof gates) => {
        running.add(name)
        together.push([...running])
        await gates[name].opened
        running.delete(name)
      })
    }
    await one.jobs.dispatch('job', 'last')
    for (let death = 0; death < 3; death++) {
      await one.backend.lease(claim({ amongOthers: true }))
      await one.clock.advance(1_000)
    }
    await one.backend.reap(3)
    await other.jobs.dispatch('job', 'before')
    const workings = [other.jobs.work(quiet)]
    await until(() => running.has('before'))
    workings.push(one.jobs.work(quiet))
    await one.clock.advance(1_000)
    await other.jobs.dispatch('job', 'after')
    await other.clock.advance(1_000)
    expect([...running]).toEqual(['before'])
    gates.before.open()
    await until(() => running.has('last'))
    await other.clock.advance(10_000)
    expect([...running]).toEqual(['last'])
    gates.last.open()
    gates.after.open()
    await until(async () => {
      await other.clock.advance(1_000)
      return together.length === 3
    })
    expect(together).toEqual([['before'], ['last'], ['after']])
    await end(one.jobs, workings[1]!, one.clock)
    await end(other.jobs, workings[0]!, other.clock)
  })

  it('has its end written before another one begins: a death in between would be laid to it', async () => {
    const { jobs, clock, backend } = world()
    const began: string[] = []
    jobs.define('job', async (name: string) => void began.push(name))
    await jobs.dispatch('job', 'last')
    for (let death = 0; death < 3; death++) {
      await backend.lease(claim({ amongOthers: true }))
      await clock.advance(1_000)
    }
    await backend.reap(3)
    await jobs.dispatch('job', 'after', { priority: 1 })
    const written = gate()
    let settling = 0
    const settle = backend.settle.bind(backend)
    backend.settle = async (settlements) => {
      settling++
      await written.opened
      return settle(settlements)
    }
    const working = jobs.work(quiet)
    await until(() => settling > 0)
    await clock.advance(100)
    expect(began).toEqual(['last'])
    written.open()
    await until(() => began.length === 2)
    await end(jobs, working, clock)
  })

  it('does not hold up a worker for long whose jobs do not end', async () => {
    const { jobs, clock, backend } = world()
    const stuck = gate()
    const began: string[] = []
    jobs.define('job', async (name: string) => {
      began.push(name)
      if (name === 'long') await stuck.opened
    })
    await jobs.dispatch('job', 'last')
    for (let death = 0; death < 3; death++) {
      await backend.lease(claim({ amongOthers: true }))
      await clock.advance(1_000)
    }
    await backend.reap(3)
    await jobs.dispatch('job', 'long', { priority: 9 })
    await jobs.dispatch('job', 'other', { priority: 1 })
    const working = jobs.work(quiet)
    await until(() => began.includes('long'))
    await clock.advance(4_000)
    expect(began).toEqual(['long'])
    await clock.advance(2_000)
    expect(began).toEqual(['long', 'other'])
    stuck.open()
    await clock.advance(20_000)
    await until(() => began.length === 3)
    expect(began).toEqual(['long', 'other', 'last'])
    await end(jobs, working, clock)
  })

  it('ends as poisoned only when a worker dies that ran nothing else', async () => {
    const { jobs, clock, backend, record } = world()
    const stuck = gate()
    const began: string[] = []
    const [guilty, innocent] = ['guilty', 'innocent'].map((name) =>
      jobs.define(name, async () => {
        began.push(name)
        await stuck.opened
      }),
    )
    const runs = [await guilty!.dispatch(), await innocent!.dispatch()] as const
    for (let death = 0; death < 3; death++) {
      await backend.lease(claim({ amongOthers: true, jobs: ['guilty', 'innocent'] }))
      await clock.advance(1_000)
    }
    await backend.reap(3)
    const working = jobs.work(quiet)
    await until(() => began.length === 1)
    await clock.advance(100)
    const owner = (await record(runs[0])).owner as string
    expect(await backend.reap(3, [owner])).toEqual({ returned: 1, poisoned: 1 })
    expect(await record(runs[0])).toMatchObject({ state: 'dead', reason: 'poisoned' })
    expect(await record(runs[1])).toMatchObject({ state: 'ready', rescues: 4 })
    stuck.open()
    await end(jobs, working, clock)
  })
})

function claim({ jobs = ['job'], ...more }: { readonly amongOthers: boolean; readonly jobs?: readonly string[] }): LeaseRequest {
  const named = jobs.map((job) => ({ job, concurrency: null }))
  return { jobs: named, queues: null, limit: 10, leaseMs: 1_000, owner: 'a worker that dies', maxRescues: 3, ...more }
}
