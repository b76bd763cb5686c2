import { describe, expect, it } from 'vitest'
import { openMemory } from '../../../src/engines/memory/index.ts'
import { Bench, limited } from '../../../src/testing/conformance/bench.ts'
import { ManualClock } from '../../../src/testing/manual-clock.ts'

function watched() {
  const clock = new ManualClock()
  const bench = new Bench(openMemory({ clock }), clock)
  const seen = { wakes: 0 }
  bench.backend.watch(() => seen.wakes++)
  return { bench, seen }
}

describe('the memory backend wakes', () => {
  it('when a job is sent that falls due before everything that waits, so that nobody sleeps past it', async () => {
    const { bench, seen } = watched()
    await bench.send({ delayMs: 60_000 })
    expect(seen.wakes).toBe(1)
    await bench.send({ delayMs: 90_000 })
    expect(seen.wakes).toBe(1)
    await bench.send({ delayMs: 30_000 })
    expect(seen.wakes).toBe(2)
  })

  it('when a run ends for whose slot another job waits, and not when nobody waits (X5)', async () => {
    const { bench, seen } = watched()
    await bench.send({}, {})
    const jobs = limited('work', 1)
    const first = await bench.claimOne({ jobs })
    const before = seen.wakes
    await bench.settle(bench.done(first))
    expect(seen.wakes).toBe(before + 1)
    await bench.settle(bench.done(await bench.claimOne({ jobs })))
    expect(seen.wakes).toBe(before + 1)
  })

  it('once for everything that happens in one turn', async () => {
    const { bench, seen } = watched()
    await Promise.all([bench.send({}), bench.send({}), bench.send({})])
    expect(seen.wakes).toBe(1)
  })
})
