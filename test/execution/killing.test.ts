import { describe, expect, it } from 'vitest'
import { ActiveRun } from '../../src/execution/attempt/active-run.ts'
import { AbandonedError, type StopReason } from '../../src/execution/attempt/stop-reason.ts'
import type { Lease } from '../../src/queue/contract/contract.ts'
import { ManualClock } from '../../src/testing/manual-clock.ts'

const lease = { token: 't', attempt: 1, expiresAt: 0, envelope: { id: '1', job: 'spins', queue: 'default' } } as Lease

/** A run whose handler ends only when it is killed, if it is not stuck in the system. */
function killable(graceMs: number, isStuck = false) {
  const clock = new ManualClock()
  const run = new ActiveRun(lease, clock)
  const killedAt: number[] = []
  const overruns: number[] = []
  const startedAt = clock.now()
  let end: (thrown: unknown) => void = () => {}
  const handler = new Promise((_, reject) => {
    end = reject
  })
  run.keepSlot((overrunMs) => overruns.push(overrunMs))
  run.killAfter(graceMs, () => {
    killedAt.push(clock.now() - startedAt)
    if (!isStuck) end(new Error('killed'))
  })
  const ended = run.guard(handler).catch((thrown: unknown) => thrown)
  return { clock, run, killedAt, overruns, ended }
}

describe('a run that can be killed', () => {
  it.each<StopReason>(['timeout', 'cancelled', 'lost', 'shutdown'])('is, its grace after it was stopped: %s', async (reason) => {
    const { clock, run, killedAt, overruns, ended } = killable(1_000)
    run.stop(reason)
    await clock.advance(999)
    expect(killedAt).toEqual([])
    await clock.advance(1)
    expect(await ended).toEqual(new Error('killed'))
    expect({ killedAt, overruns, abandoned: run.abandoned }).toEqual({ killedAt: [1_000], overruns: [], abandoned: false })
    expect(clock.nextTimerAt).toBeNull()
  })

  it('has no longer grace in a shutdown than that waits, also when it was over its time before', async () => {
    const { clock, run, killedAt, ended } = killable(60_000)
    run.stop('timeout')
    await clock.advance(1_000)
    run.stop('shutdown')
    await clock.advance(5_000)
    expect(await ended).toEqual(new Error('killed'))
    expect(killedAt).toEqual([6_000])
  })

  it('keeps its slot where not even that ends it, and is left behind by a shutdown', async () => {
    const { clock, run, overruns, ended } = killable(1_000, true)
    run.stop('timeout')
    await clock.advance(6_000)
    expect(overruns).toEqual([6_000])
    run.stop('shutdown')
    await clock.advance(5_000)
    expect(await ended).toBeInstanceOf(AbandonedError)
  })
})
