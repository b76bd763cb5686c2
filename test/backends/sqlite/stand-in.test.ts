import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { idMaker } from '../../../src/core/id.ts'
import { flatten } from '../../../src/engines/sqlite/fast-path/flat-envelopes.ts'
import { loadDriver } from '../../../src/engines/sqlite/file/driver.ts'
import type { Engine } from '../../../src/engines/sqlite/thread/engine.ts'
import type { Standstill } from '../../../src/engines/sqlite/thread/keeping.ts'
import { openEngine } from '../../../src/engines/sqlite/thread/open-engine.ts'
import { BeatWatch, standInFor } from '../../../src/engines/sqlite/thread/stand-in.ts'
import { type Identity, sealEnvelope } from '../../../src/envelope/envelope.ts'
import type { StandInRequest } from '../../../src/queue/contract/contract.ts'
import { ManualClock } from '../../../src/testing/manual-clock.ts'
import { query, scratchFolder } from '../../processes/database.ts'

const request: StandInRequest = { owner: 'one', leaseMs: 12_000, graceMs: 5_000, longestMs: 60_000 }

describe('the thread that stands in for an event loop', () => {
  /** The thread has a time of its own, and the program's clock another one. */
  function watched(keepLeases: (standstill: Standstill) => void = () => {}) {
    const [program, thread] = [new ManualClock(), new ManualClock(0)]
    const kept: number[] = []
    const beats = new SharedArrayBuffer(8)
    const stopwatch = () => {
      const start = thread.now()
      return () => thread.now() - start
    }
    const engine = {
      keepLeases(_: StandInRequest, standstill: Standstill) {
        kept.push(thread.now())
        keepLeases(standstill)
      },
    }
    const watch = new BeatWatch({ id: 1, request, beats }, engine, { timer: (ms, run) => thread.timer(ms, run), stopwatch })
    const standIn = standInFor({ id: 1, request, beats }, program, () => watch.stop())
    return { standIn, program, thread, kept }
  }

  test('does nothing while beats come', async () => {
    const { standIn, program, thread, kept } = watched()
    for (let beat = 0; beat < 100; beat++) {
      await program.advance(1_000)
      standIn.beat()
      await thread.advance(1_000)
    }
    expect(kept).toEqual([])
  })

  test('renews in time when they stop, and goes on for as long as they do', async () => {
    const { standIn, thread, kept } = watched()
    standIn.beat()
    await thread.advance(24_000)
    // Noticed at 1 s; missed for a quarter of the lease at 4 s; from then on a third of the lease later each time.
    expect(kept).toEqual([4_000, 8_000, 12_000, 16_000, 20_000, 24_000])
    standIn.rest()
    await thread.advance(60_000)
    expect(kept).toHaveLength(6)
  })

  test('tells the time of the program’s clock, which is not its own', async () => {
    const told: Standstill[] = []
    const { standIn, program, thread } = watched((standstill) => told.push(standstill))
    const since = program.now()
    standIn.beat()
    await thread.advance(8_000)
    expect(told).toEqual([
      { since, now: since + 3_000 },
      { since, now: since + 7_000 },
    ])
  })

  test('does nothing before the first beat, while the program rests, and after it was stopped', async () => {
    const { standIn, thread, kept } = watched()
    await thread.advance(60_000)
    standIn.beat()
    standIn.rest()
    await thread.advance(60_000)
    standIn.beat()
    standIn.stop()
    await thread.advance(60_000)
    expect(kept).toEqual([])
    expect(thread.nextTimerAt).toBeNull()
  })

  test('tries again at its next look when the database fails', async () => {
    let failures = 2
    const { standIn, thread, kept } = watched(() => {
      if (failures-- > 0) throw new Error('busy')
    })
    standIn.beat()
    await thread.advance(11_000)
    expect(kept).toEqual([4_000, 5_000, 6_000, 10_000])
  })
})

describe('the leases that it renews', () => {
  let folder: ReturnType<typeof scratchFolder>
  let path: string
  let engine: Engine
  const now = 1_000_000
  const nextId = idMaker(() => now)
  beforeEach(async () => {
    folder = scratchFolder()
    path = folder.file('jobs.db')
    engine = openEngine(await loadDriver(), { path, busyMs: 1_000, migrate: true, fastPaths: true })
  })
  afterEach(() => {
    engine.close()
    folder.remove()
  })

  test('are all of its owner’s and nobody else’s', () => {
    claim('one', 'a')
    claim('two', 'b')
    engine.keepLeases(request, { since: now, now: now + 4_000 })
    expect(leases()).toEqual({ a: now + 16_000, b: now + 12_000 })
  })

  test('end with the timeout of their job and some more, and are never shortened', () => {
    claim('one', 'a', { timeoutMs: 6_000 })
    claim('one', 'b', { timeoutMs: 60_000 })
    claim('one', 'c', { timeoutMs: 1_000 })
    engine.keepLeases(request, { since: now, now: now + 4_000 })
    // The last one's time ends before its lease does: that it has.
    expect(leases()).toEqual({ a: now + 12_000, b: now + 16_000, c: now + 12_000 })
    engine.keepLeases(request, { since: now, now: now + 20_000 })
    expect(leases()).toEqual({ a: now + 12_000, b: now + 32_000, c: now + 12_000 })
  })

  test('of jobs without a timeout end a bounded time after the last beat', () => {
    claim('one', 'a')
    for (let passed = 4_000; passed <= 600_000; passed += 4_000) engine.keepLeases(request, { since: now, now: now + passed })
    expect(leases()).toEqual({ a: now + 60_000 })
  })

  test('may have an identity that nobody can read', () => {
    engine.send(flatten([{ ...envelope('a'), identity: 'no JSON' }]), now)
    lease('one')
    engine.keepLeases(request, { since: now, now: now + 4_000 })
    expect(leases()).toEqual({ a: now + 16_000 })
  })

  /** The label is the job's payload. */
  function claim(owner: string, label: string, wanted: Partial<Identity> = {}): void {
    engine.send(flatten([envelope(label, wanted)]), now)
    lease(owner)
  }

  function lease(owner: string): void {
    const jobs = JSON.stringify([['work', null]])
    const claimed = engine.lease({ jobs, queues: null, limit: 1, leaseMs: 12_000, owner, maxRescues: 3 }, `by ${owner}`, now)
    expect(JSON.parse(claimed.columns[0] ?? '[]')).toHaveLength(1)
  }

  function envelope(label: string, wanted: Partial<Identity> = {}) {
    const names = {
      id: nextId(),
      job: 'work',
      name: 'work',
      queue: 'default',
      idempotencyKey: null,
      meta: {},
      occurrence: null,
      repeat: null,
    }
    const identity = { ...names, priority: 5, maxRetries: 3, timeoutMs: null, singleInstance: false, ...wanted }
    return sealEnvelope(identity, label, { createdAt: now, runAt: now, uniqueKey: null }, null)
  }

  function leases(): Record<string, number> {
    const rows = query<{ payload: string; lease_until: number }>(path, 'SELECT payload, lease_until FROM treadle_jobs')
    return Object.fromEntries(rows.map(({ payload, lease_until }) => [payload, lease_until]))
  }
})
