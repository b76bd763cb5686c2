import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { describe, expect, onTestFinished, test } from 'vitest'
import { treadleClient } from '../../src/client/http/http-client.ts'
import { ManualClock } from '../../src/testing/manual-clock.ts'
import { serving } from '../server/http/serving.ts'
import { until } from '../world.ts'

describe('a client', () => {
  test('gives all jobs, page by page', async () => {
    const { client } = await serving()
    const made = await client.jobs.createMany(Array.from({ length: 7 }, () => ({ job: 'a' })))
    const ids: string[] = []
    for await (const { id } of client.jobs.all({ job: 'a', limit: 3 })) ids.push(id)
    expect(ids).toEqual(made.map(({ id }) => id).toReversed())
  })

  test('throws the problem that the server told, with everything that is wrong', async () => {
    const { client } = await serving()
    const refused = client.jobs.create({ job: '', priority: 1e9 })
    await expect(refused).rejects.toMatchObject({
      name: 'TreadleError',
      code: 'SERVER_REFUSED',
      message: '/job must not be empty; /priority must be at most 32767, got 1000000000',
      problem: { status: 400, errors: [{ pointer: '/job' }, { pointer: '/priority' }] },
    })
  })

  test('keeps the code of the library where it has one', async () => {
    const { client } = await serving()
    await expect(client.jobs.get('nobody')).rejects.toMatchObject({ code: 'RUN_NOT_FOUND', problem: { status: 404 } })
    await expect(client.schedules.pause('nobody')).rejects.toMatchObject({ code: 'SCHEDULE_UNKNOWN' })
  })

  test('sends its token', async () => {
    const { url, client } = await serving({ token: 'secret' })
    await client.stats()
    const stranger = treadleClient({ url: `${url}/`, token: 'other' })
    await expect(stranger.stats()).rejects.toMatchObject({ problem: { status: 401 } })
    await stranger.ready()
  })

  test('asks for names with any characters', async () => {
    const { client } = await serving()
    await client.queues.pause('eu/mail:1')
    expect(await client.queues.list()).toMatchObject([{ queue: 'eu/mail:1', paused: true }])
  })

  test('ends a call when its signal aborts', async () => {
    const { client, api } = await serving()
    const stopping = new AbortController()
    const taking = client.leases.take({ jobs: ['a'], wait: '20s' }, { signal: stopping.signal })
    await until(() => api.waiting === 1)
    stopping.abort(new Error('enough'))
    await expect(taking).rejects.toThrow('enough')
    await until(() => api.waiting === 0)
    await expect(client.stats({ signal: stopping.signal })).rejects.toThrow('enough')
  })

  test('says when nobody is there', async () => {
    const { url, server, client } = await serving()
    server.close()
    server.closeAllConnections()
    await expect(client.stats()).rejects.toMatchObject({
      code: 'SERVER_UNREACHABLE',
      message: expect.stringContaining(`${url}/api/v1 cannot be reached`),
    })
  })

  async function answering(listener: Parameters<typeof createServer>[1]) {
    const server = createServer(listener as never).listen(0, '127.0.0.1')
    await once(server, 'listening')
    onTestFinished(() => {
      server.closeAllConnections()
      server.close()
    })
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  }

  test('says when what answers is no job server', async () => {
    const url = await answering((_, response) => response.writeHead(200, { 'content-type': 'text/html' }).end('<html>'))
    await expect(treadleClient({ url }).stats()).rejects.toMatchObject({
      code: 'SERVER_UNREACHABLE',
      message: 'The server that answered is not a job server: status 200, text/html',
    })
    const broken = await answering((_, response) => response.writeHead(200, { 'content-type': 'application/json' }).end('{'))
    await expect(treadleClient({ url: broken }).stats()).rejects.toMatchObject({ code: 'SERVER_UNREACHABLE' })
  })

  test('does not wait for ever', async () => {
    const clock = new ManualClock()
    let isAsked = false
    const url = await answering(() => {
      isAsked = true
    })
    const asking = treadleClient({ url, clock, timeout: '5s' }).stats()
    const ended = expect(asking).rejects.toMatchObject({ message: expect.stringContaining('no answer in 5000 ms') })
    await until(() => isAsked)
    await clock.advance(5_000)
    await ended
  })

  test('uses the fetch that it is given', async () => {
    const asked: string[] = []
    const answer = new Response(JSON.stringify({ queues: [] }), { headers: { 'content-type': 'application/json' } })
    const fetch = async (address: unknown) => {
      asked.push(String(address))
      return answer
    }
    const client = treadleClient({ url: 'https://jobs.example/base', fetch: fetch as typeof globalThis.fetch })
    expect(await client.queues.list()).toEqual([])
    expect(asked).toEqual(['https://jobs.example/base/api/v1/queues'])
  })

  test.each<[string, object]>([
    ['url must be one of http or https, got undefined', {}],
    ['url must be one of http or https, got ftp://x', { url: 'ftp://x' }],
    ['unknown option "tokn", did you mean "token"?', { url: 'http://x', tokn: 'y' }],
    ['timeout must be', { url: 'http://x', timeout: 'soon' }],
  ])('refuses options that make no sense: %s', (message, options) => {
    expect(() => treadleClient(options as never)).toThrow(message)
  })
})
