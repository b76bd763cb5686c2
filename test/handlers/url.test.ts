import { describe, expect, test, vi } from 'vitest'
import { PermanentError } from '../../src/core/errors.ts'
import { type RequestError, type UrlOptions, url } from '../../src/handlers/index.ts'
import { contextFor, passingCode, permanentCode, thrownBy } from './context.ts'
import { serve, type TestServer } from './server.ts'

describe('D2: a url job', () => {
  test('posts its payload as JSON and keeps the parsed answer', async () => {
    await using server = await serve((_request, response) => {
      response.setHeader('content-type', 'application/json; charset=utf-8').writeHead(201).end('{"id":7}')
    })
    const result = await ask(server, '/orders?paid=1', { allowHosts: [`127.0.0.1:${server.port}`] }, { total: 12 })
    expect(result).toEqual({ status: 201, body: { id: 7 } })
    const [request] = server.received
    expect(request).toMatchObject({ method: 'POST', path: '/orders?paid=1', body: '{"total":12}' })
    expect(request?.headers['content-type']).toBe('application/json')
  })

  test('keeps an answer that is not JSON as text', async () => {
    await using server = await serve((_request, response) => response.end('{"id":7}'))
    expect(await ask(server)).toEqual({ status: 200, body: '{"id":7}' })
  })

  test('keeps an answer that only says that it is JSON as text', async () => {
    await using server = await serve((_request, response) => response.setHeader('content-type', 'application/json').end('{'))
    expect(await ask(server)).toEqual({ status: 200, body: '{' })
  })

  test('makes its address from the payload', async () => {
    await using server = await serve((_request, response) => response.end())
    const allowHosts = [`127.0.0.1:${server.port}`]
    const handler = url(({ id }: { id: number }) => `http://127.0.0.1:${server.port}/orders/${id}`, {
      method: 'DELETE',
      allowHosts,
    })
    await handler({ id: 5 }, contextFor({ id: 5 }))
    expect(server.received).toMatchObject([{ method: 'DELETE', path: '/orders/5', body: '' }])
  })

  test.each(['GET', 'HEAD', 'OPTIONS', 'DELETE'] as const)('O1: sends no body with %s', async (method) => {
    await using server = await serve((_request, response) => response.end())
    expect(await ask(server, '/', { method })).toEqual({ status: 200, body: '' })
    expect(server.received).toMatchObject([{ method, body: '' }])
  })

  test.each(['POST', 'PUT', 'PATCH'] as const)('O1: sends the payload with %s', async (method) => {
    await using server = await serve((_request, response) => response.end())
    await ask(server, '/', { method }, { a: 1 })
    expect(server.received).toMatchObject([{ method, body: '{"a":1}' }])
  })

  test('sends the headers and the body that it is told to', async () => {
    await using server = await serve((_request, response) => response.end())
    const headers = { authorization: 'Bearer token', 'Content-Type': 'text/csv' }
    await ask(server, '/', { headers, body: (payload) => `name\n${payload}\n` }, 'ada')
    expect(server.received[0]?.body).toBe('name\nada\n')
    expect(server.received[0]?.headers).toMatchObject({ authorization: 'Bearer token', 'content-type': 'text/csv' })
  })

  test('keeps only the beginning of a long answer, and says so', async () => {
    await using server = await serve((_request, response) => {
      response.setHeader('content-type', 'application/json').end(JSON.stringify('x'.repeat(1_000_000)))
    })
    const context = contextFor<unknown>(null)
    const result = await ask(server, '/', { maxResponse: 10 }, null, context)
    expect(result).toEqual({ status: 200, body: '"xxxxxxxxx' })
    expect(context.warnings).toHaveLength(1)
  })

  test('is aborted while it waits for the answer', async () => {
    const context = contextFor<unknown>(null)
    await using server = await serve(() => context.abort(new Error('over its timeout')))
    await expect(ask(server, '/', {}, null, context)).rejects.toThrow('over its timeout')
  })

  test('is aborted while it reads the answer', async () => {
    const context = contextFor<unknown>(null)
    await using server = await serve((_request, response) => {
      response.write('part', () => context.abort(new Error('cancelled')))
    })
    await expect(ask(server, '/', {}, null, context)).rejects.toThrow('cancelled')
  })
})

describe('a url job that is answered without success', () => {
  test.each([408, 425, 429, 500, 502, 503])('is retried after %i', async (status) => {
    const thrown = await failureWith(status)
    expect(passingCode(thrown)).toBe('REQUEST_FAILED')
    expect((thrown as RequestError).status).toBe(status)
    expect(thrown.message).toContain(`answered ${status}: sorry`)
  })

  test.each([400, 401, 403, 404, 409, 410, 422])('is not tried again after %i', async (status) => {
    const thrown = await failureWith(status)
    expect(permanentCode(thrown)).toBe('REQUEST_FAILED')
    expect(thrown.message).toContain(`answered ${status}: sorry`)
  })

  test.each([301, 302, 303, 307, 308])('A24: does not follow the redirect %i and is not tried again', async (status) => {
    await using target = await serve((_request, response) => response.end())
    const location = `http://127.0.0.1:${target.port}/`
    await using server = await serve((_request, response) => response.writeHead(status, { location }).end())
    const allowHosts = [`127.0.0.1:${server.port}`, `127.0.0.1:${target.port}`]
    const thrown = await thrownBy(() => ask(server, '/', { allowHosts }))
    expect(permanentCode(thrown)).toBe('REQUEST_FAILED')
    expect(thrown.message).toContain('redirects are not followed')
    expect(target.connections()).toBe(0)
  })

  test('does not show the path of the URL in the error', async () => {
    await using server = await serve((_request, response) => response.writeHead(500).end())
    expect((await thrownBy(() => ask(server, '/hooks/secret?token=secret'))).message).not.toContain('secret')
  })

  test('is retried when nobody answers', async () => {
    const server = await serve(() => {})
    await server[Symbol.asyncDispose]()
    const thrown = await thrownBy(() => ask(server))
    expect(passingCode(thrown)).toBe('REQUEST_FAILED')
    expect((thrown as RequestError).status).toBe(null)
  })
})

describe('A24: a url job verifies certificates', () => {
  test('also when the environment turns that off', async () => {
    await using server = await serve((_request, response) => response.end(), { tls: true })
    vi.stubEnv('NODE_TLS_REJECT_UNAUTHORIZED', '0')
    const handler = url(`https://localhost:${server.port}/`, { allowHosts: [`localhost:${server.port}`] })
    const thrown = await thrownBy(() => handler(null, contextFor<unknown>(null))).finally(() => vi.unstubAllEnvs())
    expect(thrown.message).toContain('self-signed certificate')
    expect(server.received).toEqual([])
  })
})

describe('A24: a url job reaches public addresses only', () => {
  // The port is one that a server really listens on: a request that gets through is seen there.
  const localAddresses = [
    '127.0.0.1',
    '127.1',
    '2130706433',
    '0x7f.1',
    '0.0.0.0',
    '0',
    '[::1]',
    '[::]',
    '[::ffff:127.0.0.1]',
    '[::127.0.0.1]',
  ]
  const otherAddresses = [
    '10.0.0.1',
    '172.16.0.1',
    '192.168.0.1',
    '169.254.169.254',
    '100.64.0.1',
    '224.0.0.1',
    '[fd00::1]',
    '[fe80::1]',
  ]

  test.each([...localAddresses, ...otherAddresses])('and refuses to be made for %s', async (host) => {
    await using server = await serve((_request, response) => response.end())
    const refused = expect.objectContaining({ code: 'URL_REFUSED' })
    expect(() => url(`http://${host}:${server.port}/`)).toThrow(refused)
    expect(() => url(new URL(`https://${host}:${server.port}/`))).toThrow(refused)
    expect(server.connections()).toBe(0)
  })

  test.each([...localAddresses, ...otherAddresses, 'localhost', 'LOCALHOST'])(
    'and is not tried again when the payload asks for %s',
    async (host) => {
      await using server = await serve((_request, response) => response.end())
      const target = `http://${host}:${server.port}/`
      const thrown = await thrownBy(() => url((payload) => String(payload))(target, contextFor<unknown>(target)))
      expect(permanentCode(thrown)).toBe('URL_REFUSED')
      expect(server.connections()).toBe(0)
    },
  )

  test('and finds out what a name stands for only when it connects', async () => {
    await using server = await serve((_request, response) => response.end())
    const handler = url(`http://localhost:${server.port}/`)
    const thrown = await thrownBy(() => handler(null, contextFor<unknown>(null)))
    expect(permanentCode(thrown)).toBe('URL_REFUSED')
    expect(thrown.message).toContain('allowHosts')
    expect(server.connections()).toBe(0)
  })

  test.each([
    ['another port of the host', (port: number) => [`127.0.0.1:${port === 1 ? 2 : 1}`]],
    ['another name of the host', (port: number) => [`localhost:${port}`]],
  ])('and allowing %s does not help', async (_case, allowHosts) => {
    await using server = await serve((_request, response) => response.end())
    const target = `http://127.0.0.1:${server.port}/`
    expect(() => url(target, { allowHosts: allowHosts(server.port) })).toThrow(expect.objectContaining({ code: 'URL_REFUSED' }))
    expect(server.connections()).toBe(0)
  })

  test('unless the host and port are allowed', async () => {
    await using server = await serve((_request, response) => response.end('here'))
    const handler = url(`http://localhost:${server.port}/`, { allowHosts: [`LOCALHOST:${server.port}`] })
    expect(await handler(null, contextFor<unknown>(null))).toEqual({ status: 200, body: 'here' })
  })

  test.each(['file:///etc/passwd', 'gopher://127.0.0.1:70/', 'ftp://example.com/', 'data:text/plain,hello', 'ws://example.com/'])(
    'by http and https, not %s',
    async (target) => {
      expect(() => url(target)).toThrow(expect.objectContaining({ code: 'URL_REFUSED' }))
      const thrown = await thrownBy(() => url((payload) => String(payload))(target, contextFor<unknown>(target)))
      expect(permanentCode(thrown)).toBe('URL_REFUSED')
    },
  )

  test.each(['/relative', '', 'http://', 'http://ada:secret@example.com/'])(
    'by a complete URL without a password, not "%s"',
    async (target) => {
      expect(() => url(target)).toThrow(expect.objectContaining({ code: 'URL_REFUSED' }))
      const thrown = await thrownBy(() => url((payload) => String(payload))(target, contextFor<unknown>(target)))
      expect(thrown).toBeInstanceOf(PermanentError)
      expect(thrown.message).not.toContain('secret')
    },
  )
})

describe('making a url job', () => {
  test.each([
    ['a method that it does not know', { method: 'TRACE' }],
    ['a method in small letters', { method: 'post' }],
    ['an option that does not exist', { followRedirects: true }],
    ['a body for GET', { method: 'GET', body: 'payload' }],
    ['a body of another kind', { body: { a: 1 } }],
    ['a header with a line break', { headers: { 'x-name': 'a\r\nhost: b' } }],
    ['a size that is none', { maxResponse: -1 }],
    ['an allowed host without a port', { allowHosts: ['localhost'] }],
    ['an allowed host that is a URL', { allowHosts: ['http://localhost:80'] }],
    ['allowed hosts that are no list', { allowHosts: 'localhost:80' }],
  ])('refuses %s', (_case, options) => {
    expect(() => url('https://example.com/', options as never)).toThrow(expect.objectContaining({ code: 'CONFIG_INVALID' }))
  })
})

async function ask(
  server: TestServer,
  path = '/',
  options: UrlOptions = {},
  payload: unknown = null,
  context = contextFor(payload),
) {
  const allowHosts = [`127.0.0.1:${server.port}`]
  return await url(`http://127.0.0.1:${server.port}${path}`, { allowHosts, ...options })(payload, context)
}

async function failureWith(status: number): Promise<Error> {
  await using server = await serve((_request, response) => response.writeHead(status).end('sorry'))
  return await thrownBy(() => ask(server))
}
