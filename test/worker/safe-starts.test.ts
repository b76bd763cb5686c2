import { describe, expect, it } from 'vitest'
import type { Clock } from '../../src/core/time/clock.ts'
import { openMemory } from '../../src/engines/memory/index.ts'
import type { WholeBackend } from '../../src/queue/contract/contract.ts'
import { ManualClock } from '../../src/testing/manual-clock.ts'
import { overlaid } from '../testing/broken-backend.ts'
import { gate, until, worldOn } from '../world.ts'
import { end } from './standing-world.ts'

const quiet = { signals: false, lease: '9s', grace: 0 } as const
const hourMs = 3_600_000

/** Two programs on one queue. What the first one is answered can be kept from it, as by a stopped process or a slow database. */
function twoWorkers({ clockOf = (manual: ManualClock): Clock => manual } = {}) {
  const manual = new ManualClock()
  const sound = openMemory({ clock: manual })
  const answer = gate()
  const state = { isClaimed: false, failingRenewals: 0, renewals: 0 }
  const slow = overlaid<WholeBackend>(sound, {
    async lease(request) {
      if (state.failingRenewals > 0) throw new Error('the database is away')
      const batch = await sound.lease(request)
      if (batch.leases.length === 0) return batch
      state.isClaimed = true
      await answer.opened
      return batch
    },
    async extend(tokens, leaseMs) {
      state.renewals++
      if (state.failingRenewals-- > 0) throw new Error('the database is away')
      return sound.extend(tokens, leaseMs)
    },
  })
  const one = worldOn(slow, manual, { clock: clockOf(manual) })
  const two = worldOn(sound, manual)
  return { manual, one, two, answer, state }
}

describe('a handler', () => {
  it('is not called for a job that another worker has done while the answer to the claim was on its way', async () => {
    const { manual, one, two, answer, state } = twoWorkers()
    const ran: string[] = []
    one.jobs.define('mail', () => void ran.push('one'))
    two.jobs.define('mail', () => void ran.push('two'))
    await one.jobs.dispatch('mail')
    const working = one.jobs.work(quiet)
    await until(() => state.isClaimed)
    await manual.advance(9_000)
    expect(await two.jobs.run()).toMatchObject({ succeeded: 1 })
    answer.open()
    await until(() => one.names().includes('job:lost'))
    expect(ran).toEqual(['two'])
    expect(one.names()).not.toContain('job:started')
    await end(one.jobs, working, manual)
    expect(await working).toMatchObject({ lost: 1, succeeded: 0 })
  })

  it('is called after its lease was renewed where most of its time is over', async () => {
    const { manual, one, answer, state } = twoWorkers()
    let renewals = -1
    const run = await one.jobs
      .define('mail', () => {
        renewals = state.renewals
      })
      .dispatch()
    const working = one.jobs.work(quiet)
    await until(() => state.isClaimed)
    await manual.advance(6_000)
    answer.open()
    await run.result()
    expect(renewals).toBeGreaterThan(0)
    await end(one.jobs, working, manual)
  })

  it('is called at once, without a renewal, where the answer was quick', async () => {
    const { manual, one, answer, state } = twoWorkers()
    answer.open()
    const run = await one.jobs.define('mail', () => state.renewals).dispatch()
    const working = one.jobs.work(quiet)
    expect(await run.result()).toBe(0)
    await end(one.jobs, working, manual)
  })

  it('waits until the queue has answered the renewal, however often that fails', async () => {
    const { manual, one, answer, state } = twoWorkers()
    let ran = 0
    const run = await one.jobs.define('mail', () => void ran++).dispatch()
    const working = one.jobs.work(quiet)
    await until(() => state.isClaimed)
    await manual.advance(6_500)
    state.failingRenewals = 3
    answer.open()
    await manual.advance(100)
    expect(ran).toBe(0)
    expect(one.names()).toContain('worker:error')
    await manual.advance(2_000)
    await run.result()
    expect(state.failingRenewals).toBeLessThan(0)
    await end(one.jobs, working, manual)
  })

  it('is not called where the lease was lost while a filter was asked, or a hook ran before it', async () => {
    for (const part of ['filter', 'hook'] as const) {
      const { manual, one, two, answer, state } = twoWorkers()
      answer.open()
      const [asked, said] = [gate(), gate()]
      const ran: string[] = []
      const wait = async () => {
        asked.open()
        await said.opened
        return true
      }
      const mine = one.jobs.define('mail', () => void ran.push('one'))
      if (part === 'filter') mine.when(wait)
      else mine.before(wait)
      two.jobs.define('mail', () => void ran.push('two'))
      await one.jobs.dispatch('mail')
      const working = one.jobs.work(quiet)
      await asked.opened
      state.failingRenewals = Number.POSITIVE_INFINITY
      await manual.advance(9_000)
      expect(await two.jobs.run()).toMatchObject({ succeeded: 1 })
      said.open()
      state.failingRenewals = 0
      await manual.advance(3_000)
      await until(() => one.names().includes('job:lost'))
      expect(ran).toEqual(['two'])
      await end(one.jobs, working, manual)
    }
  })

  it.each([
    ['back', -hourMs],
    ['forward', hourMs],
  ])('is not called on a lease that is over where the clock was set %s', async (_, jumpMs) => {
    let skewMs = 0
    const clockOf = (manual: ManualClock): Clock => ({
      now: () => manual.now() + skewMs,
      monotonic: () => manual.now(),
      random: () => manual.random(),
      timer: (delayMs, run) => manual.timer(delayMs, run),
    })
    const { manual, one, two, answer, state } = twoWorkers({ clockOf })
    const ran: string[] = []
    one.jobs.define('mail', () => void ran.push('one'))
    two.jobs.define('mail', () => void ran.push('two'))
    await one.jobs.dispatch('mail')
    const working = one.jobs.work(quiet)
    await until(() => state.isClaimed)
    skewMs = jumpMs
    await manual.advance(9_000)
    expect(await two.jobs.run()).toMatchObject({ succeeded: 1 })
    answer.open()
    await until(() => one.names().includes('job:lost'))
    expect(ran).toEqual(['two'])
    await end(one.jobs, working, manual)
  })
})

describe('a clock that was set', () => {
  it.each([
    ['forward', hourMs],
    ['back', -hourMs],
  ])('%s is no standstill, and changes nothing about renewals', async (_, jumpMs) => {
    let skewMs = 0
    const clockOf = (manual: ManualClock): Clock => ({
      now: () => manual.now() + skewMs,
      monotonic: () => manual.now(),
      random: () => manual.random(),
      timer: (delayMs, run) => manual.timer(delayMs, run),
    })
    const { manual, one, two, answer, state } = twoWorkers({ clockOf })
    answer.open()
    const stuck = gate()
    let began = false
    const run = await one.jobs
      .define('long', async () => {
        began = true
        await stuck.opened
      })
      .dispatch()
    two.jobs.define('long', () => {
      throw new Error('it was taken away')
    })
    const working = one.jobs.work(quiet)
    await until(() => began)
    skewMs = jumpMs
    for (let second = 0; second < 30; second++) {
      await manual.advance(1_000)
      await two.jobs.run()
    }
    expect(one.names()).not.toContain('worker:stalled')
    expect(state.renewals).toBeGreaterThanOrEqual(9)
    stuck.open()
    await run.result()
    await end(one.jobs, working, manual)
  })
})
