import { describe, expect, it } from 'vitest'
import type { MachineUse } from '../../src/core/process/machine.ts'
import { ManualClock } from '../../src/testing/manual-clock.ts'
import { nextAllowed, pressureOf } from '../../src/worker/health/load/load.ts'
import { type LoadChange, LoadControl } from '../../src/worker/health/load/load-control.ts'
import { aborted, until } from '../world.ts'
import { end, standingWorld } from './standing-world.ts'

const idle: MachineUse = { cpu: 0, processCpu: 0, memoryBytes: 0 }

describe('the number of jobs that a worker allows itself', () => {
  it('R20: falls by a fifth while everything is too busy, and never below one', () => {
    expect(nextAllowed(20, 1.2, 20)).toBe(16)
    expect(nextAllowed(16, 5, 20)).toBe(12)
    expect(nextAllowed(2, 5, 20)).toBe(1)
    expect(nextAllowed(1, 5, 20)).toBe(1)
  })

  it('R20: rises by one below the limit, up to all, and stays as it is a little above it', () => {
    expect(nextAllowed(4, 0.99, 20)).toBe(5)
    expect(nextAllowed(20, 0, 20)).toBe(20)
    expect(nextAllowed(4, 1, 20)).toBe(4)
    expect(nextAllowed(4, 1.1, 20)).toBe(4)
  })

  it('R17: goes by what is furthest above its own limit', () => {
    const load = { ...idle, cpu: 0.5, lagMs: 300, memoryBytes: 100 }
    expect(pressureOf(load, { cpu: 0.5, lagMs: null, memoryBytes: null })).toBe(1)
    expect(pressureOf(load, { cpu: 0.5, lagMs: 100, memoryBytes: null })).toBe(3)
    expect(pressureOf(load, { cpu: null, lagMs: null, memoryBytes: 50 })).toBe(2)
    expect(pressureOf(load, { cpu: null, lagMs: null, memoryBytes: null })).toBe(0)
  })
})

describe('a worker’s load control', () => {
  function controlled(concurrency: number) {
    const clock = new ManualClock()
    const told: LoadChange[] = []
    const use = { ...idle }
    const machine: { -readonly [Key in keyof MachineUse]: MachineUse[Key] } = use
    const control = new LoadControl({
      concurrency,
      limits: { cpu: 0.8, lagMs: null, memoryBytes: null },
      clock,
      meter: () => () => ({ ...machine }),
      lagMs: () => 7,
      onRise: () => {},
      onChange: (change) => told.push(change),
    })
    control.start()
    return { clock, told, machine, control }
  }

  it('R17, R20: looks once a second, backs off quickly and comes back slowly', async () => {
    const { clock, machine, control } = controlled(20)
    machine.cpu = 1
    const seen: number[] = []
    for (let second = 0; second < 6; second++) {
      await clock.advance(1_000)
      seen.push(control.allowed)
    }
    expect(seen).toEqual([16, 12, 9, 7, 5, 4])
    expect(control.load).toEqual({ cpu: 1, processCpu: 0, memoryBytes: 0, lagMs: 7 })
    machine.cpu = 0.2
    await clock.advance(3_000)
    expect(control.allowed).toBe(7)
    await clock.advance(60_000)
    expect(control.allowed).toBe(20)
    control.stop()
    expect(clock.nextTimerAt).toBeNull()
  })

  it('tells of large changes, and when it has come to an end, but not each second', async () => {
    const { clock, machine, told } = controlled(20)
    machine.cpu = 1
    await clock.advance(30_000)
    expect(told.map(({ allowed }) => allowed)).toEqual([16, 12, 7, 3, 1])
    machine.cpu = 0
    await clock.advance(30_000)
    expect(told.slice(5).map(({ allowed }) => allowed)).toEqual([5, 9, 13, 17, 20])
    expect(told[0]).toEqual({ allowed: 16, concurrency: 20, load: { ...idle, cpu: 1, lagMs: 7 } })
  })

  it('measures nothing without a limit', () => {
    const clock = new ManualClock()
    const refuse = () => {
      throw new Error('measured')
    }
    const control = new LoadControl({
      concurrency: 5,
      limits: null,
      clock,
      meter: refuse,
      lagMs: refuse,
      onRise: refuse,
      onChange: refuse,
    })
    control.start()
    expect([control.allowed, control.load, clock.nextTimerAt]).toEqual([5, null, null])
  })
})

describe('a worker with a limit of its load', () => {
  it('R17, R20: takes no more jobs than it allows itself, and more again as it comes to rest', async () => {
    const { jobs, manual, standStill, names, happened } = standingWorld()
    const job = jobs.define('long', async (_, { signal }) => aborted(signal))
    await job.dispatch()
    const working = jobs.work({ signals: false, grace: 0, concurrency: 5, maxLoad: { lag: '50ms' } })
    await until(() => names().includes('job:started'))
    for (let second = 0; second < 6; second++) {
      standStill(100)
      await manual.advance(1_000)
    }
    expect(await jobs.workerState()).toMatchObject({ allowed: 1, concurrency: 5, load: { lagMs: 100 } })
    await jobs.dispatchMany(job, Array(9).fill(null))
    standStill(100)
    await manual.advance(1_000)
    expect(await jobs.workerState()).toMatchObject({ running: 1, allowed: 1 })
    await manual.advance(2_000)
    expect((await jobs.workerState())?.running).toBeLessThan(5)
    await manual.advance(4_000)
    expect(await jobs.workerState()).toMatchObject({ running: 5, allowed: 5 })
    const told = happened.flatMap(({ name, event }) => (name === 'worker:load' ? [(event as LoadChange).allowed] : []))
    expect([told.at(0), told.includes(1), told.at(-1)]).toEqual([4, true, 5])
    await end(jobs, working, manual)
  })
})
