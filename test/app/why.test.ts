import { describe, expect, test } from 'vitest'
import type { TreadleOptions } from '../../src/app/treadle.ts'
import type { WorkerPresence } from '../../src/queue/contract/stores/worker-store.ts'
import { type World, world } from '../world.ts'

describe('why is my job not running?', () => {
  test('no worker is running', async () => {
    const { jobs } = worldWithJobs()
    expect(await rulesOf(jobs, await jobs.dispatch('mail'))).toEqual(['no-worker'])
  })

  test('its time lies ahead, and when', async () => {
    const { jobs, clock, backend } = worldWithJobs()
    await backend.store.workers.announce(worker(), 60_000)
    const run = await jobs.dispatch('mail', null, '10m')
    const [reason] = (await jobs.why(run.id)).reasons
    expect(reason).toMatchObject({ rule: 'future', until: new Date(clock.now() + 600_000) })
    await clock.advance(1_209)
    expect((await jobs.why(run.id)).reasons[0]?.message).toContain('it is due in 9m59s, at ')
  })

  test('an attempt failed and the next one waits', async () => {
    const { jobs } = worldWithJobs()
    const run = await jobs.dispatch('failing')
    await jobs.run()
    expect((await jobs.why(run.id)).reasons[0]).toMatchObject({ rule: 'retry', message: expect.stringContaining('no luck') })
  })

  test('it has succeeded, whatever went wrong in earlier attempts', async () => {
    const { jobs, clock } = worldWithJobs()
    const flaky = jobs
      .define('flaky', async (_: null, { attempt }) => {
        if (attempt < 2) throw new Error('no luck')
      })
      .retries(1, { base: 0 })
    const run = await flaky.dispatch(null)
    await jobs.run()
    await clock.advance(60_000)
    await jobs.run()
    expect(await run.state()).toBe('succeeded')
    expect((await jobs.why(run.id)).reasons).toMatchObject([{ message: expect.stringMatching(/^it succeeded at [^ ]+Z$/) }])
  })

  test('its queue is paused', async () => {
    const { jobs, backend } = worldWithJobs()
    await backend.store.workers.announce(worker(), 60_000)
    const run = await jobs.dispatch('mail')
    await backend.store.setPaused({ queue: 'default' }, true)
    expect(await rulesOf(jobs, run)).toEqual(['paused'])
  })

  test('no worker has its handler, or takes from its queue', async () => {
    const { jobs, backend } = worldWithJobs()
    await backend.store.workers.announce(worker({ jobs: ['other'] }), 60_000)
    const run = await jobs.dispatch('mail')
    expect((await jobs.why(run.id)).reasons[0]).toMatchObject({ rule: 'no-handler', message: expect.stringContaining('"mail"') })
    await backend.store.workers.announce(worker({ queues: ['other'] }), 60_000)
    const message = expect.stringContaining('takes no jobs from the queue "default"')
    expect((await jobs.why(run.id)).reasons[0]).toMatchObject({ rule: 'no-handler', message })
    await backend.store.workers.announce(worker({ owner: 'second', jobs: ['other'], queues: ['other'] }), 60_000)
    const ofBoth = 'none of the 2 running workers takes jobs from the queue "default"'
    expect((await jobs.why(run.id)).reasons[0]?.message).toBe(ofBoth)
  })

  test('its workers have an open circuit breaker', async () => {
    const { jobs, backend } = worldWithJobs()
    await backend.store.workers.announce(worker({ breaker: 'open' }), 60_000)
    expect(await rulesOf(jobs, await jobs.dispatch('mail'))).toEqual(['breaker'])
  })

  test('the limit of its key is reached', async () => {
    const { jobs, backend } = worldWithJobs()
    await backend.store.workers.announce(worker(), 60_000)
    const [, second] = [await jobs.dispatch('narrow'), await jobs.dispatch('narrow')]
    await claim(backend, 'narrow')
    const message = expect.stringContaining('1 of 1 run')
    expect((await jobs.why(second.id)).reasons).toMatchObject([{ rule: 'concurrency', message }])
  })

  test('its group is at its limit, and other groups are not', async () => {
    const { jobs, backend } = worldWithJobs()
    await backend.store.workers.announce(worker(), 60_000)
    await jobs.dispatch('sync', null, { group: 'acme' })
    await claim(backend, 'sync')
    const held = await jobs.dispatch('sync', null, { group: 'acme' })
    const message = expect.stringContaining('of the group "acme"')
    expect((await jobs.why(held.id)).reasons).toMatchObject([{ rule: 'concurrency', message }])
    expect(await rulesOf(jobs, await jobs.dispatch('sync', null, { group: 'bolt' }))).toEqual(['next'])
  })

  test('a rate is used up, and until when', async () => {
    const { jobs, backend, clock } = worldWithJobs({ queues: { default: { rate: { limit: 1, per: '1m' } } } })
    await backend.store.workers.announce(worker(), 60_000)
    const first = await jobs.dispatch('mail')
    await jobs.run({ limit: 1 })
    const second = await jobs.dispatch('mail')
    const until = new Date(clock.now() + 60_000)
    expect((await jobs.why(second.id)).reasons).toMatchObject([{ rule: 'rate', until }])
    expect(await rulesOf(jobs, first)).toEqual(['ended'])
  })

  test('all hands are full, or nothing is in the way', async () => {
    const { jobs, backend } = worldWithJobs()
    const run = await jobs.dispatch('mail')
    await backend.store.workers.announce(worker({ running: 10 }), 60_000)
    expect(await rulesOf(jobs, run)).toEqual(['busy'])
    await backend.store.workers.announce(worker({ running: 9 }), 60_000)
    expect(await rulesOf(jobs, run)).toEqual(['next'])
  })

  test('it is running, or was until its worker fell silent', async () => {
    const { jobs, backend, clock } = worldWithJobs()
    const run = await jobs.dispatch('mail')
    await claim(backend, 'mail')
    expect((await jobs.why(run.id)).reasons).toMatchObject([{ rule: 'running', message: expect.stringContaining('on worker w') }])
    await clock.advance(30_000)
    expect((await jobs.why(run.id)).reasons[0]?.message).toContain('sends no heartbeat')
  })

  test('it waits for another job', async () => {
    const { jobs, backend } = worldWithJobs()
    await backend.store.workers.announce(worker(), 60_000)
    const first = await jobs.dispatch('mail', null, '1h')
    const second = await jobs.dispatch('mail', null, { dependsOn: first })
    const [reason] = (await jobs.why(second.id)).reasons
    expect(reason).toMatchObject({ rule: 'dependency', message: expect.stringContaining(`"mail" ${first.id} (scheduled)`) })
  })

  test('several reasons are all told', async () => {
    const { jobs, backend } = worldWithJobs()
    await backend.store.setPaused({ queue: 'default' }, true)
    expect(await rulesOf(jobs, await jobs.dispatch('mail'))).toEqual(['paused', 'no-worker'])
  })

  test('a job that is not there is an error', async () => {
    const { jobs } = worldWithJobs()
    await expect(jobs.why('nothing')).rejects.toMatchObject({ code: 'RUN_NOT_FOUND' })
  })
})

function worldWithJobs(options: TreadleOptions = {}): World {
  const made = world(options)
  made.jobs.define('mail', () => {})
  made.jobs.define('narrow', () => {}).concurrency(1)
  made.jobs.define('sync', () => {}).group(() => null, { concurrency: 1 })
  made.jobs
    .define('failing', () => {
      throw new Error('no luck')
    })
    .retries(3, { base: '1m', jitter: 'none' })
  return made
}

function worker(changes: Partial<WorkerPresence> = {}): WorkerPresence {
  return {
    owner: 'w',
    host: 'here',
    pid: 1,
    version: '0',
    startedAt: 0,
    queues: null,
    jobs: ['mail', 'narrow', 'sync', 'failing'],
    concurrency: 10,
    allowed: 10,
    running: 0,
    breaker: 'closed',
    scheduler: null,
    ...changes,
  }
}

async function claim(backend: World['backend'], job: string): Promise<void> {
  const jobs = [{ job, concurrency: null }]
  const { leases } = await backend.lease({ jobs, queues: null, limit: 1, leaseMs: 30_000, owner: 'w', maxRescues: 3 })
  expect(leases).toHaveLength(1)
}

async function rulesOf(jobs: World['jobs'], run: { readonly id: string }): Promise<readonly string[]> {
  return (await jobs.why(run.id)).reasons.map(({ rule }) => rule)
}
