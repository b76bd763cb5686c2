import { describe, expect, test } from 'vitest'
import type { WorkOptions } from '../../src/worker/options.ts'
import { worldOn } from '../world.ts'
import { faultyBackend } from './faults.ts'

describe('an idle worker', () => {
  test('looks seldom where other programs wake it', async () => {
    const { looksDuring } = await idleWorker(true)
    expect(await looksDuring(10_000)).toBe(10)
  })

  test('looks often after it has found work where they cannot, and less and less often while it finds nothing', async () => {
    const { looksDuring, send } = await idleWorker(false)
    const first = await looksDuring(1_000)
    expect(first).toBeGreaterThanOrEqual(5)
    await looksDuring(10_000)
    expect(await looksDuring(10_000)).toBe(10)
    await send()
    expect(await looksDuring(2_000)).toBeGreaterThanOrEqual(6)
  })

  test('never looks more seldom than it was told to', async () => {
    const { looksDuring } = await idleWorker(false, { poll: '200ms' })
    await looksDuring(10_000)
    expect(await looksDuring(10_000)).toBe(50)
  })

  /** On a queue that wakes other programs as well, or nobody at all. */
  async function idleWorker(isPush: boolean, options: WorkOptions = {}) {
    const { backend, clock, calls } = faultyBackend()
    const { jobs } = worldOn({ ...backend, watch: () => ({ isPush, close: () => {} }) }, clock)
    const job = jobs.define('work', () => {})
    void jobs.work({ signals: false, scheduler: false, ...options })
    await clock.advance(0)
    return {
      send: () => job.dispatch(null),
      async looksDuring(ms: number) {
        calls.lease.length = 0
        await clock.advance(ms)
        return calls.lease.length
      },
    }
  }
})
