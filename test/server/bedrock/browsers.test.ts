import { describe, expect, test } from 'vitest'
import { served } from './served.ts'

const made = 'CreateJob\r\nname: evil\r\n\r\n'

/** All that the server says to these bytes, and what jobs it has then. */
async function said(bytes: string) {
  const server = await served()
  const client = await server.client()
  client.send(bytes)
  const answer = await client.all()
  return { answer, jobs: await server.backend.store.list({ limit: 10 }) }
}

describe('a page that a browser of this machine shows', () => {
  test.each([
    [
      'a form',
      `POST / HTTP/1.1\r\nHost: 127.0.0.1:8888\r\nOrigin: https://evil.example\r\nContent-Type: text/plain\r\nContent-Length: ${made.length}\r\n\r\n${made}`,
    ],
    ['a form whose length is not said', `POST / HTTP/1.1\r\nHost: 127.0.0.1:8888\r\nContent-Type: text/plain\r\n\r\n${made}`],
    [
      'a form that is sent by its parts',
      `POST /x HTTP/1.1\r\nHost: localhost\r\nContent-Type: multipart/form-data; boundary=b\r\n\r\n--b\r\n\r\n${made}`,
    ],
    ['a method of its own', `CreateJob / HTTP/1.1\r\nHost: 127.0.0.1:8888\r\nOrigin: null\r\nname: evil\r\n\r\n`],
    ['a name that leads here', `CreateJob / HTTP/1.1\r\nHost: evil.example:8888\r\nname: evil\r\n\r\n${made}`],
    ['an address of another network', `CreateJob / HTTP/1.1\r\nHost: 10.0.0.1:8888\r\nname: evil\r\n\r\n`],
    ['headers that only browsers write', `CreateJob / HTTP/1.1\r\nSec-Fetch-Site: same-origin\r\nname: evil\r\n\r\n`],
    ['the same without a line of HTTP', `CreateJob\r\nSec-Fetch-Mode: no-cors\r\nname: evil\r\n\r\n${made}`],
    [
      'a question before the request',
      `OPTIONS / HTTP/1.1\r\nHost: localhost\r\nAccess-Control-Request-Method: CreateJob\r\n\r\n${made}`,
    ],
    ['a web socket', `GET /status/handlingCommands HTTP/1.1\r\nHost: localhost\r\nSec-WebSocket-Key: x\r\n\r\n${made}`],
    ['another address than that of the health checks', `GET / HTTP/1.1\r\nHost: localhost\r\n\r\n${made}`],
  ])('makes no job by %s, and nothing behind it is read', async (_, bytes) => {
    const { answer, jobs } = await said(bytes)
    expect(answer).toMatch(/^(?:403 Forbidden|430 Unrecognized)/)
    expect(answer.match(/Content-Length/g)).toHaveLength(1)
    expect(jobs).toEqual([])
  })

  test('is not taken for a client that speaks as if it were HTTP', async () => {
    const server = await served()
    const client = await server.client()
    for (const host of ['', 'Host: localhost:8888\r\n', 'Host: [::1]:8888\r\n']) {
      client.send(`CreateJob / HTTP/1.1\r\n${host}name: a\r\n\r\n`)
      expect(await client.reply()).toMatch(/^200 OK/)
    }
    client.send('GET /status/handlingCommands HTTP/1.1\r\nHost: jobs.example\r\n\r\nPing\r\n\r\n')
    expect(await client.replies(2)).toMatchObject([
      expect.stringContaining('HTTP/1.1 200 LEADING'),
      expect.stringContaining('200 OK'),
    ])
  })
})
