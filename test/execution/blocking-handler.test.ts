import { describe, expect, it } from 'vitest'
import { openMemory } from '../../src/engines/memory/index.ts'
import { ManualClock } from '../../src/testing/manual-clock.ts'
import { worldOn } from '../world.ts'

/** A clock that goes on while nothing else can run: no timer fires on the way. */
class PassingClock extends ManualClock {
  #passedMs = 0

  override now(): number {
    return super.now() + this.#passedMs
  }

  pass(ms: number): void {
    this.#passedMs += ms
  }
}

function passing() {
  const clock = new PassingClock()
  return { ...worldOn(openMemory({ clock }), clock), clock }
}

describe('a handler that never lets go of the event loop', () => {
  it('has failed by its timeout where it took longer, although its timer could not tell', async () => {
    const { jobs, clock, record } = passing()
    const run = await jobs
      .define('block', () => {
        // Time passes, and nothing else can run meanwhile.
        clock.pass(5_000)
        return 'late'
      })
      .timeout('1s')
      .dispatch()
    await jobs.run()
    expect(await record(run)).toMatchObject({ state: 'dead', errors: [{ code: 'TIMEOUT' }] })
  })

  it('has succeeded where it took no longer', async () => {
    const { jobs, clock, record } = passing()
    const run = await jobs
      .define('block', () => {
        clock.pass(999)
        return 'in time'
      })
      .timeout('1s')
      .dispatch()
    await jobs.run()
    expect((await record(run)).state).toBe('succeeded')
  })
})
