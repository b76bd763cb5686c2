import { describe, expect, test } from 'vitest'
import { silentLogger } from '../../src/core/logger.ts'
import { hour, job, startMs, schedulerWorld as world } from './scheduler-world.ts'

describe('a clock that is set back while it runs', () => {
  test.each([
    ['between two ticks', false],
    ['during a tick', true],
  ])('is told, and runs of each second go on at once: %s', async (_, isDuringTick) => {
    const warnings: string[] = []
    const logger = { ...silentLogger, warn: (message: string) => void warnings.push(message) }
    const { scheduler, store, clock } = world({ definitions: [job('beat', '* * * * * *')], nowMs: startMs + hour, logger })
    void scheduler.start()
    await clock.advance(2_500)
    const now = clock.now.bind(clock)
    const setBack = () => {
      clock.now = () => now() - 90_000
    }
    if (isDuringTick) store.beforeEnqueue = async () => setBack()
    else setBack()
    await clock.advance(4_000)
    await scheduler.stop()
    const after = store.times('beat').filter((time) => time < startMs + hour - 60_000)
    expect(after.length).toBeGreaterThanOrEqual(3)
    expect(warnings).toEqual([expect.stringMatching(/^the clock was set back by (89|90)\d* ms: schedules continue/)])
  })
})
