import { describe, expect, test } from 'vitest'
import { serving } from './serving.ts'

const headers = { 'content-type': 'application/json' }
const large = '9007199254740993123'

describe('a copy of a job', () => {
  test('is a new job of the same kind that names the first one, which stays as it is', async () => {
    const { client, ask } = await serving()
    const given = { job: 'send', queue: 'mail', priority: 7, maxRetries: 3, group: 'acme', tags: ['vip'], meta: { by: 'ada' } }
    const { id } = await client.jobs.create({ ...given, payload: { n: 1 } })
    const copy = await client.jobs.copy(id)
    expect(copy).not.toBe(id)
    expect(await client.jobs.get(copy)).toMatchObject({
      ...given,
      payload: { n: 1 },
      meta: { by: 'ada', copyOf: id },
      state: 'ready',
    })
    expect(await client.jobs.get(id)).toMatchObject({ meta: { by: 'ada' }, state: 'ready' })
    expect(await ask('POST', `/jobs/${id}/copy`, { json: {} })).toMatchObject({ status: 201, body: { created: true } })
  })

  test('keeps every digit of its payload, the first one and a new one', async () => {
    const { ask } = await serving()
    const made = (await ask('POST', '/jobs', { headers, text: `{"job":"a","payload":{"n":${large}}}` })).body as { id: string }
    const same = (await ask('POST', `/jobs/${made.id}/copy`, { json: {} })).body as { id: string }
    const other = (await ask('POST', `/jobs/${made.id}/copy`, { headers, text: `{"payload":[${large}]}` })).body as { id: string }
    expect((await ask('GET', `/jobs/${same.id}`)).text).toContain(`"payload":{"n":${large}}`)
    expect((await ask('GET', `/jobs/${other.id}`)).text).toContain(`"payload":[${large}]`)
  })

  test('is not made of a job that is not there, and does not take its unique key', async () => {
    const { client, problem } = await serving()
    const gone = '01900000-0000-7000-8000-000000000000'
    expect(await problem('POST', `/jobs/${gone}/copy`, { json: {} })).toMatchObject({ status: 404 })
    const { id } = await client.jobs.create({ job: 'a', unique: { key: 'k' } })
    // A key of its dispatch is not copied.
    expect(await client.jobs.copy(id)).not.toBe(id)
  })

  test('is refused where its payload is encrypted, or does not fit the schema of its job', async () => {
    const { jobs, client, problem } = await serving({ jobs: { signingKey: 'a secret of 16 bytes or more' } })
    const sealed = await jobs.declare('a').dispatch({ secret: 1 }, { encrypt: true })
    expect(await problem('POST', `/jobs/${sealed.id}/copy`, { json: { payload: 2 } })).toMatchObject({
      status: 409,
      type: 'urn:treadle:problem:payload-encrypted',
    })
    const validate = (value: unknown) => (typeof value === 'string' ? { value } : { issues: [{ message: 'must be an address' }] })
    jobs.define('mail', { input: { '~standard': { version: 1, vendor: 'test', validate } } }, async () => {})
    const { id } = await client.jobs.create({ job: 'mail', payload: 'ada@example.com' })
    const refused = await problem('POST', `/jobs/${id}/copy`, { json: { payload: 5 } })
    expect(refused).toMatchObject({ status: 400, code: 'PAYLOAD_INVALID' })
    expect((await client.jobs.list({ job: 'mail' })).jobs).toHaveLength(1)
  })

  test('is made by those who operate, of jobs that they see', async () => {
    const tokens = [
      { role: 'work', secret: 'secret of work' },
      { role: 'operate', secret: 'limited to mail', queues: ['mail'] },
    ] as const
    const { ask } = await serving({ token: 'secret of admin', tokens })
    const as = (secret: string) => ({ authorization: `Bearer ${secret}` })
    const made = await ask('POST', '/jobs', { json: { job: 'a' }, headers: as('secret of admin') })
    const path = `/jobs/${(made.body as { id: string }).id}/copy`
    expect(await ask('POST', path, { json: {}, headers: as('secret of work') })).toMatchObject({ status: 403 })
    expect(await ask('POST', path, { json: {}, headers: as('limited to mail') })).toMatchObject({ status: 404 })
    expect(await ask('POST', path, { json: {}, headers: as('secret of admin') })).toMatchObject({ status: 201 })
  })
})
