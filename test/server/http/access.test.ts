import { describe, expect, test } from 'vitest'
import { serving } from './serving.ts'

const bearer = (token: string) => ({ headers: { authorization: `Bearer ${token}` } })

describe('without a token', () => {
  test.each(['localhost', 'LOCALHOST:1', '127.0.0.1', '127.8.9.1:80', '[::1]', 'jobs.localhost'])(
    '%s is this machine',
    async (host) => {
      const { ask } = await serving()
      expect(await ask('GET', '/jobs', { headers: { host } })).toMatchObject({ status: 200 })
    },
  )

  test.each([
    'evil.example',
    'localhost.evil.example',
    '127.0.0.1.evil.example',
    '10.0.0.1',
    '[::2]',
    'a b',
    'localhost@evil.example',
    'evil.example@localhost',
    'localhost#.evil.example',
    'localhost/.evil.example',
    'localhost?.evil.example',
    'localhost\\.evil.example',
  ])('a name that leads here is not answered: %s', async (host) => {
    const { problem } = await serving()
    expect(await problem('GET', '/jobs', { headers: { host } })).toMatchObject({
      status: 403,
      type: 'urn:treadle:problem:forbidden',
    })
  })

  test('a page of another address is not answered', async () => {
    const { problem, ask, port } = await serving()
    for (const origin of ['https://evil.example', 'http://localhost:1', 'null', `http://127.0.0.1:${port}.evil.example`]) {
      expect(await problem('POST', '/queues/mail/pause', { headers: { origin } })).toMatchObject({ status: 403 })
    }
    const own = { origin: `http://127.0.0.1:${port}`, host: `127.0.0.1:${port}` }
    expect(await ask('POST', '/queues/mail/pause', { headers: own })).toMatchObject({ status: 200 })
  })

  test('nothing is told of what is there', async () => {
    const { problem } = await serving()
    expect(await problem('GET', '/nowhere', { headers: { host: 'evil.example' } })).toMatchObject({ status: 403 })
  })
})

describe('with a token', () => {
  test('who has it is answered, under any name', async () => {
    const { ask } = await serving({ token: 'secret' })
    const headers = { authorization: 'bearer   secret ', host: 'jobs.example' }
    expect(await ask('GET', '/jobs', { headers })).toMatchObject({ status: 200 })
  })

  test.each([
    ['none', {}],
    ['another one', { authorization: 'Bearer other' }],
    ['a beginning of it', { authorization: 'Bearer secre' }],
    ['another scheme', { authorization: 'Basic c2VjcmV0' }],
    ['an empty one', { authorization: 'Bearer ' }],
  ])('who has %s is not', async (_, headers) => {
    const { ask, client } = await serving({ token: 'secret' })
    const refused = await ask('POST', '/jobs', { json: { job: 'a' }, headers })
    expect(refused).toMatchObject({
      status: 401,
      headers: { 'www-authenticate': 'Bearer realm="treadle"' },
      body: { type: 'urn:treadle:problem:unauthorized' },
    })
    expect(refused.text).not.toContain('secret')
    expect((await client.jobs.list()).jobs).toEqual([])
  })

  test('who has that for looking changes nothing', async () => {
    const { ask } = await serving({ token: 'secret', readToken: 'look' })
    expect(await ask('GET', '/jobs', bearer('look'))).toMatchObject({ status: 200 })
    expect(await ask('HEAD', '/jobs', bearer('look'))).toMatchObject({ status: 200 })
    for (const [method, path] of [
      ['POST', '/jobs'],
      ['DELETE', '/jobs/x'],
      ['POST', '/leases'],
      ['POST', '/queues/a/pause'],
    ] as const) {
      expect(await ask(method, path, bearer('look'))).toMatchObject({
        status: 403,
        body: { type: 'urn:treadle:problem:forbidden' },
      })
    }
    expect(await ask('POST', '/queues/a/pause', bearer('secret'))).toMatchObject({ status: 200 })
  })

  test('a token for looking alone lets nobody change anything', async () => {
    const { ask } = await serving({ readToken: 'look' })
    expect(await ask('GET', '/jobs')).toMatchObject({ status: 401 })
    expect(await ask('POST', '/queues/a/pause')).toMatchObject({ status: 401 })
    expect(await ask('GET', '/jobs', bearer('look'))).toMatchObject({ status: 200 })
  })

  test('whether the server lives may be asked by everybody', async () => {
    const { ask } = await serving({ token: 'secret' })
    for (const path of ['/health', '/ready']) {
      expect(await ask('GET', path, { headers: { host: '10.0.0.7' } })).toMatchObject({ status: 200 })
      expect(await ask('POST', path)).toMatchObject({ status: 401 })
    }
  })
})
