import { describe, expect, test } from 'vitest'
import { openMemory } from '../../../src/engines/memory/index.ts'
import { sealEnvelope } from '../../../src/envelope/envelope.ts'
import { mockKey } from '../../../src/server/bedrock/jobs/mock-jobs.ts'
import { ManualClock } from '../../../src/testing/manual-clock.ts'
import { until } from '../../world.ts'
import { serving } from './serving.ts'

describe('taking jobs', () => {
  test('gives those of the names and queues that were asked for, the best first', async () => {
    const { client } = await serving()
    await client.jobs.createMany([
      { job: 'send-mail', priority: 1 },
      { job: 'send-text', priority: 9 },
      { job: 'resize', priority: 20 },
      { job: 'send-mail', queue: 'slow', priority: 20 },
    ])
    const taken = await client.leases.take({ jobs: ['send-*'], queues: ['default'], limit: 10 })
    expect(taken.map(({ job }) => job)).toEqual(['send-text', 'send-mail'])
    expect(await client.leases.take({ jobs: ['resiz?', 'other'] })).toMatchObject([{ job: 'resize' }])
    expect(await client.leases.take({ jobs: ['*'], queues: ['empty'] })).toEqual([])
  })

  test('says all that a worker must know', async () => {
    const { client, clock } = await serving()
    const { id } = await client.jobs.create({ job: 'a', payload: { n: 1 }, timeout: '5s', maxRetries: 2, meta: { trace: 'x' } })
    expect(await client.leases.take({ jobs: ['a'], lease: '10s' })).toEqual([
      {
        token: expect.any(String),
        id,
        job: 'a',
        name: 'a',
        queue: 'default',
        payload: { n: 1 },
        meta: { trace: 'x' },
        attempt: 1,
        maxRetries: 2,
        timeoutMs: 5_000,
        createdAt: new Date(clock.now()).toISOString(),
        expiresAt: new Date(clock.now() + 10_000).toISOString(),
      },
    ])
  })

  test('leaves the jobs for tests of the Bedrock protocol to clients that ask for them', async () => {
    const { client, service } = await serving()
    await service.creating.send(await service.creating.seal({ job: mockKey('mail'), payload: '{}' }))
    await client.jobs.create({ job: 'mail' })
    for (const jobs of [['*'], ['m*'], ['mock~*', 'mail'], ['?ock~mail', 'other']]) {
      const taken = await client.leases.take({ jobs, limit: 10 })
      expect(taken.map(({ job }) => job).filter((job) => job !== 'mail')).toEqual([])
    }
    expect((await client.jobs.list({ state: 'ready' })).jobs).toMatchObject([{ job: mockKey('mail') }])
  })

  test('is refused without names, and with times out of bounds', async () => {
    const { problem } = await serving()
    const pointers = async (json: object) => (await problem('POST', '/leases', { json })).errors?.map(({ pointer }) => pointer)
    expect(await pointers({})).toEqual(['/jobs'])
    expect(await pointers({ jobs: [] })).toEqual(['/jobs'])
    expect(await pointers({ jobs: ['a', 1], limit: 1_001 })).toEqual(['/jobs/1', '/limit'])
    expect(await pointers({ jobs: ['a'], lease: 10 })).toEqual(['/lease'])
    expect(await pointers({ jobs: ['a'], lease: '1d' })).toEqual(['/lease'])
    expect(await pointers({ jobs: ['a'], wait: '2m' })).toEqual(['/wait'])
  })

  test('never hands out a job that was changed after it was signed: it is dead', async () => {
    const { client, backend, service } = await serving({ jobs: { signingKey: 'a secret of 16 bytes or more' } })
    const envelope = await service.creating.seal({ job: 'pay', payload: '{"amount":1}' })
    await backend.send([{ ...envelope, payload: '{"amount":1000}' }])
    const sound = await client.jobs.create({ job: 'pay', payload: { amount: 2 } })
    expect(await client.leases.take({ jobs: ['pay'], limit: 10 })).toMatchObject([{ id: sound.id }])
    expect(await client.jobs.get(envelope.id)).toMatchObject({
      state: 'dead',
      reason: 'rejected',
      errors: [{ code: 'SIGNATURE_INVALID' }],
    })
  })

  test('a job that nobody signed is dead where signatures are needed', async () => {
    const { client, backend, service } = await serving({ jobs: { signingKey: 'a secret of 16 bytes or more' } })
    const { id, createdAt, runAt, identity } = await service.creating.seal({ job: 'pay', payload: '1' })
    const [, , job, name, queue, priority, maxRetries] = JSON.parse(identity)
    const bare = { id, job, name, queue, priority, maxRetries, timeoutMs: null, singleInstance: false, idempotencyKey: null }
    const forged = { ...bare, meta: {}, occurrence: null, repeat: null }
    await backend.send([sealEnvelope(forged, '1', { createdAt, runAt, uniqueKey: null }, null)])
    expect(await client.leases.take({ jobs: ['pay'] })).toEqual([])
    expect(await client.jobs.get(id)).toMatchObject({ state: 'dead', errors: [{ code: 'SIGNATURE_MISSING' }] })
  })

  test('a job whose idempotency key has succeeded is skipped, and one that succeeds remotely counts', async () => {
    const { client, jobs, backend } = await serving()
    jobs.declare('charge')
    const dispatched = () => jobs.dispatch('charge', { n: 1 }, { idempotencyKey: 'order-7' })
    const first = await dispatched()
    const [lease] = await client.leases.take({ jobs: ['charge'] })
    await client.leases.settle(first.id, { token: lease?.token ?? '', outcome: 'done', result: 'paid' })
    const second = await dispatched()
    expect(await client.leases.take({ jobs: ['charge'] })).toEqual([])
    expect(await backend.store.get(second.id)).toMatchObject({ state: 'skipped', result: '"paid"' })
  })

  test('a job that its queue does not admit is dead', async () => {
    const { client } = await serving({ jobs: { allow: { safe: ['a'] } } })
    const [bad, good] = await client.jobs.createMany([
      { job: 'b', queue: 'safe' },
      { job: 'a', queue: 'safe' },
    ])
    expect(await client.leases.take({ jobs: ['*'], limit: 5 })).toMatchObject([{ id: good?.id }])
    expect(await client.jobs.get(bad?.id ?? '')).toMatchObject({ state: 'dead', errors: [{ code: 'HANDLER_DENIED' }] })
  })

  test('a scheduled run that overlaps the one before it is skipped', async () => {
    const { client, clock, jobs } = await serving()
    jobs.declare('tick').cron('* * * * *')
    jobs.define('other', async () => {})
    await jobs.run()
    await clock.advance(60_000)
    await jobs.run()
    const [first] = await client.leases.take({ jobs: ['tick'], lease: '1h' })
    expect(first).toMatchObject({ job: 'tick' })
    await clock.advance(60_000)
    await jobs.run()
    expect(await client.leases.take({ jobs: ['tick'] })).toEqual([])
    const { jobs: skipped } = await client.jobs.list({ job: 'tick', state: 'skipped' })
    expect(skipped.map(({ reason }) => reason)).toContainEqual(expect.stringMatching(/^the run of .* has not ended/))
  })

  test('a job that must not be begun twice is begun when it is handed out', async () => {
    const { client, jobs, clock } = await serving()
    jobs.define('once', async () => {}).delivery('at-most-once')
    const { id } = await client.jobs.create({ job: 'once' })
    await client.leases.take({ jobs: ['once'], lease: '1s' })
    await clock.advance(1_000)
    expect(await client.leases.take({ jobs: ['once'] })).toEqual([])
    expect(await client.jobs.get(id)).toMatchObject({ state: 'dead', reason: 'interrupted' })
  })
})

describe('ending an attempt', () => {
  async function claimed(maxRetries = 0) {
    const world = await serving()
    const { id } = await world.client.jobs.create({ job: 'a', maxRetries })
    const [lease] = await world.client.leases.take({ jobs: ['a'], lease: '10s' })
    return { ...world, id, token: lease?.token ?? '' }
  }
  const error = { message: 'no luck', code: 'E_LUCK', stack: 'Error: no luck\n    at here' }

  test('a failure is tried again while there are retries, with the default delay or the worker’s own', async () => {
    const { client, clock, id, token } = await claimed(2)
    expect(await client.leases.settle(id, { token, outcome: 'fail', error })).toBe('retried')
    // Half of the first second: the clock's chance is 0.5, and the default jitter is full.
    expect(await client.jobs.get(id)).toMatchObject({ state: 'scheduled', runAt: new Date(clock.now() + 500).toISOString() })
    await clock.advance(500)
    const [second] = await client.leases.take({ jobs: ['a'] })
    expect(second).toMatchObject({ attempt: 2 })
    await client.leases.settle(id, { token: second?.token ?? '', outcome: 'fail', error, delay: '1h' })
    expect(await client.jobs.get(id)).toMatchObject({ runAt: new Date(clock.now() + 3_600_000).toISOString() })
    await clock.advance(3_600_000)
    const [third] = await client.leases.take({ jobs: ['a'] })
    expect(await client.leases.settle(id, { token: third?.token ?? '', outcome: 'fail', error, delay: 1 })).toBe('dead')
    expect(await client.jobs.get(id)).toMatchObject({ state: 'dead', reason: 'exhausted', errors: [error, error, error] })
  })

  test('a failure that nothing can mend is dead at once', async () => {
    const { client, id, token } = await claimed(5)
    expect(await client.leases.settle(id, { token, outcome: 'dead', error })).toBe('dead')
    expect(await client.jobs.get(id)).toMatchObject({ state: 'dead', reason: 'permanent', errors: [error] })
  })

  test('a job that is given back has its attempt back', async () => {
    const { client, id, token } = await claimed()
    expect(await client.leases.settle(id, { token, outcome: 'release', delay: '1m' })).toBe('released')
    expect(await client.jobs.get(id)).toMatchObject({ state: 'scheduled', attempts: 0 })
  })

  test('a job that repeats is done again', async () => {
    const { client, clock } = await serving({ jobs: { signingKey: 'a secret of 16 bytes or more' } })
    const { id } = await client.jobs.create({ job: 'tidy', payload: 1, repeat: 'FINISHED, +1 HOUR' })
    const [lease] = await client.leases.take({ jobs: ['tidy'] })
    expect(await client.leases.settle(id, { token: lease?.token ?? '', outcome: 'done' })).toBe('done')
    expect(await client.jobs.get(id)).toMatchObject({
      state: 'scheduled',
      runAt: new Date(clock.now() + 3_600_000).toISOString(),
    })
    await clock.advance(3_600_000)
    expect(await client.leases.take({ jobs: ['tidy'] })).toMatchObject([{ id, payload: 1, attempt: 1 }])
  })

  test('a job whose repeat leads out of the years ends, and the others of its batch with it', async () => {
    const clock = new ManualClock(Date.UTC(9999, 11, 29))
    const { client, log } = await serving({ on: { backend: openMemory({ clock }), clock } })
    await client.jobs.create({ job: 'a', repeat: 'FINISHED, +2 DAYS' })
    await client.jobs.create({ job: 'a' })
    await clock.advance(2 * 86_400_000)
    const leases = await client.leases.take({ jobs: ['a'], limit: 2 })
    const ended = leases.map(({ id, token }) => ({ id, token, outcome: 'done' }) as const)
    expect(await client.leases.settleMany(ended)).toEqual(['done', 'done'])
    const states = await Promise.all(leases.map(async ({ id }) => (await client.jobs.get(id)).state))
    expect(states).toEqual(['succeeded', 'succeeded'])
    expect(log).toContainEqual(expect.stringMatching(/^warn "a" .* does not repeat/))
  })

  test('is refused when the lease is lost, with a problem of its own', async () => {
    const { client, problem, clock, id, token } = await claimed(1)
    await clock.advance(10_000)
    const [second] = await client.leases.take({ jobs: ['a'] })
    expect(second).toMatchObject({ id })
    const lost = await problem('POST', `/jobs/${id}/settle`, { json: { token, outcome: 'done' } })
    expect(lost).toMatchObject({ status: 409, type: 'urn:treadle:problem:lease-lost', code: 'LEASE_LOST' })
    await expect(client.leases.settle(id, { token: 'made-up', outcome: 'done' })).rejects.toMatchObject({ code: 'LEASE_LOST' })
    await expect(client.leases.settle('nobody', { token, outcome: 'done' })).rejects.toMatchObject({ code: 'LEASE_LOST' })
    expect(await client.jobs.get(id)).toMatchObject({ state: 'running' })
  })

  test('tells what is wrong with it', async () => {
    const { problem, id, token } = await claimed()
    const errors = async (json: object) => (await problem('POST', `/jobs/${id}/settle`, { json })).errors
    expect(await errors({ token, outcome: 'lost' })).toEqual([{ pointer: '/outcome', detail: expect.stringContaining('"done"') }])
    expect(await errors({ token, outcome: 'fail' })).toEqual([{ pointer: '/error', detail: 'is missing' }])
    expect(await errors({ token, outcome: 'done', error })).toEqual([{ pointer: '/error', detail: expect.any(String) }])
  })

  test('of many, one that is lost does not keep the others from being ended', async () => {
    const { client } = await serving()
    const made = await client.jobs.createMany([{ job: 'a' }, { job: 'a' }, { job: 'a', maxRetries: 1 }])
    const taken = await client.leases.take({ jobs: ['a'], limit: 3 })
    const [one, two, three] = made.map(({ id }) => ({ id, token: taken.find((lease) => lease.id === id)?.token ?? '' }))
    const receipts = await client.leases.settleMany([
      { ...one!, outcome: 'done', result: 1 },
      { ...two!, token: 'made-up', outcome: 'done' },
      { ...three!, outcome: 'fail', error },
    ])
    expect(receipts).toEqual(['done', 'lost', 'retried'])
    expect(await client.leases.extend({ leases: [one!, two!] })).toEqual(['lost', 'held'])
  })

  test('leases that are extended last longer', async () => {
    const { client, clock, id, token } = await claimed()
    await clock.advance(9_000)
    expect(await client.leases.extend({ leases: [{ id, token }], lease: '1m' })).toEqual(['held'])
    await clock.advance(50_000)
    expect(await client.leases.take({ jobs: ['a'] })).toEqual([])
    expect(await client.leases.settle(id, { token, outcome: 'done' })).toBe('done')
  })

  test('progress has a size', async () => {
    const { problem, id, token } = await claimed()
    const json = { token, progress: 'x'.repeat(70_000) }
    expect(await problem('POST', `/jobs/${id}/progress`, { json })).toMatchObject({ status: 413, code: 'PAYLOAD_TOO_LARGE' })
  })
})

test.each([false, true])('the end of a job that came without a signature has none, either (signed: %s)', async (isSigned) => {
  const { client, backend, service } = await serving({ jobs: { signingKey: 'a secret of sixteen', unsigned: 'accept' } })
  const made = await service.creating.seal({ job: 'pay', payload: '1' })
  await backend.send([isSigned ? made : { ...made, signature: null }])
  const [lease] = await client.leases.take({ jobs: ['pay'], limit: 1 })
  await client.leases.settle(made.id, { token: lease?.token as string, outcome: 'done', result: 'paid' })
  const record = await backend.store.get(made.id)
  expect([record?.state, record?.result, record?.seal !== null]).toEqual(['succeeded', '"paid"', isSigned])
})

describe('a client that breaks off', () => {
  test('right after its jobs were sent gives them back, and not later', async () => {
    const { raw, record, client, clock } = await serving()
    const { id } = await client.jobs.create({ job: 'mail', payload: {} })
    const ask = async () => {
      const worker = await raw()
      const body = JSON.stringify({ jobs: ['mail'] })
      worker.send(
        `POST /api/v1/leases HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`,
      )
      await until(() => worker.received.includes(id))
      return worker
    }
    ;(await ask()).kill()
    await until(async () => (await record({ id })).state === 'ready')
    expect(await record({ id })).toMatchObject({ attempts: 0, rescues: 0 })
    const worker = await ask()
    await clock.advance(1_000)
    worker.kill()
    const peaceful = await client.jobs.create({ job: 'mail', payload: {} })
    await until(async () => (await record(peaceful)).state === 'ready')
    expect((await record({ id })).state).toBe('running')
  })
})
