import { describe, expect, it } from 'vitest'
import { openMemory } from '../../src/engines/memory/index.ts'
import { ManualClock, seededRandom } from '../../src/testing/manual-clock.ts'
import { StartRates } from '../../src/worker/runs/start-rates.ts'
import { until, worldOn } from '../world.ts'
import { end } from './standing-world.ts'

const perMs = 1_000
const lease = { envelope: { job: 'mail', queue: 'mail', group: null } } as never

describe('a process that is stopped between counting a start and the first line of the handler', () => {
  it.each([1, 2, 5, 40, 64, 100])('lets no more than %i handlers begin in any window', (limit) => {
    for (let seed = 1; seed <= 20; seed++) {
      const random = seededRandom(seed)
      let now = 0
      const clock = { ...new ManualClock(), now: () => now, monotonic: () => now } as never
      const rates = new StartRates({
        definitions: () => [],
        queueLimits: [{ queue: 'mail', concurrency: null, rate: { limit, perMs } }],
        clock,
      })
      const begins: number[] = []
      while (begins.length < 4 * limit + 4) {
        now += Math.max(rates.heldMs(lease), random() < 0.5 ? 0 : random() * 3)
        if (rates.heldMs(lease) > 0) continue
        rates.started(lease)
        // Up to 50 ms of a second are corrected; a machine that stops programs for longer is told of in the docs.
        now += random() < 0.1 ? random() * 50 : random() * 0.01
        begins.push(now)
        rates.called(lease)
      }
      const tooClose = begins.filter((at, index) => index >= limit && at - (begins[index - limit] as number) < perMs)
      expect([seed, tooClose]).toEqual([seed, []])
    }
  })

  it('counts the start of a handler when it has given back control', async () => {
    let stoppedMs = 0
    const clock = Object.assign(new ManualClock(), { monotonic: (): number => clock.now() + stoppedMs })
    const { jobs } = worldOn(openMemory({ clock }), clock)
    const begins: number[] = []
    const job = jobs
      .define('mail', () => {
        if (begins.length === 0) stoppedMs += 6
        begins.push(clock.now() + stoppedMs)
      })
      .rate(1, '1s')
    await job.dispatchMany([1, 2])
    const working = jobs.work({ signals: false, lease: '9s', grace: 0, poll: '1s' })
    await until(() => begins.length === 1)
    for (let tick = 0; tick < 30; tick++) await clock.advance(100)
    await until(() => begins.length === 2)
    expect((begins[1] as number) - (begins[0] as number)).toBeGreaterThanOrEqual(1_000)
    await end(jobs, working, clock)
  })
})
