import { describe, expect, test } from 'vitest'
import { serving } from './serving.ts'

const error = { message: 'no' }

describe('queues', () => {
  test('are listed with their counts', async () => {
    const { client } = await serving()
    await client.jobs.createMany([{ job: 'a' }, { job: 'b' }, { job: 'a', queue: 'mail', delay: '1h' }])
    await client.queues.pause('other')
    const queues = await client.queues.list()
    expect(queues.map(({ queue, paused, counts: { ready, scheduled } }) => ({ queue, paused, ready, scheduled }))).toEqual([
      { queue: 'default', paused: false, ready: 2, scheduled: 0 },
      { queue: 'mail', paused: false, ready: 0, scheduled: 1 },
      { queue: 'other', paused: true, ready: 0, scheduled: 0 },
    ])
  })

  test('say since when their oldest ready job waits', async () => {
    const { client, clock } = await serving()
    const start = clock.now()
    await client.jobs.create({ job: 'a' })
    await clock.advance(60_000)
    await client.jobs.createMany([{ job: 'b' }, { job: 'b', queue: 'mail' }, { job: 'a', queue: 'later', delay: '1h' }])
    const iso = (ms: number) => new Date(ms).toISOString()
    expect((await client.queues.list()).map(({ queue, oldestReadyAt }) => [queue, oldestReadyAt])).toEqual([
      ['default', iso(start)],
      ['later', null],
      ['mail', iso(start + 60_000)],
    ])
    expect(await client.stats()).toMatchObject({
      oldestReadyAt: iso(start),
      jobs: expect.arrayContaining([expect.objectContaining({ job: 'b', queue: 'mail', oldestReadyAt: iso(start + 60_000) })]),
    })
  })

  test('hand out nothing while they are paused', async () => {
    const { client, ask } = await serving()
    await client.jobs.create({ job: 'a', queue: 'eu/mail' })
    expect(await ask('POST', '/queues/eu%2Fmail/pause')).toMatchObject({ status: 200, body: { queue: 'eu/mail', paused: true } })
    expect(await client.leases.take({ jobs: ['a'] })).toEqual([])
    await client.queues.resume('eu/mail')
    expect(await client.leases.take({ jobs: ['a'] })).toHaveLength(1)
  })

  test('must have a name that a queue can have', async () => {
    const { problem } = await serving()
    expect(await problem('POST', '/queues/no%20spaces/pause')).toMatchObject({ status: 400, errors: [{ pointer: 'path:queue' }] })
  })
})

test('everything is counted', async () => {
  const { client, clock } = await serving()
  await client.jobs.createMany([{ job: 'a' }, { job: 'b', queue: 'mail' }])
  await client.queues.pause('mail')
  expect(await client.stats()).toMatchObject({
    at: new Date(clock.now()).toISOString(),
    backend: 'memory',
    counts: { ready: 2, dead: 0 },
    jobs: [
      { job: 'a', queue: 'default', counts: { ready: 1 } },
      { job: 'b', queue: 'mail', counts: { ready: 1 } },
    ],
    pausedQueues: ['mail'],
    workers: 0,
  })
})

test('workers on the database are listed', async () => {
  const { client, backend, clock } = await serving()
  const worker = { owner: 'w1', host: 'h', pid: 7, version: '1', startedAt: clock.now(), queues: null, jobs: ['a'] }
  const state = { concurrency: 10, allowed: 10, running: 1, breaker: 'closed', scheduler: null } as const
  await backend.store.workers.announce({ ...worker, ...state }, 30_000)
  expect(await client.workers()).toMatchObject([{ owner: 'w1', queues: null, running: 1, breaker: 'closed' }])
})

describe('schedules', () => {
  async function scheduled() {
    const world = await serving()
    world.jobs.define('digest', async () => {}).dailyAt('02:30')
    world.jobs.define('plain', async () => {})
    await world.jobs.run()
    return world
  }

  test('are listed, paused and resumed', async () => {
    const { client } = await scheduled()
    expect(await client.schedules.list()).toMatchObject([{ name: 'digest', paused: false, nextAt: '2026-01-01T02:30:00.000Z' }])
    await client.schedules.pause('digest')
    expect(await client.schedules.list()).toMatchObject([{ paused: true, nextAt: null }])
    await client.schedules.resume('digest')
    expect(await client.schedules.list()).toMatchObject([{ paused: false }])
  })

  test('are listed before a scheduler has seen them, in the order of their names', async () => {
    const { jobs, client } = await serving({ jobs: { environment: 'test' } })
    jobs.define('nightly', async () => {}).dailyAt('02:30')
    await jobs.run()
    jobs.define('tidy', async () => {}).repeat('FINISHED, +1 HOUR')
    jobs.define('hourly', async () => {}).hourly()
    jobs
      .define('elsewhere', async () => {})
      .hourly()
      .environments('production')
    const unseen = { timezone: 'UTC', paused: false, since: null, last: null }
    expect(await client.schedules.list()).toMatchObject([
      { ...unseen, name: 'elsewhere', nextAt: null },
      { ...unseen, name: 'hourly', nextAt: '2026-01-01T01:00:00.000Z' },
      { name: 'nightly', since: '2026-01-01T00:00:00.000Z' },
      { ...unseen, name: 'tidy', expression: 'FINISHED, +1 HOUR', nextAt: null },
    ])
  })

  test('tell when they run next', async () => {
    const { client } = await scheduled()
    const { text, runs } = await client.schedules.next('digest', 2)
    expect(text).toContain('02:30')
    expect(runs.map(({ at }) => at)).toEqual(['2026-01-01T02:30:00.000Z', '2026-01-02T02:30:00.000Z'])
    expect((await client.schedules.next('digest')).runs).toHaveLength(10)
  })

  test('that are counted from run to run tell it from the next one on', async () => {
    const world = await serving()
    world.jobs.define('tidy', async () => {}).repeat('FINISHED, +1 HOUR')
    const { runs } = await world.client.schedules.next('tidy', 2)
    expect(runs.map(({ at }) => at)).toEqual(['2026-01-01T00:00:00.000Z', '2026-01-01T01:00:00.000Z'])
  })

  test('run their job now when they are triggered', async () => {
    const { client } = await scheduled()
    const { id, created } = await client.schedules.trigger('digest')
    expect(created).toBe(true)
    expect(await client.jobs.get(id)).toMatchObject({ job: 'digest', state: 'ready' })
  })

  test('that are not there are 404', async () => {
    const { problem } = await scheduled()
    for (const name of ['nobody', 'plain']) {
      for (const [method, action] of [
        ['POST', 'pause'],
        ['POST', 'resume'],
        ['POST', 'trigger'],
        ['GET', 'next'],
      ] as const) {
        const missing = await problem(method, `/schedules/${name}/${action}`)
        expect(missing).toMatchObject({ status: 404, type: 'urn:treadle:problem:schedule-not-found', code: 'SCHEDULE_UNKNOWN' })
      }
    }
  })
})

describe('dead jobs', () => {
  async function withDead(names: readonly string[]) {
    const world = await serving()
    await world.client.jobs.createMany(names.map((job) => ({ job })))
    const taken = await world.client.leases.take({ jobs: ['*'], limit: 100 })
    await world.client.leases.settleMany(taken.map(({ id, token }) => ({ id, token, outcome: 'dead', error })))
    return world
  }

  test('are listed in pages', async () => {
    const { client, ask } = await withDead(['a', 'b', 'a'])
    await client.jobs.create({ job: 'a' })
    expect((await client.dead.list({ job: 'a' })).jobs).toMatchObject([{ state: 'dead' }, { state: 'dead' }])
    const { next } = (await ask('GET', '/dead?limit=2')).body as { next: string }
    expect(next).toMatch(/^\/api\/v1\/dead\?limit=2&before=/)
    expect(await ask('GET', next.replace('/api/v1', ''))).toMatchObject({ body: { jobs: [{}], next: null } })
  })

  test('are paged through while they are deleted, without an error, a gap or a repeat', async () => {
    const { client, ask } = await withDead(['a', 'b', 'c', 'd', 'e'])
    const all = (await client.dead.list()).jobs.map(({ id }) => id)
    const { next } = (await ask('GET', '/dead?limit=2')).body as { next: string }
    for (const id of all.slice(0, 3)) await client.jobs.delete(id)
    const second = (await ask('GET', next.replace('/api/v1', ''))).body as { jobs: { id: string }[]; next: string | null }
    expect([second.jobs.map(({ id }) => id), second.next]).toEqual([all.slice(3), null])
  })

  test('go back one by one, or by a filter', async () => {
    const { client } = await withDead(['a', 'b', 'a', 'c'])
    const [first] = (await client.dead.list({ job: 'b' })).jobs
    expect(await client.dead.replay(first?.id ?? '')).toMatchObject({ state: 'ready' })
    expect(await client.dead.replayMany({ job: 'a', limit: 1 })).toEqual({ replayed: 1, conflicts: 0, more: true })
    expect(await client.dead.replayMany({ all: true })).toEqual({ replayed: 2, conflicts: 0, more: false })
    expect((await client.dead.list()).jobs).toEqual([])
  })

  test('are not put back when they are not dead', async () => {
    const { client, problem } = await serving()
    const { id } = await client.jobs.create({ job: 'a' })
    expect(await problem('POST', `/dead/${id}/replay`)).toMatchObject({ status: 409 })
    expect(await problem('POST', '/dead/nobody/replay')).toMatchObject({ status: 404 })
  })

  test('are deleted by a filter', async () => {
    const { client, clock } = await withDead(['a', 'b', 'a'])
    expect(await client.dead.purge({ olderThan: '1h' })).toEqual({ deleted: 0, more: false })
    await clock.advance(3_600_001)
    expect(await client.dead.purge({ olderThan: '1h', job: 'b' })).toEqual({ deleted: 1, more: false })
    expect(await client.dead.purge({ all: true, limit: 1 })).toEqual({ deleted: 1, more: true })
    expect((await client.dead.list()).jobs).toHaveLength(1)
  })

  test('are never all meant by saying nothing', async () => {
    const { problem, client } = await withDead(['a'])
    for (const path of ['/dead/purge', '/dead/replay']) {
      expect(await problem('POST', path, { json: {} })).toMatchObject({ status: 400, errors: [{ pointer: '/all' }] })
      expect(await problem('POST', path, { json: { all: false, limit: 5 } })).toMatchObject({ status: 400 })
    }
    expect((await client.dead.list()).jobs).toHaveLength(1)
  })
})

describe('the server', () => {
  test('lives, and is ready while its backend answers', async () => {
    const { ask, problem, backend } = await serving()
    expect(await ask('GET', '/health')).toMatchObject({ status: 200, body: { status: 'alive' } })
    expect(await ask('GET', '/ready')).toMatchObject({ status: 200, body: { status: 'ready' } })
    await backend[Symbol.asyncDispose]()
    expect(await ask('GET', '/health')).toMatchObject({ status: 200 })
    expect(await problem('GET', '/ready')).toMatchObject({ status: 503, type: 'urn:treadle:problem:unavailable' })
    expect(await problem('GET', '/jobs')).toMatchObject({ status: 503 })
  })

  test('does not tell what went wrong inside of it, but its log does', async () => {
    const { problem, backend, log } = await serving()
    backend.store.list = () => Promise.reject(new Error('password=hunter2 refused'))
    const failed = await problem('GET', '/jobs?job=secret')
    expect(failed).toMatchObject({ status: 500, type: 'urn:treadle:problem:internal-error' })
    expect(JSON.stringify(failed)).not.toContain('hunter2')
    expect(log).toContain('error GET /api/v1/jobs failed: password=*** refused')
  })
})
