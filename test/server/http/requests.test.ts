import { describe, expect, test } from 'vitest'
import type { Operation } from '../../../src/client/api/operation.ts'
import { operations } from '../../../src/client/api/operations.ts'
import type { Problem } from '../../../src/client/api/problem.ts'
import { until } from '../../world.ts'
import { type Given, serving } from './serving.ts'

describe('an address', () => {
  test('where nothing is, is 404', async () => {
    const { problem } = await serving()
    for (const path of ['', '/', '/job', '/jobs/', '/jobs/a/b/c', '/jobs/%', '/../jobs', '//jobs']) {
      expect(await problem('GET', path)).toMatchObject({ status: 404, type: 'urn:treadle:problem:not-found' })
    }
  })

  test('may be a whole URL', async () => {
    const { raw } = await serving()
    const client = await raw()
    client.send('GET http://localhost/api/v1/health HTTP/1.1\r\nHost: localhost\r\n\r\n')
    await until(() => client.received.includes('"alive"'))
    expect(client.received).toMatch(/^HTTP\/1\.1 200 OK/)
  })

  test('with text that no database can search for is refused, as is such an owner', async () => {
    const { problem } = await serving()
    const refused: string[] = []
    const inMemory: readonly string[] = ['streamEvents']
    for (const [name, { method, path, query, body }] of Object.entries<Operation>(operations)) {
      const given: Given = body === undefined ? {} : { json: {} }
      const texts = Object.entries(query?.properties ?? {}).filter(([, { type }]) => type === 'string')
      const asked = texts.map(([parameter]) => `${path.replace(/\{\w+\}/, 'x')}?${parameter}=%00`)
      const paths = path.includes('{') ? [path.replace(/\{\w+\}/, 'a%00'), ...asked] : asked
      if (inMemory.includes(name)) continue
      for (const each of paths) refused.push(`${method} ${each} ${(await problem(method, each, given)).status}`)
    }
    expect(refused.length).toBeGreaterThan(30)
    expect(refused.filter((each) => !each.endsWith(' 400'))).toEqual([])
    const nobody = { jobs: ['a'], owner: '\0' }
    expect(await problem('POST', '/leases', { json: nobody })).toMatchObject({
      errors: [{ pointer: '/owner', detail: 'must not contain the character U+0000, got "\\u0000"' }],
    })
  })

  test('tells which methods it knows', async () => {
    const { ask } = await serving()
    expect(await ask('OPTIONS', '/jobs')).toMatchObject({ status: 204, headers: { allow: 'POST, GET, HEAD, OPTIONS' } })
    for (const method of ['PUT', 'DELETE', 'PATCH', 'TRACE']) {
      const refused = await ask(method, '/jobs')
      expect(refused).toMatchObject({
        status: 405,
        headers: { allow: 'POST, GET, HEAD, OPTIONS' },
        body: { type: 'urn:treadle:problem:method-not-allowed' },
      })
    }
  })

  test('answers HEAD as GET, without the body', async () => {
    const { ask } = await serving()
    const get = await ask('GET', '/health')
    const head = await ask('HEAD', '/health')
    expect(head).toMatchObject({ status: 200, text: '', headers: { 'content-length': get.headers['content-length'] } })
    expect(await ask('HEAD', '/nowhere')).toMatchObject({ status: 404, text: '' })
    expect(await ask('HEAD', '/leases')).toMatchObject({ status: 405, text: '' })
  })

  test('is answered for nobody else to keep', async () => {
    const { ask } = await serving()
    const { headers } = await ask('GET', '/jobs')
    expect(headers).toMatchObject({ 'cache-control': 'no-store', 'x-content-type-options': 'nosniff' })
    expect(headers).not.toHaveProperty('access-control-allow-origin')
  })
})

describe('a body', () => {
  test.each([
    ['no content type', {}, 415],
    ['another content type', { 'content-type': 'text/plain' }, 415],
    ['a form', { 'content-type': 'application/x-www-form-urlencoded' }, 415],
    ['another character set', { 'content-type': 'application/json; charset=latin1' }, 415],
    ['a content encoding', { 'content-type': 'application/json', 'content-encoding': 'gzip' }, 415],
    ['JSON', { 'content-type': 'application/json' }, 201],
    ['JSON in capitals, with its character set', { 'content-type': 'Application/JSON; charset="UTF-8"' }, 201],
    ['a kind of JSON', { 'content-type': 'application/vnd.api+json' }, 201],
  ])('with %s', async (_, headers, status) => {
    const { ask } = await serving()
    expect(await ask('POST', '/jobs', { text: '{"job":"a"}', headers })).toMatchObject({ status })
  })

  const json = { 'content-type': 'application/json' }

  test.each([
    ['broken', '{"job":'],
    ['two values', '{"job":"a"}{"job":"b"}'],
    ['a byte that is no character', Buffer.from([0x22, 0xff, 0x22]).toString('latin1')],
    ['a number beyond all numbers', '{"job":"a","payload":1e999}'],
    ['nested too deep', `{"job":"a","payload":${'['.repeat(101)}${']'.repeat(101)}}`],
    ['nested without an end', '['.repeat(100_000)],
  ])('that is %s is refused, and not quoted', async (_, text) => {
    const { problem } = await serving()
    const refused = await problem('POST', '/jobs', { text, headers: json })
    expect(refused.status).toBe(400)
    expect(JSON.stringify(refused)).not.toContain('"job":')
  })

  test('that is missing, or is no object, is refused', async () => {
    const { problem } = await serving()
    expect(await problem('POST', '/jobs')).toMatchObject({ status: 400, errors: [{ pointer: '' }] })
    for (const text of ['null', '[]', '"text"', '1']) {
      expect(await problem('POST', '/jobs', { text, headers: json })).toMatchObject({ status: 400, errors: [{ pointer: '' }] })
    }
  })

  test('with members that only look like objects’ own is refused', async () => {
    const { problem, client } = await serving()
    const text = '{"job":"a","__proto__":{"queue":"evil"},"constructor":1}'
    const { errors } = await problem('POST', '/jobs', { text, headers: json })
    expect(errors?.map(({ pointer }) => pointer)).toEqual(['/__proto__', '/constructor'])
    const payload = JSON.parse('{"__proto__":{"polluted":true}}')
    const { id } = await client.jobs.create({ job: 'a', payload, meta: payload })
    expect(JSON.stringify((await client.jobs.get(id)).payload)).toBe('{"__proto__":{"polluted":true}}')
    expect({}).not.toHaveProperty('polluted')
  })

  test('that is too large is refused, whether or not it says so', async () => {
    const { ask, raw } = await serving({ limits: { maxBodyBytes: 1_000 } })
    const text = JSON.stringify({ job: 'a', payload: 'x'.repeat(2_000) })
    const refused = await ask('POST', '/jobs', { text, headers: json })
    expect(refused).toMatchObject({ status: 413, body: { type: 'urn:treadle:problem:body-too-large' } })
    const client = await raw()
    client.send(
      'POST /api/v1/jobs HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n',
    )
    client.send(`7d0\r\n${'x'.repeat(2_000)}\r\n`)
    await until(() => client.received.includes('\r\n\r\n'))
    expect(client.received).toMatch(/^HTTP\/1\.1 413 /)
  })

  test('is larger than its job may be', async () => {
    const { problem } = await serving({ jobs: { maxPayloadBytes: 100 } })
    const refused = await problem('POST', '/jobs', { json: { job: 'a', payload: 'x'.repeat(200) } })
    expect(refused).toMatchObject({ status: 413, code: 'PAYLOAD_TOO_LARGE' })
  })

  test('has at most so many faults told', async () => {
    const { problem } = await serving()
    const { errors } = await problem('POST', '/jobs/bulk', { json: { jobs: Array.from({ length: 500 }, () => ({})) } })
    expect(errors).toHaveLength(50)
  })
})

describe('a broken client', () => {
  test('that sends half of a body and dies leaves no trace', async () => {
    const { raw, client, log } = await serving()
    const half = await raw()
    half.send(
      'POST /api/v1/jobs HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{"job"',
    )
    half.kill()
    await half.closed()
    expect((await client.jobs.list()).jobs).toEqual([])
    expect(log.filter((line) => line.startsWith('error'))).toEqual([])
  })

  test('that never ends its request is told, and sent away', async () => {
    const { raw } = await serving({ limits: { requestTimeoutMs: 50, headersTimeoutMs: 50 } })
    const slow = await raw()
    slow.send('POST /api/v1/jobs HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{')
    await slow.closed()
    expect(slow.received).toMatch(/^HTTP\/1\.1 408 Request Timeout\r\n/)
    expect(problemIn(slow.received)).toMatchObject({ type: 'urn:treadle:problem:request-timeout', status: 408 })
  })

  test('that sends no HTTP is sent away', async () => {
    const { raw } = await serving()
    const stranger = await raw()
    stranger.send('CreateJob\r\nname: a\r\n\r\n')
    await stranger.closed()
    expect(stranger.received).toMatch(/^HTTP\/1\.1 400 /)
    expect(problemIn(stranger.received).detail).toMatch(/^This is not an HTTP request that can be read: ./)
  })

  test('that sends endless headers is sent away', async () => {
    const { raw } = await serving({ limits: { maxHeaderBytes: 1_000 } })
    const stranger = await raw()
    stranger.send(`GET /api/v1/jobs HTTP/1.1\r\nHost: localhost\r\nX: ${'x'.repeat(2_000)}\r\n\r\n`)
    await stranger.closed()
    expect(stranger.received).toMatch(/^HTTP\/1\.1 431 /)
    expect(problemIn(stranger.received)).toMatchObject({ type: 'urn:treadle:problem:headers-too-large', status: 431 })
  })

  test('that names no host is told', async () => {
    const { raw } = await serving()
    const stranger = await raw()
    stranger.send('GET /api/v1/health HTTP/1.1\r\nConnection: close\r\n\r\n')
    await stranger.closed()
    expect(stranger.received).toMatch(/^HTTP\/1\.1 400 /)
    expect(problemIn(stranger.received).detail).toBe('The header Host is missing, which HTTP/1.1 requires')
  })
})

test.each<[string, object]>([
  ['maxBodyBytes must be a whole number of at least 1, got 0', { maxBodyBytes: 0 }],
  ['unknown option "maxBodyBites", did you mean "maxBodyBytes"?', { maxBodyBites: 10 }],
])('limits that make no sense are refused: %s', async (message, limits) => {
  await expect(serving({ limits })).rejects.toThrow(message)
})

function problemIn(received: string): Problem {
  const [head = '', body = ''] = received.split('\r\n\r\n')
  expect(head).toMatch(/^content-type: application\/problem\+json$/im)
  return JSON.parse(body) as Problem
}
