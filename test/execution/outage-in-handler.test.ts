import { describe, expect, it } from 'vitest'
import { TreadleError } from '../../src/core/errors.ts'
import type { WholeBackend } from '../../src/queue/contract/contract.ts'
import { overlaid } from '../testing/broken-backend.ts'
import { faultyBackend } from '../worker/faults.ts'
import { until, worldOn } from '../world.ts'

const unreachable = () => Promise.reject(new TreadleError('DATABASE_UNREACHABLE', 'the connection was cut'))

/** A queue whose next calls of a kind are cut off, after they were carried out where that is possible. */
function world() {
  const { sound, clock } = faultyBackend()
  const cut = { links: 0, get: 0, send: 0, extend: 0 }
  const unlessCut = <Answer>(name: keyof typeof cut, call: () => Promise<Answer>) => (cut[name]-- > 0 ? unreachable() : call())
  const backend = overlaid<WholeBackend>(sound, {
    extend: (tokens, leaseMs) => unlessCut('extend', () => sound.extend(tokens, leaseMs)),
    send: async (envelopes) => {
      const receipts = await sound.send(envelopes)
      return unlessCut('send', async () => receipts)
    },
    store: overlaid(sound.store, {
      links: (id) => unlessCut('links', () => sound.store.links(id)),
      get: (id) => unlessCut('get', () => sound.store.get(id)),
    }),
  })
  return { ...worldOn(backend, clock), cut }
}

describe('a queue that cannot be reached while a handler asks it something', () => {
  it('is asked again: no attempt fails, and no child is made twice', async () => {
    const { jobs, clock, cut, record } = world()
    const kid = jobs.define('kid', async (n: number) => n)
    const parent = jobs
      .define('parent', async (_: null, ctx) => {
        Object.assign(cut, { links: 2, get: 1, send: 2, extend: 1 })
        expect(await ctx.heartbeat()).toBe(true)
        await ctx.dispatchChild(kid, 1)
        await ctx.dispatchChild(kid, 2)
        return (await ctx.children()).map(({ result }) => result)
      })
      .retries(0)
    const run = await parent.dispatch(null)
    let isOver = false
    const passing = jobs.run().then(() => {
      isOver = true
    })
    await until(async () => {
      await clock.advance(1_000)
      return isOver
    })
    await passing
    Object.assign(cut, { links: 0, get: 0 })
    expect(await run.result()).toEqual([1, 2])
    expect(await record(run)).toMatchObject({ attempts: 1, errors: [] })
    expect(await run.tree()).toMatchObject({ total: 3, done: 1 })
  })

  it('ends the attempt at its timeout', async () => {
    const { jobs, clock, cut, record } = world()
    const deaf = jobs
      .define('deaf', async (_: null, ctx) => {
        cut.links = Number.POSITIVE_INFINITY
        await ctx.children()
      })
      .timeout('10s')
      .retries(0)
    const run = await deaf.dispatch(null)
    let isOver = false
    const passing = jobs.run().then(() => {
      isOver = true
    })
    await until(async () => {
      await clock.advance(1_000)
      return isOver
    })
    await passing
    expect(await record(run)).toMatchObject({ state: 'dead', errors: [{ code: 'TIMEOUT' }] })
  })
})
