import { openSqlite } from 'treadle/sqlite'
import { ManualClock } from 'treadle/testing'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { idMaker } from '../../../src/core/id.ts'
import type { Envelope } from '../../../src/envelope/envelope.ts'
import { sealEnvelope } from '../../../src/envelope/envelope.ts'
import type { QueueBackend, WholeBackend } from '../../../src/queue/contract/contract.ts'
import { revisionOf } from '../../../src/testing/conformance/bench.ts'
import { scratchFolder } from '../../processes/database.ts'

const silent = { debug() {}, info() {}, warn() {}, error() {} }
const entry = { name: 'digest', expression: '* * * * *', timezone: 'UTC', version: 'v1' }
const minute = 60_000

let folder: ReturnType<typeof scratchFolder>
let clock: ManualClock
let nextId: () => string
const opened: WholeBackend[] = []

beforeEach(() => {
  folder = scratchFolder()
  clock = new ManualClock()
  nextId = idMaker(() => clock.now())
})
afterEach(async () => {
  for (const backend of opened.splice(0)) await backend[Symbol.asyncDispose]()
  folder.remove()
})

/** Each has connections of its own to the one file, as another process has. */
async function open(): Promise<WholeBackend> {
  const backend = (await openSqlite({ path: folder.file('jobs.db'), clock, logger: silent })) as WholeBackend
  opened.push(backend)
  return backend
}

async function claimOne(backend: QueueBackend) {
  const request = { queues: null, limit: 10, leaseMs: 30_000, owner: 'worker', maxRescues: 3 }
  const { leases } = await backend.lease({ jobs: [{ job: 'work', concurrency: null }], ...request })
  expect(leases).toHaveLength(1)
  return leases[0] as (typeof leases)[number]
}

function envelope(at: number): Envelope {
  const identity = { id: nextId(), job: 'work', name: 'work', queue: 'default', priority: 5, maxRetries: 3, timeoutMs: null }
  const rest = { singleInstance: false, idempotencyKey: null, meta: {}, occurrence: at, repeat: null }
  return sealEnvelope({ ...identity, ...rest }, '{}', { createdAt: clock.now(), runAt: at, uniqueKey: null }, null)
}

test('where schedules stand survives the programs that knew it', async () => {
  const first = await open()
  await first.store.schedules.register([entry, { ...entry, name: 'other' }])
  const at = clock.now()
  await first.store.schedules.enqueue([{ schedule: 'digest', at, envelope: envelope(at) }])
  const { token } = await claimOne(first)
  await first.settle([{ token, kind: 'done', result: null, keep: false }])
  await first.store.schedules.change('digest', 'pause')
  const before = await Promise.all([first.store.schedules.standings(), revisionOf(first.store.schedules)])
  await first[Symbol.asyncDispose]()
  await clock.advance(minute)
  const { schedules } = (await open()).store
  expect(await Promise.all([schedules.standings(), revisionOf(schedules)])).toEqual(before)
  expect(before[0][0]).toMatchObject({ paused: true, latest: { at, outcome: 'succeeded' } })
  expect(await schedules.enqueue([{ schedule: 'digest', at: clock.now(), envelope: envelope(at) }])).toEqual([false])
})

test('a change by one program is a new revision for the others', async () => {
  const [one, two] = [await open(), await open()]
  const before = await revisionOf(two.store.schedules)
  await one.store.schedules.register([entry])
  expect(await revisionOf(two.store.schedules)).not.toBe(before)
})

test('of many programs that go on from the same occurrence one does (X37)', async () => {
  const backends = [await open(), await open(), await open()]
  const at = clock.now()
  const answers = await Promise.all(
    Array.from({ length: 30 }, (_, index) =>
      backends[index % 3]?.store.schedules.enqueue([
        { schedule: 'digest', at: at + index, follows: null, envelope: envelope(at + index) },
      ]),
    ),
  )
  expect(answers.flat().filter((stored) => stored)).toHaveLength(1)
})

test('an outcome is written by a program that knew the job before its schedule', async () => {
  const [worker, scheduler] = [await open(), await open()]
  await worker.send([envelope(clock.now())])
  const dispatched = await claimOne(worker)
  await worker.settle([{ token: dispatched.token, kind: 'done', result: null, keep: true }])
  const key = { schedule: 'digest', at: clock.now() }
  await scheduler.store.schedules.enqueue([{ ...key, envelope: envelope(key.at) }])
  const scheduled = await claimOne(worker)
  await worker.settle([{ token: scheduled.token, kind: 'done', result: null, keep: true }])
  expect(await scheduler.store.schedules.occurrences({ keys: [key] })).toMatchObject([
    { outcome: 'succeeded', startedAt: key.at },
  ])
})

test('of many programs that ask for a lock one gets it, and only that one frees it (Y22)', async () => {
  const backends = [await open(), await open(), await open()]
  const answers = await Promise.all(
    Array.from({ length: 30 }, (_, index) =>
      backends[index % 3]?.coordination.lock('scheduler', { owner: `program ${index}`, host: 'here', pid: index }, minute),
    ),
  )
  const winners = answers.flatMap((answer, index) => (answer?.held ? [index] : []))
  expect(winners).toHaveLength(1)
  const [winner] = winners as [number]
  for (const backend of backends) {
    expect(await backend.coordination.unlock('scheduler', `program ${winner + 1}`)).toBe(false)
    expect(await backend.coordination.lock('scheduler', { owner: 'late', host: 'there', pid: 1 }, minute)).toEqual({
      held: false,
      by: { owner: `program ${winner}`, host: 'here', pid: winner, since: clock.now(), expiresAt: clock.now() + minute },
    })
  }
  expect(await backends[0]?.coordination.unlock('scheduler', `program ${winner}`)).toBe(true)
})

test('a lock outlives the program that took it, and its time does not', async () => {
  const first = await open()
  await first.coordination.lock('scheduler', { owner: 'gone', host: 'here', pid: 1 }, minute)
  await first[Symbol.asyncDispose]()
  const second = await open()
  const holder = { owner: 'next', host: 'here', pid: 2 }
  expect(await second.coordination.lock('scheduler', holder, minute)).toMatchObject({ held: false, by: { owner: 'gone' } })
  await clock.advance(minute)
  expect(await second.coordination.lock('scheduler', holder, minute)).toEqual({ held: true })
})
