import { get } from 'node:https'
import { connect } from 'node:net'
import type { TlsOptions } from 'node:tls'
import { describe, expect, onTestFinished, test } from 'vitest'
import { type TreadleClient, treadleClient } from '../../../src/client/http/http-client.ts'
import { Access } from '../../../src/server/access/access.ts'
import { httpApi } from '../../../src/server/http/api.ts'
import { listenHttp } from '../../../src/server/http/listener.ts'
import { JobService } from '../../../src/server/jobs/job-service.ts'
import { until, world } from '../../world.ts'
import { certificate } from '../bedrock/certificate.ts'

async function listening(tls?: TlsOptions) {
  const inside = world()
  const { jobs, clock } = inside
  const service = new JobService(await jobs.served(), 3)
  onTestFinished(() => service.stop())
  const { logger } = service.queue.settings
  const api = httpApi({ jobs, service, access: new Access([], clock), logger })
  const listener = await listenHttp({ host: '127.0.0.1', port: 0, api, clock, logger, ...(tls !== undefined && { tls }) })
  onTestFinished(() => listener.stop({ graceMs: 0 }))
  const { port } = listener.address
  return { ...inside, api, service, logger, listener, port, client: treadleClient({ url: `http://127.0.0.1:${port}`, clock }) }
}

test('a listener answers on the port that it names', async () => {
  const { client, listener } = await listening()
  await client.ready()
  expect(listener.address.host).toBe('127.0.0.1')
})

test('a port that another program has is refused', async () => {
  const { api, port, logger } = await listening()
  await expect(listenHttp({ host: '127.0.0.1', port, api, logger })).rejects.toMatchObject({ code: 'LISTEN_FAILED' })
})

test('what is no HTTP is told so as a problem', async () => {
  const { port } = await listening()
  const socket = connect(port, '127.0.0.1')
  socket.write('NONSENSE / HTTP/1.1\r\nHost: localhost\r\n\r\n')
  let received = ''
  for await (const piece of socket) received += String(piece)
  expect(received).toMatch(/^HTTP\/1\.1 400 Bad Request\r\n[\s\S]*\r\n\r\n{"type":"urn:treadle:problem:invalid-request",/)
})

test('an expectation that the server does not know is ignored', async () => {
  const { port } = await listening()
  const socket = connect(port, '127.0.0.1')
  socket.write('GET /api/v1/health HTTP/1.1\r\nHost: localhost\r\nExpect: more\r\nConnection: close\r\n\r\n')
  let received = ''
  for await (const piece of socket) received += String(piece)
  expect(received).toMatch(/^HTTP\/1\.1 200 OK\r\n/)
})

test('a listener that is stopped ends all waiting, and may be stopped twice', async () => {
  const { client, api, listener } = await listening()
  const taking = client.leases.take({ jobs: ['a'], wait: '20s' })
  await until(() => api.waiting === 1)
  await Promise.all([listener.stop({ graceMs: 10_000 }), listener.stop({ graceMs: 10_000 })])
  expect(await taking).toEqual([])
  await expect(client.ready()).rejects.toMatchObject({ code: 'SERVER_UNREACHABLE' })
})

test('what has not ended after the grace is cut off', async () => {
  const { listener, port, clock } = await listening()
  const socket = connect(port, '127.0.0.1').on('error', () => {})
  // Half of a request: the server waits for the rest.
  await new Promise<void>((resolve) => socket.write('GET /api/v1/health HTTP/1.1\r\n', () => resolve()))
  const stopping = listener.stop({ graceMs: 10_000 })
  await clock.advance(10_000)
  await stopping
  socket.destroy()
})

test('an encrypted listener answers those who trust it, and says nothing in the clear', async () => {
  const { port, client } = await listening(certificate)
  const status = (ca?: string) =>
    new Promise((resolve, reject) => {
      const address = { host: 'localhost', port, path: '/api/v1/ready', agent: false, ...(ca !== undefined && { ca }) }
      get(address, (response) => resolve(response.resume().statusCode)).on('error', reject)
    })
  expect(await status(certificate.cert)).toBe(200)
  await expect(status()).rejects.toMatchObject({ code: 'DEPTH_ZERO_SELF_SIGNED_CERT' })
  await expect(client.ready()).rejects.toMatchObject({ code: 'SERVER_UNREACHABLE' })
})

describe('requests that are sent ahead on one connection', () => {
  const health = 'GET /api/v1/health HTTP/1.1\r\nHost: localhost\r\n'
  const make = (job: string) => {
    const body = JSON.stringify({ job, payload: null })
    const head = 'Host: localhost\r\nContent-Type: application/json\r\n'
    return `POST /api/v1/jobs HTTP/1.1\r\n${head}Content-Length: ${body.length}\r\n\r\n${body}`
  }
  const take = (job: string) => {
    const body = JSON.stringify({ jobs: [job], wait: '20s' })
    const head = 'Host: localhost\r\nContent-Type: application/json\r\n'
    return `POST /api/v1/leases HTTP/1.1\r\n${head}Content-Length: ${body.length}\r\n\r\n${body}`
  }
  const sent = async (port: number, text: string) => {
    const socket = connect(port, '127.0.0.1').on('error', () => {})
    onTestFinished(() => void socket.destroy())
    let received = ''
    socket.on('data', (piece) => {
      received += String(piece)
    })
    await new Promise<void>((resolve) => socket.write(text, () => resolve()))
    return { socket, statuses: () => received.match(/(?<=HTTP\/1\.1 )\d{3}/g) ?? [] }
  }
  const made = async (client: TreadleClient) => (await client.jobs.list()).jobs.map(({ job }) => job)

  test('are all answered, in their order', async () => {
    const { port, client } = await listening()
    const missing = 'GET /api/v1/missing HTTP/1.1\r\nHost: localhost\r\n\r\n'
    const { statuses } = await sent(port, `${`${health}\r\n`.repeat(20)}${make('a')}${missing}${health}\r\n`)
    await until(() => statuses().length === 23)
    expect(statuses()).toEqual([...Array(20).fill('200'), '201', '404', '200'])
    expect(await made(client)).toEqual(['a'])
  })

  test('begin when the one before is answered, and not at all if the connection ends before', async () => {
    const { port, client, api } = await listening()
    const { socket, statuses } = await sent(port, `${take('a')}${make('b')}`)
    await until(() => api.waiting === 1)
    expect(await made(client)).toEqual([])
    await client.jobs.create({ job: 'a', payload: null })
    await until(() => statuses().length === 2)
    expect(statuses()).toEqual(['200', '201'])
    socket.write(`${take('c')}${make('d')}`)
    await until(() => api.waiting === 1)
    socket.destroy()
    await until(() => api.waiting === 0)
    const { statuses: last } = await sent(port, `${health}Connection: close\r\n\r\n${make('e')}`)
    await until(() => last().length === 1)
    expect(await made(client)).toEqual(['b', 'a'])
  })

  test('are bounded in number', async () => {
    const { port, client, api } = await listening()
    const { socket } = await sent(port, take('a'))
    await until(() => api.waiting === 1)
    socket.write(`${health}\r\n`.repeat(101))
    await until(() => socket.destroyed)
    await until(() => api.waiting === 0)
    await client.ready()
  })
})
