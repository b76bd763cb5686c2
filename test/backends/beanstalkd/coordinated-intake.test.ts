import { beforeEach, describe, expect, test } from 'vitest'
import { TreadleError } from '../../../src/core/errors.ts'
import { silentLogger } from '../../../src/core/logger.ts'
import { openCoordinated } from '../../../src/engines/coordinated/index.ts'
import { openMemory } from '../../../src/engines/memory/index.ts'
import type { QueueBackend } from '../../../src/queue/contract/contract.ts'
import { Bench, unlimited } from '../../../src/testing/conformance/bench.ts'
import { ManualClock } from '../../../src/testing/manual-clock.ts'
import { beanstalkdUrl, freshPrefix, openFresh } from '../beanstalkd-ground.ts'

/** What is asked of this backend goes through these functions where they are given. */
function changed(backend: QueueBackend, changes: Partial<QueueBackend>): QueueBackend {
  return new Proxy(backend, {
    get(target, name) {
      const value: unknown = Reflect.get(name in changes ? changes : target, name)
      return typeof value === 'function' ? value.bind(target) : value
    },
  })
}

describe.skipIf(beanstalkdUrl() === null)('jobs that a store takes over from Beanstalkd', () => {
  let prefix = ''
  beforeEach(() => {
    prefix = freshPrefix()
  })
  const clock = new ManualClock()
  const broker = () => openFresh({ prefix })
  const beside = (one: QueueBackend, store: QueueBackend) => openCoordinated({ broker: one, store, clock, logger: silentLogger })

  test('are in the broker again while the store cannot be reached, and come when it can', async () => {
    let isAway = true
    const memory = openMemory({ clock })
    const send: QueueBackend['send'] = (envelopes) =>
      isAway ? Promise.reject(new TreadleError('DATABASE_UNREACHABLE', 'away')) : memory.send(envelopes)
    await using backend = beside(await broker(), changed(memory, { send }))
    const bench = new Bench(backend, clock)
    const ids = await bench.send({}, {})
    await expect(bench.lease()).rejects.toMatchObject({ code: 'DATABASE_UNREACHABLE' })
    isAway = false
    expect((await bench.claimedIds()).toSorted()).toEqual([...ids].toSorted())
  })

  test('that the store refuses hold up no others', async () => {
    const memory = openMemory({ clock })
    const send: QueueBackend['send'] = (envelopes) =>
      envelopes.some(({ payload }) => payload === '"refused"')
        ? Promise.reject(new TreadleError('DATABASE_FAILED', 'no such text'))
        : memory.send(envelopes)
    await using backend = beside(await broker(), changed(memory, { send }))
    const bench = new Bench(backend, clock)
    const [good, , better] = await bench.send({}, { payload: '"refused"' }, {})
    expect((await bench.claimedIds()).toSorted()).toEqual([good, better].toSorted())
  })

  test('come from the store alone while the broker is away', async () => {
    const memory = openMemory({ clock })
    const lease: QueueBackend['lease'] = () => Promise.reject(new TreadleError('DATABASE_UNREACHABLE', 'away'))
    await using backend = beside(changed(await broker(), { lease }), memory)
    const bench = new Bench(backend, clock)
    await expect(bench.lease()).rejects.toMatchObject({ code: 'DATABASE_UNREACHABLE' })
    const id = await bench.sendOne({ uniqueKey: 'kept' })
    expect(await bench.claimedIds()).toEqual([id])
  })

  test('that were stored, and whose messages come again, run once', async () => {
    const store = openMemory({ clock })
    const first = await broker()
    const bench = new Bench(beside(changed(first, { settle: () => Promise.reject(new Error('gone')) }), store), clock)
    const id = await bench.sendOne()
    expect(await bench.claimedIds()).toEqual([id])
    // Its connection closes, and the server hands the message out again.
    await first[Symbol.asyncDispose]()
    await using second = beside(await broker(), store)
    expect((await second.lease({ ...request, jobs: unlimited('work') })).leases).toEqual([])
    await using plain = await broker()
    expect((await plain.lease({ ...request, jobs: unlimited('work') })).leases).toEqual([])
  })

  test('of a name that no worker here knows wait in the store for one that does', async () => {
    await using backend = beside(await broker(), openMemory({ clock }))
    const bench = new Bench(backend, clock)
    const id = await bench.sendOne({ job: 'other' })
    expect(await bench.claimedIds()).toEqual([])
    expect(await bench.record(id)).toMatchObject({ state: 'ready', attempts: 0 })
    expect(await bench.claimedIds({ jobs: unlimited('other') })).toEqual([id])
  })

  test('are without a key, a number and links that a message says of itself', async () => {
    const raw = await broker()
    await using backend = beside(raw, openMemory({ clock }))
    const bench = new Bench(backend, clock)
    await raw.send([bench.envelope({ uniqueKey: 'squatted', uniqueUntil: 'ever', number: 7 })])
    const lease = await bench.claimOne()
    expect(lease.envelope).toMatchObject({ uniqueKey: null, number: null, links: null })
    const [receipt] = await backend.send([bench.envelope({ uniqueKey: 'squatted' })])
    expect(receipt?.stored).toBe(true)
  })

  test('stay in the broker while their queue is paused', async () => {
    const memory = openMemory({ clock })
    await using backend = beside(await broker(), memory)
    const bench = new Bench(backend, clock)
    await backend.store.setPaused({ queue: 'still' }, true)
    const id = await bench.sendOne({ queue: 'still' })
    expect(await bench.claimedIds()).toEqual([])
    expect(await memory.store.get(id)).toBeNull()
    await backend.store.setPaused({ queue: 'still' }, false)
    expect(await bench.claimedIds()).toEqual([id])
  })
})

const request = { queues: null, limit: 10, leaseMs: 30_000, owner: 'worker-2', maxRescues: 3 }
