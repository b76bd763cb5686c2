import { describe, expect, test } from 'vitest'
import { silentLogger } from '../../../src/core/logger.ts'
import { systemClock } from '../../../src/core/time/clock.ts'
import { openRedis } from '../../../src/engines/redis/index.ts'
import { type Treadle, treadle } from '../../../src/index.ts'
import { jobStates } from '../../../src/queue/contract/job-state.ts'
import type { JobStore } from '../../../src/queue/contract/store.ts'
import { until } from '../../world.ts'
import { freshPrefix, openFresh, rawClient, redisUrl } from '../redis-ground.ts'

/** Beginnings of the keys from which claims, ends and lists find jobs, of each of which there is one in the queue below. */
const indexes = [
  ...['all:ready', 'all:scheduled', 'all:blocked', 'of:mail', 'of:fair', 'og:ada', 'root:', 'due', 'waits', 'run'],
  ...['end:succeeded', 'open', 'o:mail', 'o:fair', 'op:5', 'lh', 'names', 'levels', 'w:', 'r:mail', 'r:fair', 'g:', 'gt:'],
  ...['gf:', 'gl:', 'n:default', 'n:images', 'nj:mail', 'nq', 'ns', 'c', 'u', 'et:', 'ew:', 'meta', 'paused', 'reached'],
]
const held = 'of another program'

describe.skipIf(redisUrl() === null)('a key of a queue in Redis that something else has replaced by one of another type', () => {
  test.each(indexes)('is set aside, logged and rebuilt, and all jobs run: %s', async (beginning) => {
    const prefix = freshPrefix()
    await using raw = await rawClient()
    const ids = await filledQueue(prefix)
    const key = await replaced(raw, prefix, beginning)

    const errors: string[] = []
    const logger = { ...silentLogger, error: (message: string) => void errors.push(message) }
    // When a clock was set, the server is asked again before the next call.
    let aheadMs = 0
    const clock = { ...systemClock, now: () => systemClock.now() + aheadMs }
    await using backend = await openRedis({ url: redisUrl() ?? '', prefix, clock, logger })
    const jobs = treadle({ backend, unsigned: true, logger: silentLogger })
    define(jobs)
    const working = jobs.work({ poll: '10ms', signals: false })
    const isNoted = async () => String(await raw.hget(`{${prefix}}:spoilt`, key.slice(prefix.length + 3))).startsWith('rebuilt|')
    await until(async () => {
      aheadMs += 2_000
      const states = await Promise.all(ids.map(async (id) => (await backend.store.get(id))?.state))
      await lookedAt(backend.store, ids)
      return states.every((state) => state === 'succeeded') && (await isNoted())
    })
    const counts = await backend.store.counts()
    await jobs.close()
    await working
    expect(await raw.get(key.replace('}:', '}:spoilt:')), key).toBe(held)
    expect(errors).toEqual([expect.stringContaining(`the key ${JSON.stringify(key)} held a string where the queue keeps`)])
    expect(counts.reduce((sum, { counts }) => sum + counts.succeeded, 0)).toBe(ids.length)
    expect(await raw.hgetall(`{${prefix}}:c`)).toEqual({})
  })

  test('is named by doctor before anything has needed it, and afterwards until it is deleted', async () => {
    const prefix = freshPrefix()
    await using raw = await rawClient()
    await filledQueue(prefix)
    const key = await replaced(raw, prefix, 'r:fair')
    await using backend = await openFresh({ prefix })
    const finding = async () => (await backend.upkeep.diagnose()).find(({ check }) => check === 'keys')
    expect(await finding()).toMatchObject({ verdict: 'problem', found: expect.stringContaining(JSON.stringify(key)) })
    await backend.lease({
      jobs: [{ job: 'fair', concurrency: 1 }],
      queues: null,
      limit: 9,
      leaseMs: 9_000,
      owner: 'me',
      maxRescues: 3,
    })
    expect(await finding()).toMatchObject({ verdict: 'warning', found: expect.stringContaining(JSON.stringify(key)) })
    await raw.del(key.replace('}:', '}:spoilt:'))
    expect(await finding()).toMatchObject({ verdict: 'ok' })
  })
})

/** Reads what a dashboard shows. */
async function lookedAt(store: JobStore, ids: readonly string[]): Promise<void> {
  await store.counts()
  await store.counts({ queue: 'default', oldest: true })
  await store.counts({ queue: 'images' })
  await store.counts({ job: 'mail' })
  await store.counts({ root: ids.at(-1) as string })
  for (const job of ['mail', 'fair']) await store.list({ job, limit: 1 })
  await store.list({ group: 'ada', limit: 1 })
  for (const state of jobStates) await store.list({ state, limit: 1 })
  await store.remove({ state: 'succeeded', finishedBefore: 0, limit: 1 })
}

function define(jobs: Treadle) {
  const mail = jobs.define('mail', async () => 1)
  const fair = jobs.define('fair', async (_customer: string) => 1).group((customer) => customer, { concurrency: 1 })
  const rated = jobs
    .define('rated', async () => 1)
    .rate(1_000, '1m')
    .concurrency(2)
  return { mail, fair, rated }
}

/** Jobs of all kinds: ready in two queues, of groups, below limits, delayed, with a key, waiting, ended, and claimed by a dead worker. */
async function filledQueue(prefix: string): Promise<readonly string[]> {
  await using backend = await openFresh({ prefix })
  const jobs = treadle({ backend, unsigned: true, logger: silentLogger })
  const { mail, fair, rated } = define(jobs)
  const ended = await mail.dispatch('ended')
  await jobs.run()
  const claimed = await mail.dispatch('claimed')
  const lease = {
    jobs: [{ job: 'mail', concurrency: null }],
    queues: null,
    limit: 1,
    leaseMs: 100,
    owner: 'dead',
    maxRescues: 3,
  }
  expect((await backend.lease(lease)).leases).toHaveLength(1)
  const first = await mail.dispatch('first')
  const runs = [
    ...[ended, claimed, first, await mail.dispatch('image', { queue: 'images' })],
    ...(await Promise.all(['ada', 'ada', 'bob'].map((customer) => fair.dispatch(customer)))),
    ...[await rated.dispatch('one'), await mail.dispatch('later', { delay: '50ms' })],
    ...[await mail.dispatch('unique', { unique: 'only' }), await mail.dispatch('waits', { dependsOn: [first] })],
  ]
  return runs.map(({ id }) => id)
}

/** Puts a string in place of the first key that begins so, and returns its name. */
async function replaced(raw: Awaited<ReturnType<typeof rawClient>>, prefix: string, beginning: string): Promise<string> {
  const keys = (await raw.keys(`{${prefix}}:${beginning}*`)).sort()
  const key = keys[0] ?? `{${prefix}}:${beginning}`
  await raw.del(key)
  await raw.set(key, held)
  return key
}
