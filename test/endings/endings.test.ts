import { describe, expect, test } from 'vitest'
import type { Treadle } from '../../src/app/treadle.ts'
import { type AttackedQueue, attackedQueue, signingKey } from '../forging/attacked-queue.ts'
import { until } from '../world.ts'
import { bedrockOf, type Define, type Door, doors, type Handler, operateToken, type Run, storedJobs, why } from './doors.ts'

interface Given {
  readonly queue: AttackedQueue
  /** A program that makes jobs. */
  readonly maker: Treadle
  readonly run: Run
  /** Asks the TCP server, as somebody who may do everything to jobs. */
  ask(verb: string, headers: Readonly<Record<string, unknown>>): Promise<{ readonly status: string }>
}

interface Case {
  readonly title: string
  readonly define?: Define
  /** Those that can end a job like that. */
  readonly through?: readonly Door[]
  act(given: Given): Promise<void>
  /** What need not be the same. */
  readonly differs?: readonly string[]
  /** What must be in the store afterwards, whoever has ended the job: by name, then by time. */
  readonly leaves: readonly Readonly<Record<string, unknown>>[]
}

const start = Date.UTC(2026, 0, 1)
const hour = 3_600_000
const tenSeconds = 10_000
const all: readonly Door[] = ['worker', 'http', 'bedrock']
/** FailJob replaces the data of its job by what it says of the failure. */
const failed = { error: why }
const plain: Define = (jobs, handler) => jobs.define('work', handler)

/** A run of a schedule, during which the next one falls due: well within its lease, which nobody renews while the clock is moved. */
const scheduled: Define = (jobs, handler) => jobs.define('work', handler).cron('*/10 * * * * *')

async function plan({ queue }: Given, at: number): Promise<void> {
  const planner = queue.other({ signingKey })
  scheduled(planner.jobs, async () => {})
  planner.jobs.define('other', async () => {})
  await queue.clock.advance(at - queue.clock.now())
  await planner.jobs.run({ jobs: ['other'] })
}

/** The first run of the schedule is due, and the one after it falls due while it runs. */
async function overtake(given: Given, report: Parameters<Run>[0]): Promise<void> {
  await plan(given, start)
  expect(await given.run(report, () => plan(given, start + tenSeconds + 1))).toBe(true)
}

/** Made over TCP while its parent runs, and held back for it. */
const child = ({ ask, queue }: Given) => {
  return async (id: string) => {
    const parentJobID = (await queue.backend.store.numbers!.assign([id]))[0]
    expect((await ask('CreateJob', { name: 'zchild', parentJobID })).status).toBe('200 OK')
  }
}

/** A server that was not there looks for held children some seconds later. */
async function released({ queue }: Given): Promise<void> {
  await until(async () => {
    await queue.clock.advance(1_000)
    return (await queue.backend.store.list({ job: 'zchild', limit: 1 }))[0]?.state === 'ready'
  })
}

const cases: readonly Case[] = [
  {
    title: 'a success leaves its result, signed',
    act: async ({ maker, run }) => {
      await maker.dispatch('work', { a: 1 })
      await run({ kind: 'done', result: { sum: 3 } })
    },
    leaves: [{ state: 'succeeded', result: '{"sum":3}', isSealed: true, payload: '{"a":1}', attempts: 1, finishedAt: start }],
  },
  {
    title: 'a success without a result leaves none, and is not signed',
    act: async ({ maker, run }) => {
      await maker.dispatch('work', { a: 1 })
      await run({ kind: 'done' })
    },
    leaves: [{ state: 'succeeded', result: null, isSealed: false }],
  },
  {
    title: 'a success lets go those who wait for it',
    act: async ({ maker, run }) => {
      const first = await maker.dispatch('work', {})
      await maker.declare('xnext').dispatch({}, { dependsOn: first })
      await run({ kind: 'done' })
    },
    leaves: [
      { job: 'work', state: 'succeeded', isSealed: true },
      { job: 'xnext', state: 'ready' },
    ],
  },
  {
    title: 'a failure with retries left is tried again',
    // FailJob is for good.
    through: ['worker', 'http'],
    act: async ({ maker, run }) => {
      await maker.dispatch('work', {}, { maxRetries: 2 })
      await run({ kind: 'failed' })
    },
    leaves: [{ state: 'scheduled', attempts: 1, errors: [{ message: why, attempt: 1, at: start }], runAt: start + 500 }],
  },
  {
    title: 'a failure at the last attempt is dead',
    through: ['worker', 'http'],
    act: async ({ maker, run, queue }) => {
      await maker.dispatch('work', {}, { maxRetries: 1 })
      await run({ kind: 'failed' })
      await queue.clock.advance(hour)
      await run({ kind: 'failed' })
    },
    leaves: [{ state: 'dead', reason: 'exhausted', attempts: 2, errors: [{ attempt: 1 }, { attempt: 2 }] }],
  },
  {
    title: 'a failure that retrying cannot help is dead at once',
    act: async ({ maker, run }) => {
      await maker.dispatch('work', failed, { maxRetries: 5 })
      await run({ kind: 'permanent' })
    },
    leaves: [{ state: 'dead', reason: 'permanent', errors: [{ message: why }], finishedAt: start }],
  },
  {
    title: 'a job that is delivered at most once is dead when it fails',
    define: (jobs, handler) => jobs.define('work', handler).delivery('at-most-once'),
    through: ['worker', 'http'],
    act: async ({ maker, run }) => {
      await maker.dispatch('work', {})
      await run({ kind: 'failed' })
    },
    leaves: [{ state: 'dead', reason: 'exhausted' }],
  },
  {
    title: 'a job that was asked to stop is cancelled',
    // Clients of the protocol are not told that they are to stop.
    through: ['worker', 'http'],
    act: async ({ maker, run }) => {
      await maker.dispatch('work', {})
      await run({ kind: 'cancelled' })
    },
    // A worker learns of it with its next look at the queue.
    differs: ['finishedAt'],
    leaves: [{ state: 'cancelled', attempts: 1 }],
  },
  {
    title: 'a job that repeats waits for its next time with all its attempts',
    act: async ({ ask, run }) => {
      await ask('CreateJob', { name: 'work', data: { n: 1 }, repeat: 'STARTED, +1 HOUR' })
      await run({ kind: 'done' })
    },
    leaves: [
      {
        state: 'scheduled',
        payload: '{"n":1}',
        runAt: start + hour,
        attempts: 0,
        meta: JSON.stringify({ bedrock: { lastRun: start } }),
        isGenuine: true,
      },
    ],
  },
  {
    title: 'a job that repeats goes on from where others have put it while it ran',
    act: async ({ ask, run }) => {
      await ask('CreateJob', { name: 'work', data: { n: 1 }, repeat: 'SCHEDULED, +1 HOUR' })
      await run({ kind: 'done' }, async () => {
        await ask('UpdateJob', { jobID: 1, data: { n: 2 }, nextRun: '2026-01-01 05:00:00' })
      })
    },
    leaves: [{ state: 'scheduled', payload: '{"n":2}', runAt: start + 6 * hour }],
  },
  {
    title: 'a job whose retryAfter has moved it goes on from the time that it had, without its counts',
    act: async ({ ask, run, queue }) => {
      await ask('CreateJob', { name: 'work', data: { n: 1 }, repeat: 'SCHEDULED, +1 HOUR', retryAfter: '+10 MINUTES' })
      expect((await ask('GetJob', { name: 'work' })).status).toBe('200 OK')
      await queue.clock.advance(600_000)
      expect(await run({ kind: 'done' })).toBe(true)
    },
    leaves: [{ state: 'scheduled', payload: '{"n":1}', runAt: start + hour, isGenuine: true }],
  },
  {
    title: 'a run of a schedule that ends well skips what fell due meanwhile',
    define: scheduled,
    act: (given) => overtake(given, { kind: 'done' }),
    leaves: [
      { state: 'succeeded', runAt: start },
      { state: 'skipped', runAt: start + tenSeconds, reason: 'the run of 2026-01-01T00:00:00Z had not ended' },
      { state: 'scheduled', runAt: start + 2 * tenSeconds },
    ],
  },
  {
    title: 'a run of a schedule that fails for good does so, too',
    define: scheduled,
    act: (given) => overtake(given, { kind: 'permanent' }),
    differs: ['payload'],
    leaves: [{ state: 'dead' }, { state: 'skipped', runAt: start + tenSeconds }, { state: 'scheduled' }],
  },
  {
    title: 'children that were held back for a job that has failed run',
    act: async (given) => {
      await given.maker.dispatch('work', failed)
      await given.run({ kind: 'permanent' }, child(given))
      await released(given)
    },
    leaves: [
      { job: 'work', state: 'dead' },
      { job: 'zchild', state: 'ready', isGenuine: true },
    ],
  },
  {
    title: 'a job that is done for good waits for the children that it has made, and keeps its result',
    // FinishJob of a parent is not for good: it is handed out again.
    through: ['worker', 'http'],
    act: async (given) => {
      await given.maker.dispatch('work', {})
      await given.run({ kind: 'done', result: { sum: 3 } }, child(given))
      await released(given)
    },
    leaves: [
      { job: 'work', state: 'blocked', result: '{"sum":3}' },
      { job: 'zchild', state: 'ready', isGenuine: true },
    ],
  },
  {
    title: 'a success under an idempotency key stands for the next job with it',
    act: async ({ maker, run }) => {
      await maker.dispatch('work', { n: 1 }, { idempotencyKey: 'order-7' })
      await run({ kind: 'done', result: { paid: true } })
      await maker.dispatch('work', { n: 2 }, { idempotencyKey: 'order-7' })
      expect(await run({ kind: 'done' })).toBe(false)
    },
    leaves: [
      { payload: '{"n":1}', state: 'succeeded', result: '{"paid":true}', isSealed: true },
      { payload: '{"n":2}', state: 'skipped', result: '{"paid":true}', isSealed: true },
    ],
  },
  {
    title: 'a failure under an idempotency key lets the next job with it run',
    act: async ({ maker, run }) => {
      await maker.dispatch('work', failed, { idempotencyKey: 'order-7' })
      await run({ kind: 'permanent' })
      await maker.dispatch('work', { n: 2 }, { idempotencyKey: 'order-7' })
      expect(await run({ kind: 'done', result: { paid: true } })).toBe(true)
    },
    leaves: [{ state: 'dead' }, { payload: '{"n":2}', state: 'succeeded' }],
  },
  {
    title: 'a job that somebody has changed is rejected before it runs',
    act: async ({ maker, run, queue }) => {
      const { id } = await maker.dispatch('work', { n: 1 })
      await queue.forge(id, { payload: '{"n":1000}' })
      expect(await run({ kind: 'done' })).toBe(false)
    },
    leaves: [{ state: 'dead', reason: 'rejected', payload: '{"n":1000}', isGenuine: false, result: null }],
  },
  {
    title: 'whoever has lost the lease changes nothing',
    act: async ({ maker, run, queue: { backend } }) => {
      await maker.dispatch('work', { n: 1 })
      await run({ kind: 'done', result: { sum: 3 } }, async (id) => {
        const [held] = await backend.store.leases({ ids: [id] })
        await backend.settle([{ token: held?.token ?? '', kind: 'snooze', delayMs: 0 }])
        const jobs = [{ job: 'work', concurrency: null }]
        const request = { jobs, queues: null, limit: 1, leaseMs: hour, owner: 'another', maxRescues: 9 }
        expect((await backend.lease(request)).leases).toHaveLength(1)
      })
    },
    leaves: [{ state: 'running', result: null, finishedAt: null }],
  },
]

describe.each(['sqlite', 'postgres'] as const)('the end of a job on %s, whoever has run it', (engine) => {
  test.each(cases)('$title', async ({ act, leaves, define = plain, through = all, differs = [] }) => {
    const left: unknown[] = []
    for (const door of through) {
      const queue = await attackedQueue(engine)
      const { ask } = await bedrockOf(queue)
      const run = await doors[door](queue, 'work', define)
      const maker = queue.other({ signingKey }).jobs
      define(maker, (() => Promise.reject(new Error('it only makes jobs'))) satisfies Handler)
      await act({ queue, maker, run, ask: (verb, headers) => ask(verb, { ...headers, token: operateToken }) })
      const stored = await storedJobs(queue)
      expect([door, stored]).toMatchObject([door, leaves])
      left.push(stored.map((job) => ({ ...job, ...Object.fromEntries(differs.map((name) => [name, null])) })))
    }
    for (const [at, stored] of left.entries()) expect([through[at], stored]).toEqual([through[at], left[0]])
  })
})
