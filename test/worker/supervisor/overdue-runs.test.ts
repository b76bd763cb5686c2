import { describe, expect, it } from 'vitest'
import { silentLogger } from '../../../src/core/logger.ts'
import type { LeaseRequest } from '../../../src/queue/contract/contract.ts'
import { bury } from '../../../src/worker/supervisor/casualties.ts'
import { overdueRuns } from '../../../src/worker/supervisor/overdue-runs.ts'
import { world } from '../../world.ts'

const slackMs = 10_000

describe('runs that only the end of their process can end', () => {
  it('are those that are over their timeout, the grace of their handler and a margin', async () => {
    const { clock, find } = await claimed({ timeout: '1s' })
    await clock.advance(1_000 + slackMs)
    expect(await find()).toEqual([])
    await clock.advance(1)
    expect(await find()).toEqual(['a'])
  })

  it('are none without a timeout', async () => {
    const { clock, find } = await claimed({ timeout: null })
    await clock.advance(86_400_000)
    expect(await find()).toEqual([])
  })

  it('have the time of their hooks too', async () => {
    const { clock, find } = await claimed({ timeout: '1s', hooks: true })
    await clock.advance(1_000 + slackMs + 20_000)
    expect(await find()).toEqual([])
    await clock.advance(1)
    expect(await find()).toEqual(['a'])
  })

  it('have the grace of their isolation too', async () => {
    const { clock, find } = await claimed({ timeout: '1s', isolationGrace: '1m' })
    await clock.advance(1_000 + slackMs + 60_000)
    expect(await find()).toEqual([])
    await clock.advance(1)
    expect(await find()).toEqual(['a'])
  })

  it('are not those that the worker had no hand free for', async () => {
    const { clock, find } = await claimed({ timeout: '1s', count: 4 })
    await clock.advance(2_000 + slackMs)
    expect(await find(2)).toEqual(['a', 'b'])
    expect(await find(10)).toEqual(['a', 'b', 'c', 'd'])
  })
})

describe('what a dead worker leaves behind', () => {
  it('the run that it was killed for is dead where it must not be begun twice, also if the job was sent with retries', async () => {
    const { record, burial, runs } = await claimed({ timeout: '1s', retries: 3, isAtMostOnce: true })
    expect(await burial(['a'])).toEqual({ returned: 0, poisoned: 0, retried: 0, dead: 1 })
    expect(await record(runs[0]!)).toMatchObject({ state: 'dead', reason: 'exhausted', attempts: 1 })
  })

  it('the run that it was killed for has failed with TIMEOUT, by its retry policy; the rest goes back unburnt', async () => {
    const { jobs, clock, record, burial, runs, happened } = await claimed({ timeout: '1s', count: 2, retries: 1 })
    const [killed, other] = runs
    const buried = await burial(['a'])
    expect(buried).toEqual({ returned: 1, poisoned: 0, retried: 1, dead: 0 })
    expect(await record(killed!)).toMatchObject({ state: 'scheduled', attempts: 1, rescues: 0, errors: [{ code: 'TIMEOUT' }] })
    expect(await record(other!)).toMatchObject({ state: 'ready', attempts: 0, rescues: 1, errors: [] })
    expect(happened).toEqual(['a retry'])
    await clock.advance(60_000)
    await jobs.run()
    expect(await record(killed!)).toMatchObject({ state: 'succeeded', attempts: 2 })
  })

  it('its sign of life and the lock of its scheduler are over with it', async () => {
    const { backend, burial } = await claimed({ timeout: null })
    const holder = { owner: 'gone', host: 'here', pid: 1 }
    await backend.coordination.lock('scheduler', holder, 60_000)
    await burial([])
    expect(await backend.coordination.lock('scheduler', { ...holder, owner: 'next' }, 60_000)).toEqual({ held: true })
  })

  it('a run without attempts left is dead', async () => {
    const { record, burial, runs } = await claimed({ timeout: '1s' })
    expect(await burial(['a'])).toEqual({ returned: 0, poisoned: 0, retried: 0, dead: 1 })
    expect(await record(runs[0]!)).toMatchObject({ state: 'dead', reason: 'exhausted', errors: [{ code: 'TIMEOUT' }] })
  })

  it('a run of a job that is not defined here goes back with the rest', async () => {
    const { record, burial, runs } = await claimed({ timeout: '1s' })
    expect(await burial(['a'], false)).toEqual({ returned: 1, poisoned: 0, retried: 0, dead: 0 })
    expect(await record(runs[0]!)).toMatchObject({ state: 'ready', attempts: 0, rescues: 1 })
  })

  it('a run that was settled in time is left as it is', async () => {
    const { backend, record, burial, runs } = await claimed({ timeout: '1s' })
    const held = await backend.store.leases({ owners: ['gone'] })
    await backend.settle([{ token: held[0]!.token, kind: 'done', result: null, keep: true }])
    expect(await burial(['a'], true, held)).toEqual({ returned: 0, poisoned: 0, retried: 0, dead: 0 })
    expect(await record(runs[0]!)).toMatchObject({ state: 'succeeded' })
  })
})

interface Claimed {
  readonly timeout: string | null
  readonly count?: number
  readonly retries?: number
  readonly hooks?: boolean
  readonly isolationGrace?: string
  /** As the definition says by now, and did not when the jobs were sent. */
  readonly isAtMostOnce?: boolean
}

/** Jobs with the payloads a, b, c …, claimed by a worker that is gone. */
async function claimed({ timeout, count = 1, retries = 0, hooks = false, isolationGrace, isAtMostOnce = false }: Claimed) {
  const { jobs, clock, backend, record } = world()
  const work = jobs
    .define('work', (_: string) => {})
    .timeout(timeout)
    .retries(retries)
  if (hooks) work.onError(() => {}).finally(() => {})
  if (isolationGrace !== undefined) work.isolate('thread', { grace: isolationGrace })
  const runs = await work.dispatchMany(['a', 'b', 'c', 'd'].slice(0, count))
  const request: LeaseRequest = {
    jobs: [{ job: 'work', concurrency: null }],
    queues: null,
    limit: 10,
    leaseMs: 86_400_000 * 2,
    owner: 'gone',
    maxRescues: 3,
  }
  await backend.lease(request)
  const happened: string[] = []
  const payloadOf = (id: string) => ['a', 'b', 'c', 'd'][runs.findIndex((run) => run.id === id)]
  const find = (job: string) => {
    const found = jobs.definitions().find((each) => each.job === job)
    return isAtMostOnce ? found?.with({ maxAttempts: 1, delivery: 'at-most-once' }) : found
  }
  const keepOf = () => ({ succeeded: 1, dead: 1, cancelled: 1, skipped: 1 })
  return {
    ...{ jobs, clock, backend, record, runs, happened },
    async find(concurrency = 10) {
      const found = await overdueRuns(['gone'], { store: backend.store, clock, find, concurrency })
      return found.map(({ id }) => payloadOf(id))
    },
    async burial(payloads: readonly string[], isKnown = true, leases?: Awaited<ReturnType<typeof backend.store.leases>>) {
      const held = leases ?? (await backend.store.leases({ owners: ['gone'] }))
      const overdue = held.filter(({ id }) => payloads.includes(payloadOf(id) ?? ''))
      return bury('gone', overdue, {
        ...{ backend, clock, logger: silentLogger, keepOf, maxRescues: 3 },
        find: (job) => (isKnown ? find(job) : undefined),
        onSettled: async ({ id }, { kind }) => void happened.push(`${payloadOf(id)} ${kind}`),
      })
    },
  }
}
