import { afterEach, describe, expect, test } from 'vitest'
import { TreadleError } from '../../src/core/errors.ts'
import { openMemory } from '../../src/engines/memory/index.ts'
import { type MoveProgress, move, planMove } from '../../src/moving/index.ts'
import type { QueueBackend } from '../../src/queue/contract/contract.ts'
import { Bench, times } from '../../src/testing/conformance/bench.ts'
import { entry, occurrence } from '../../src/testing/conformance/schedules/schedules.ts'
import { waitsFor } from '../../src/testing/conformance/workflows/links.ts'
import { ManualClock } from '../../src/testing/manual-clock.ts'

const clock = new ManualClock()
const opened: QueueBackend[] = []
afterEach(async () => {
  for (const backend of opened.splice(0)) await backend[Symbol.asyncDispose]()
})

function queue(): Bench {
  const backend = openMemory({ clock })
  opened.push(backend)
  return new Bench(backend, clock)
}

/** The part of a broker that a move needs: it takes envelopes, and cannot be looked into. */
function broker(): { readonly backend: QueueBackend; readonly sent: Bench } {
  const sent = queue()
  const { store: _, coordination: _shared, transfer: _moving, ...rest } = plain(sent.backend)
  return { backend: { ...rest, kind: 'broker' }, sent }
}

function plain(backend: QueueBackend): QueueBackend {
  return {
    kind: backend.kind,
    send: (envelopes) => backend.send(envelopes),
    lease: (request) => backend.lease(request),
    settle: (settlements) => backend.settle(settlements),
    begin: (tokens) => backend.begin(tokens),
    extend: (tokens, leaseMs) => backend.extend(tokens, leaseMs),
    reap: (rescues) => backend.reap(rescues),
    watch: (wake) => backend.watch(wake),
    [Symbol.asyncDispose]: async () => {},
    store: backend.store!,
    coordination: backend.coordination!,
    transfer: backend.transfer!,
  }
}

const presence = {
  host: 'h',
  pid: 1,
  version: '0',
  startedAt: 0,
  queues: null,
  jobs: [],
  concurrency: 1,
  allowed: 1,
  running: 0,
  breaker: 'closed',
  scheduler: null,
} as const

describe('a move is refused', () => {
  test('while workers run on the source, unless it is a live one', async () => {
    const [from, to] = [queue(), queue()]
    await from.send({})
    await from.store.workers.announce({ ...presence, owner: 'worker-7' }, 60_000)
    const refused = move({ from: from.backend, to: to.backend })
    await expect(refused).rejects.toMatchObject({ code: 'MOVE_REFUSED', message: expect.stringContaining('worker-7') })
    expect(await move({ from: from.backend, to: to.backend, live: true, settle: '1ms', idle: '1ms' })).toMatchObject({
      moved: 1,
    })
  })

  test('to the queue itself, out of a broker, and with options that nobody reads', async () => {
    const from = queue()
    await expect(move({ from: from.backend, to: from.backend })).rejects.toThrow(/same queue/)
    await expect(move({ from: broker().backend, to: from.backend })).rejects.toMatchObject({ code: 'CAPABILITY_MISSING' })
    await expect(move({ from: 'sqlite:no-such-file.db', to: from.backend })).rejects.toMatchObject({ code: 'DATABASE_NOT_FOUND' })
    await expect(move({ from: from.backend, to: queue().backend, life: true } as never)).rejects.toThrow(/unknown option "life"/)
  })
})

test('a dry run counts what is there, and changes nothing', async () => {
  const [from, to] = [queue(), queue()]
  await from.send({}, { delayMs: 1_000 }, { queue: 'other' })
  await from.store.schedules.register([entry()])
  await from.store.setPaused({ queue: 'default' }, true)
  const plan = await planMove({ from: from.backend, to: to.backend })
  expect(plan).toMatchObject({
    jobs: { ready: 2, scheduled: 1, running: 0 },
    schedules: 1,
    pausedQueues: ['default'],
    parcels: 0,
  })
  expect(await planMove({ from: from.backend, to: to.backend, queue: 'other' })).toMatchObject({
    jobs: { ready: 1, scheduled: 0 },
  })
  expect(await to.store.list({ limit: 9 })).toEqual([])
  expect((await from.store.list({ limit: 9 })).length).toBe(3)
})

test('progress tells how much there is, and ends with all of it', async () => {
  const [from, to] = [queue(), queue()]
  await from.send(...times(1_300, () => ({})))
  const seen: MoveProgress[] = []
  await move({ from: from.backend, to: to.backend, onProgress: (progress) => seen.push(progress) })
  expect(seen.map(({ total }) => total).every((total) => total === 1_300)).toBe(true)
  expect(seen.at(-1)?.moved).toBe(1_300)
  expect(seen.length).toBeGreaterThan(2)
})

test('a move that is asked to stop ends after the parcel that is under way, and the next one moves the rest', async () => {
  const [from, to] = [queue(), queue()]
  await from.send(...times(2_000, () => ({})))
  const stop = new AbortController()
  const first = await move({ from: from.backend, to: to.backend, signal: stop.signal, onProgress: () => stop.abort() })
  expect(first.isComplete).toBe(false)
  expect(first.moved + first.left.ready).toBe(2_000)
  expect(first.left.ready).toBeGreaterThan(0)
  const second = await move({ from: from.backend, to: to.backend })
  expect(first.moved + second.moved).toBe(2_000)
  expect(second.isComplete).toBe(true)
})

test('a job whose unique key the target holds stays until the key is free', async () => {
  const [from, to] = [queue(), queue()]
  const id = await from.sendOne({ uniqueKey: 'k' })
  await to.send({ uniqueKey: 'k' })
  const first = await move({ from: from.backend, to: to.backend })
  expect(first).toMatchObject({
    moved: 0,
    refusedJobs: 1,
    refused: [{ id, why: expect.stringContaining('"k"') }],
    isComplete: false,
  })
  await to.settle(to.done(await to.claimOne()))
  expect(await move({ from: from.backend, to: to.backend })).toMatchObject({ moved: 1, isComplete: true })
})

test('a job that the target cannot store at all stays, and keeps none of the others', async () => {
  const [from, to] = [queue(), queue()]
  const [, poison] = await from.send({}, { payload: '"poison"' }, {})
  const target = plain(to.backend)
  const transfer = Object.assign(Object.create(to.backend.transfer!), {
    unpack: async (parcel: Parameters<NonNullable<QueueBackend['transfer']>['unpack']>[0]) => {
      const isBad = parcel.units.some(({ jobs }) => jobs.some(({ payload }) => payload === '"poison"'))
      if (isBad) throw new TreadleError('DATABASE_FAILED', 'no such text can be stored')
      return to.backend.transfer!.unpack(parcel)
    },
    identity: () => to.backend.transfer!.identity(),
    learn: (facts: never) => to.backend.transfer!.learn(facts),
  })
  const report = await move({ from: from.backend, to: { ...target, transfer } })
  expect(report).toMatchObject({ moved: 2, refused: [{ id: poison, why: expect.stringContaining('no such text') }] })
  expect((await from.store.list({ limit: 9 })).map(({ id }) => id)).toEqual([poison])
})

test('only one move of a queue is under way', async () => {
  const [from, to] = [queue(), queue()]
  await from.send({})
  await from.coordination.lock('treadle move', { owner: 'another', host: 'h', pid: 1 }, 3_600_000)
  const stop = new AbortController()
  const waited: (string | null)[] = []
  const onProgress = ({ waitingFor }: MoveProgress) => {
    waited.push(waitingFor)
    stop.abort()
  }
  await expect(move({ from: from.backend, to: to.backend, signal: stop.signal, onProgress })).rejects.toThrow(/under way/)
  expect(waited).toEqual(['another move of this queue'])
})

test('a broker gets what it can hold, and the rest stays with the reason', async () => {
  const from = queue()
  const { backend, sent } = broker()
  const [first] = await from.send(
    { payload: '1' },
    { delayMs: 60_000, group: 'g' },
    { uniqueKey: 'k' },
    { idempotencyKey: 'i' },
    { singleInstance: true },
  )
  await from.send({ links: waitsFor([first as string]) })
  await from.store.schedules.enqueue([occurrence(from, clock.now() + 60_000)])
  await from.store.cancel(await from.sendOne({}))
  expect((await planMove({ from: from.backend, to: backend })).cannotHold).toContain('workflows')
  const report = await move({ from: from.backend, to: backend })
  expect(report.moved).toBe(1)
  expect(report.refused.map(({ why, jobs }) => `${jobs}: ${why}`).sort()).toEqual([
    '1: broker cannot run a job alone',
    '1: broker keeps no ended jobs',
    '1: broker keeps no keys',
    '1: broker keeps no keys',
    '1: broker keeps no schedules',
    '2: broker has no workflows',
  ])
  expect((await sent.store.list({ limit: 9 })).map(({ group }) => group)).toEqual(['g'])
})

test('a live move takes what comes while it goes on, and what returns', async () => {
  const [from, to] = [queue(), queue()]
  await from.send({}, {})
  const lease = (await from.claim({ limit: 1 }))[0]!
  let isLate = false
  const onProgress = async ({ waitingFor }: MoveProgress) => {
    if (waitingFor !== 'running jobs to return' || isLate) return
    isLate = true
    await from.send({})
    await clock.advance(10)
    await from.settle(from.retry(lease))
  }
  await clock.advance(10)
  const report = await move({ from: from.backend, to: to.backend, live: true, settle: '1ms', idle: '10ms', onProgress })
  expect(report).toMatchObject({ moved: 3, isComplete: true })
  expect((await to.record(lease.envelope.id)).attempts).toBe(1)
})

test('of a million jobs no more than two parcels are in memory at a time', async () => {
  const [from, to] = [queue(), queue()]
  await from.sendOne()
  const { transfer: known } = from.backend
  const request = { target: '', queue: null, createdBefore: Number.MAX_SAFE_INTEGER, limit: 500 }
  const { after } = await known!.read({ ...request, after: null })
  const [unit] = (await known!.read({ ...request, after })).units
  const units = times(500, () => unit!)
  let [packed, open, most] = [0, 0, 0]
  const source = plain(from.backend)
  const transfer: NonNullable<QueueBackend['transfer']> = {
    ...unchanged(from.backend),
    pack: async () => {
      most = Math.max(most, ++open)
      const parcel = { id: `${++packed}`, target: '', origin: '', paused: [], schedules: [], units }
      return { parcel, after: packed % 2_000 === 0 ? null : 'more', unreadable: [] }
    },
    close: async () => {
      open--
    },
  }
  const counts = async () => (packed >= 2_000 ? [] : from.store.counts())
  const store = Object.assign(Object.create(from.store), { counts })
  const target = { ...plain(to.backend), transfer: { ...unchanged(to.backend), unpack: async () => [] } }
  const stop = new AbortController()
  const onProgress = ({ moved }: MoveProgress) => moved >= 1_000_000 && stop.abort()
  const report = await move({ from: { ...source, store, transfer }, to: target, signal: stop.signal, onProgress })
  expect(report.moved).toBe(1_000_000)
  expect(most).toBeLessThanOrEqual(2)
})

function unchanged({ transfer }: QueueBackend): NonNullable<QueueBackend['transfer']> {
  const known = transfer!
  return {
    identity: () => known.identity(),
    pack: (request) => known.pack(request),
    read: (request) => known.read(request),
    parcels: () => known.parcels(),
    parcel: (id) => known.parcel(id),
    unpack: (parcel) => known.unpack(parcel),
    close: (id, returned) => known.close(id, returned),
    facts: (request) => known.facts(request),
    learn: (facts) => known.learn(facts),
  }
}
