import { describe, expect, test } from 'vitest'
import { serving } from './serving.ts'

describe('changing a job that waits', () => {
  test('gives it another time, priority and payload, and it can still be run', async () => {
    const { client, clock } = await serving({ jobs: { signingKey: 'a secret of 16 bytes or more' } })
    const { id } = await client.jobs.create({ job: 'a', payload: 1, delay: '1h' })
    const runAt = new Date(clock.now() + 1_000).toISOString()
    expect(await client.jobs.change(id, { runAt, priority: 20, payload: { n: 2 } })).toMatchObject({
      state: 'scheduled',
      runAt,
      priority: 20,
      payload: { n: 2 },
    })
    await clock.advance(1_000)
    expect(await client.leases.take({ jobs: ['a'] })).toMatchObject([{ id, payload: { n: 2 } }])
  })

  test('leaves alone what is not said', async () => {
    const { client } = await serving()
    const { id } = await client.jobs.create({
      job: 'a',
      payload: 1,
      timeout: '1m',
      meta: { x: 1 },
      maxRetries: 2,
      unique: { key: 'k' },
    })
    const before = await client.jobs.get(id)
    expect(await client.jobs.change(id, { priority: 1 })).toEqual({ ...before, priority: 1 })
  })

  test('is refused where the payload does not fit the schema of its job, as when it is made', async () => {
    const { jobs, client, ask, problem } = await serving()
    const schema = {
      '~standard': {
        version: 1 as const,
        vendor: 'test',
        validate: async (value: unknown) =>
          typeof value === 'string' ? { value } : { issues: [{ message: 'must be an address' }] },
      },
    }
    jobs.define('mail', { input: schema }, async () => {})
    const { id } = await client.jobs.create({ job: 'mail', payload: 'ada@example.com' })
    const made = await problem('POST', '/jobs', { json: { job: 'mail', payload: 5 } })
    expect(made).toMatchObject({ status: 400, code: 'PAYLOAD_INVALID' })
    expect(await problem('PATCH', `/jobs/${id}`, { json: { payload: 5 } })).toEqual(made)
    expect(await client.jobs.get(id)).toMatchObject({ payload: 'ada@example.com' })
    const changed = await ask('PATCH', `/jobs/${id}`, { json: { payload: 'bob@example.com' } })
    expect(changed).toMatchObject({ status: 200, body: { payload: 'bob@example.com' } })
  })

  test('is refused when nothing is said, when a worker has the job, and when it has ended', async () => {
    const { client, problem } = await serving()
    const { id } = await client.jobs.create({ job: 'a' })
    expect(await problem('PATCH', `/jobs/${id}`, { json: {} })).toMatchObject({ status: 400, errors: [{ pointer: '' }] })
    expect(await problem('PATCH', `/jobs/${id}`, { json: { state: 'dead' } })).toMatchObject({ status: 400 })
    const [lease] = await client.leases.take({ jobs: ['a'] })
    const claimed = await problem('PATCH', `/jobs/${id}`, { json: { priority: 1 } })
    expect(claimed).toMatchObject({ status: 409, type: 'urn:treadle:problem:job-not-waiting' })
    await client.leases.settle(id, { token: lease?.token ?? '', outcome: 'done' })
    expect(await problem('PATCH', `/jobs/${id}`, { json: { priority: 1 } })).toMatchObject({ status: 409 })
    expect(await problem('PATCH', '/jobs/nobody', { json: { priority: 1 } })).toMatchObject({ status: 404 })
  })
})

describe('cancelling a job', () => {
  test('ends one that waits', async () => {
    const { client } = await serving()
    const { id } = await client.jobs.create({ job: 'a' })
    expect(await client.jobs.cancel(id)).toBe('cancelled')
    expect(await client.jobs.get(id)).toMatchObject({ state: 'cancelled' })
  })

  test('asks the worker of one that runs to stop', async () => {
    const { client } = await serving()
    const { id } = await client.jobs.create({ job: 'a' })
    const [lease] = await client.leases.take({ jobs: ['a'] })
    const token = lease?.token ?? ''
    expect(await client.leases.extend({ leases: [{ id, token }] })).toEqual(['held'])
    expect(await client.jobs.cancel(id)).toBe('requested')
    expect(await client.leases.extend({ leases: [{ id, token }] })).toEqual(['stop'])
    expect(await client.leases.settle(id, { token, outcome: 'cancelled' })).toBe('cancelled')
    expect(await client.jobs.get(id)).toMatchObject({ state: 'cancelled' })
  })

  test('is refused when it has ended, or never was', async () => {
    const { client, problem } = await serving()
    const { id } = await client.jobs.create({ job: 'a' })
    await client.jobs.cancel(id)
    expect(await problem('POST', `/jobs/${id}/cancel`)).toMatchObject({ status: 409, type: 'urn:treadle:problem:job-ended' })
    expect(await problem('POST', '/jobs/nobody/cancel')).toMatchObject({ status: 404 })
  })
})

describe('putting a job back', () => {
  test('lets an ended one run again, with its history', async () => {
    const { client } = await serving()
    const { id } = await client.jobs.create({ job: 'a' })
    const [lease] = await client.leases.take({ jobs: ['a'] })
    await client.leases.settle(id, { token: lease?.token ?? '', outcome: 'dead', error: { message: 'no' } })
    expect(await client.jobs.get(id)).toMatchObject({ state: 'dead', reason: 'permanent' })
    expect(await client.jobs.retry(id)).toMatchObject({ state: 'ready', attempts: 0, errors: [{ message: 'no' }] })
  })

  test('is refused while it waits, and while another one has its unique key', async () => {
    const { client, problem } = await serving()
    const first = await client.jobs.create({ job: 'a', unique: { key: 'k' } })
    expect(await problem('POST', `/jobs/${first.id}/retry`)).toMatchObject({
      status: 409,
      type: 'urn:treadle:problem:job-not-ended',
    })
    await client.jobs.cancel(first.id)
    const holder = await client.jobs.create({ job: 'a', unique: { key: 'k' } })
    expect(await problem('POST', `/jobs/${first.id}/retry`)).toMatchObject({
      status: 409,
      type: 'urn:treadle:problem:unique-key-taken',
      detail: `Job ${first.id} was left alone: job ${holder.id} has its unique key`,
    })
    expect(await problem('POST', '/jobs/nobody/retry')).toMatchObject({ status: 404 })
  })
})

describe('deleting a job', () => {
  test('takes away one that waits, and one that has ended', async () => {
    const { ask, client } = await serving()
    for (const delay of [0, '1h']) {
      const { id } = await client.jobs.create({ job: 'a', delay })
      expect(await ask('DELETE', `/jobs/${id}`)).toMatchObject({ status: 204, text: '' })
      await expect(client.jobs.get(id)).rejects.toMatchObject({ code: 'RUN_NOT_FOUND' })
    }
    const { id } = await client.jobs.create({ job: 'a' })
    const [lease] = await client.leases.take({ jobs: ['a'] })
    await client.leases.settle(id, { token: lease?.token ?? '', outcome: 'done' })
    await client.jobs.delete(id)
    expect((await client.jobs.list()).jobs).toEqual([])
  })

  test('is refused while a worker has it', async () => {
    const { client, problem } = await serving()
    const { id } = await client.jobs.create({ job: 'a' })
    await client.leases.take({ jobs: ['a'] })
    expect(await problem('DELETE', `/jobs/${id}`)).toMatchObject({ status: 409, type: 'urn:treadle:problem:job-not-waiting' })
    expect(await client.jobs.get(id)).toMatchObject({ state: 'running', cancelRequested: false })
    expect(await problem('DELETE', '/jobs/nobody')).toMatchObject({ status: 404 })
  })
})
