import { describe, expect, test } from 'vitest'
import { serving } from './serving.ts'

describe('making a job', () => {
  test('stores it, whether or not the server knows its name', async () => {
    const { ask, jobs, backend } = await serving()
    jobs
      .define('known', async () => {})
      .queue('mail')
      .retries(2)
    const stranger = await ask('POST', '/jobs', { json: { job: 'stranger', payload: { to: 'ada' } } })
    expect(stranger).toMatchObject({ status: 201, body: { id: expect.any(String), created: true } })
    const { id } = (await ask('POST', '/jobs', { json: { job: 'known' } })).body as { id: string }
    expect(await backend.store.get(id)).toMatchObject({
      job: 'known',
      queue: 'mail',
      maxRetries: 2,
      payload: 'null',
      state: 'ready',
    })
  })

  test('takes everything that may be said of a job', async () => {
    const { client, clock } = await serving()
    const said = {
      job: 'report',
      payload: [1, { deep: null }],
      queue: 'slow',
      priority: 9,
      delay: '1h',
      unique: { key: 'one', until: 'started' },
      maxRetries: 3,
      timeout: 90_000,
      group: 'customer-1',
      repeat: 'FINISHED, +1 DAY',
      meta: { trace: 'x' },
    } as const
    const { id } = await client.jobs.create(said)
    expect(await client.jobs.get(id)).toMatchObject({
      payload: [1, { deep: null }],
      queue: 'slow',
      priority: 9,
      state: 'scheduled',
      runAt: new Date(clock.now() + 3_600_000).toISOString(),
      uniqueKey: 'one',
      maxRetries: 3,
      timeoutMs: 90_000,
      group: 'customer-1',
      repeat: 'FINISHED, +1 DAY',
      meta: { trace: 'x' },
    })
  })

  test('keeps the payload as it was written, with numbers that no number of JavaScript is', async () => {
    const { ask, backend } = await serving()
    const headers = { 'content-type': 'application/json' }
    const payload = '{ "id": 12345678901234567890, "rate": 1.0 }'
    const { id } = (await ask('POST', '/jobs', { text: `{"job":"a","payload":${payload}}`, headers })).body as { id: string }
    expect((await backend.store.get(id))?.payload).toBe(payload)
    expect((await ask('GET', `/jobs/${id}`)).text).toContain(`"payload":${payload}`)
    await ask('PATCH', `/jobs/${id}`, { text: '{"payload":[1.50]}', headers })
    await ask('POST', '/jobs/bulk', { text: '{"jobs":[{"job":"b","payload":2.0}]}', headers })
    const taken = await ask('POST', '/leases', { json: { jobs: ['*'], limit: 2 } })
    expect(taken.text).toContain('"payload":[1.50]')
    expect(taken.text).toContain('"payload":2.0')
  })

  test('takes the arguments of its definition where no payload is said', async () => {
    const { client, jobs } = await serving()
    jobs.define('known', async (_: { n: number }) => {}).args({ n: 1 })
    const { id } = await client.jobs.create({ job: 'known' })
    expect(await client.jobs.get(id)).toMatchObject({ payload: { n: 1 } })
  })

  test('gives the job that holds its unique key, and makes none', async () => {
    const { ask } = await serving()
    const json = { job: 'report', unique: { key: 'today' } }
    const first = await ask('POST', '/jobs', { json })
    const second = await ask('POST', '/jobs', { json })
    expect(second).toMatchObject({ status: 200, body: { id: (first.body as { id: string }).id, created: false } })
  })

  test('tells everything that is wrong at once', async () => {
    const { problem } = await serving()
    const json = {
      payload: 1,
      queue: 'no spaces',
      priority: 1.5,
      delay: 'soon',
      maxRetries: -1,
      prio: 2,
      unique: { until: 'never' },
    }
    const { status, type, errors } = await problem('POST', '/jobs', { json })
    expect({ status, type }).toEqual({ status: 400, type: 'urn:treadle:problem:invalid-request' })
    expect(errors?.map(({ pointer }) => pointer)).toEqual([
      '/job',
      '/queue',
      '/priority',
      '/delay',
      '/maxRetries',
      '/prio',
      '/unique/key',
      '/unique/until',
    ])
    expect(errors?.find(({ pointer }) => pointer === '/prio')?.detail).toContain('did you mean "priority"?')
  })

  test.each([
    ['a delay and a time', { job: 'x', delay: 1, at: '2030-01-01T00:00:00Z' }, 'give either delay or at'],
    ['a day that does not exist', { job: 'x', at: '2030-02-30T00:00:00Z' }, '/at must be a valid Date'],
    ['a name with a control character', { job: 'a\u0001b' }, 'control characters'],
    ['a repeat that is none', { job: 'x', repeat: 'sometimes' }, 'repeat'],
    ['a repeat that stands still', { job: 'x', repeat: 'FINISHED, START OF DAY' }, 'would not lead into the future'],
    ['a repeat without a next time', { job: 'x', repeat: `FINISHED${', +999 YEARS'.repeat(9)}` }, 'years 0 to 9999'],
    ['what only the server writes', { job: 'x', meta: { bedrock: { lastRun: 1 } } }, '/meta/bedrock is written by'],
    ['a meta of more than 16 KiB', { job: 'x', meta: { text: 'x'.repeat(20_000) } }, 'meta'],
  ])('refuses %s', async (_, json, detail) => {
    const { problem } = await serving()
    expect(await problem('POST', '/jobs', { json })).toMatchObject({ status: 400, detail: expect.stringContaining(detail) })
  })

  test('refuses a payload that does not fit the schema of its job', async () => {
    const { problem, jobs } = await serving()
    const schema = {
      '~standard': { version: 1, vendor: 'test', validate: () => ({ issues: [{ message: 'must be a mail', path: ['to'] }] }) },
    } as const
    jobs.define('mail', { input: schema }, async () => {})
    const refused = await problem('POST', '/jobs', { json: { job: 'mail', payload: {} } })
    expect(refused).toMatchObject({ status: 400, code: 'PAYLOAD_INVALID', detail: expect.stringContaining('must be a mail') })
  })
})

describe('making many jobs', () => {
  test('stores all of them in their order', async () => {
    const { client, backend } = await serving()
    const made = await client.jobs.createMany([
      { job: 'a', payload: 1 },
      { job: 'b', payload: 2 },
      { job: 'a', payload: 3 },
    ])
    const records = await Promise.all(made.map(({ id }) => backend.store.get(id)))
    expect(records.map((record) => record?.payload)).toEqual(['1', '2', '3'])
  })

  test('stores none of them where one is refused', async () => {
    const { problem, client } = await serving()
    const json = { jobs: [{ job: 'a' }, { job: 'b', queue: '' }, { job: '' }] }
    const { errors } = await problem('POST', '/jobs/bulk', { json })
    expect(errors?.map(({ pointer }) => pointer)).toEqual(['/jobs/1/queue', '/jobs/2/job'])
    expect((await client.jobs.list()).jobs).toEqual([])
  })

  test('takes at most so many, and at least one', async () => {
    const { problem } = await serving({ limits: { maxBulk: 2 } })
    const three = { jobs: [{ job: 'a' }, { job: 'a' }, { job: 'a' }] }
    expect(await problem('POST', '/jobs/bulk', { json: three })).toMatchObject({ status: 400, errors: [{ pointer: '/jobs' }] })
    expect(await problem('POST', '/jobs/bulk', { json: { jobs: [] } })).toMatchObject({
      status: 400,
      errors: [{ pointer: '/jobs' }],
    })
  })
})

describe('an Idempotency-Key', () => {
  const headers = { 'idempotency-key': 'order-7' }
  const json = { job: 'charge', payload: { order: 7 } }

  test('makes the job once, and gives it to every repeat, also when it has ended', async () => {
    const { ask, client } = await serving()
    const first = await ask('POST', '/jobs', { json, headers })
    expect(first).toMatchObject({ status: 201, body: { created: true } })
    const { id } = first.body as { id: string }
    expect(await ask('POST', '/jobs', { json, headers })).toMatchObject({ status: 200, body: { id, created: false } })
    const [lease] = await client.leases.take({ jobs: ['charge'] })
    await client.leases.settle(id, { token: lease?.token ?? '', outcome: 'done' })
    expect(await ask('POST', '/jobs', { json, headers })).toMatchObject({ status: 200, body: { id, created: false } })
  })

  test('counts for a day', async () => {
    const { ask, client, clock } = await serving()
    await ask('POST', '/jobs', { json, headers })
    const [lease] = await client.leases.take({ jobs: ['charge'] })
    await client.leases.settle(lease?.id ?? '', { token: lease?.token ?? '', outcome: 'done' })
    await clock.advance(24 * 3_600_000)
    expect(await ask('POST', '/jobs', { json, headers })).toMatchObject({ status: 201 })
  })

  test('is refused with another body', async () => {
    const { ask, problem, client } = await serving()
    await ask('POST', '/jobs', { json, headers })
    const other = await problem('POST', '/jobs', { json: { ...json, payload: { order: 8 } }, headers })
    expect(other).toMatchObject({ status: 422, type: 'urn:treadle:problem:idempotency-key-reused' })
    expect((await client.jobs.list()).jobs).toHaveLength(1)
  })

  test('does not go with a unique key', async () => {
    const { problem } = await serving()
    const refused = await problem('POST', '/jobs', { json: { ...json, unique: { key: 'x' } }, headers })
    expect(refused).toMatchObject({ status: 400, errors: [{ pointer: '/unique' }] })
  })

  test('does not replace a meta of the same place', async () => {
    const { ask, problem } = await serving()
    const own = { ...json, meta: { http: { method: 'POST' } } }
    expect(await problem('POST', '/jobs', { json: own, headers })).toMatchObject({ errors: [{ pointer: '/meta/http' }] })
    const { body } = await ask('POST', '/jobs', { json: own })
    expect((await ask('GET', `/jobs/${(body as { id: string }).id}`)).body).toMatchObject({ meta: own.meta })
  })

  test('must not be empty, nor endless', async () => {
    const { problem } = await serving()
    for (const key of ['', 'x'.repeat(256)]) {
      const refused = await problem('POST', '/jobs', { json, headers: { 'idempotency-key': key } })
      expect(refused).toMatchObject({ status: 400, errors: [{ pointer: 'header:Idempotency-Key' }] })
    }
  })

  test('counts for all jobs of a bulk, and another bulk with it stores nothing', async () => {
    const { client } = await serving()
    const jobs = [{ job: 'a' }, { job: 'b' }, { job: 'a' }]
    const first = await client.jobs.createMany(jobs, { idempotencyKey: 'k' })
    const second = await client.jobs.createMany(jobs, { idempotencyKey: 'k' })
    expect(second).toEqual(first.map(({ id }) => ({ id, created: false })))
    await expect(client.jobs.createMany([...jobs, { job: 'c' }], { idempotencyKey: 'k' })).rejects.toMatchObject({
      problem: { status: 422 },
    })
    expect((await client.jobs.list()).jobs).toHaveLength(3)
  })

  test('of a bulk that was stored in part has the rest stored by a repeat', async () => {
    const { client, backend } = await serving()
    const jobs = [{ job: 'a' }, { job: 'b' }, { job: 'c' }]
    const { send } = backend
    let sends = 0
    backend.send = (envelopes) => {
      if (++sends === 2) throw new Error('the database went away')
      return send.call(backend, envelopes)
    }
    await expect(client.jobs.createMany(jobs, { idempotencyKey: 'k' })).rejects.toMatchObject({ problem: { status: 500 } })
    expect((await client.jobs.list()).jobs).toMatchObject([{ job: 'a' }])
    const made = await client.jobs.createMany(jobs, { idempotencyKey: 'k' })
    expect(made.map(({ created }) => created)).toEqual([false, true, true])
    expect((await client.jobs.list()).jobs).toHaveLength(3)
  })

  test('two requests at the same time make one job', async () => {
    const { client } = await serving()
    const made = await Promise.all(Array.from({ length: 5 }, () => client.jobs.create(json, { idempotencyKey: 'k' })))
    expect(new Set(made.map(({ id }) => id)).size).toBe(1)
    expect(made.filter(({ created }) => created)).toHaveLength(1)
  })
})
