import { createPrivateKey } from 'node:crypto'
import { createServer, type IncomingMessage, type RequestListener, type Server } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'

export interface Received {
  readonly method: string
  readonly path: string
  readonly headers: IncomingMessage['headers']
  readonly body: string
}

export interface TestServer extends AsyncDisposable {
  readonly port: number
  /** Connections, with or without a request. */
  readonly connections: () => number
  readonly received: readonly Received[]
}

/** A server on loopback that keeps what it was asked and answers as told. */
export async function serve(answer: RequestListener, options: { readonly tls?: boolean } = {}): Promise<TestServer> {
  const received: Received[] = []
  let connections = 0
  const listener: RequestListener = async (request, response) => {
    const body = await text(request)
    received.push({ method: request.method ?? '', path: request.url ?? '', headers: request.headers, body })
    answer(request, response)
  }
  const server: Server = options.tls ? createTlsServer(selfSigned(), listener) : createServer(listener)
  server.on('connection', () => connections++)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    port: (server.address() as AddressInfo).port,
    connections: () => connections,
    received,
    [Symbol.asyncDispose]: () => {
      server.closeAllConnections()
      return new Promise((resolve) => server.close(() => resolve()))
    },
  }
}

/** A certificate for "localhost" that nobody vouches for. */
function selfSigned(): { readonly key: string; readonly cert: string } {
  const key = createPrivateKey({ key: Buffer.from(privateKey, 'base64'), format: 'der', type: 'pkcs8' })
  const lines = certificate.match(/.{1,64}/g)?.join('\n')
  return {
    key: key.export({ format: 'pem', type: 'pkcs8' }).toString(),
    cert: `-----BEGIN CERTIFICATE-----\n${lines}\n-----END CERTIFICATE-----\n`,
  }
}

const privateKey =
  'MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgSusXX5rauww46vRHjjpYikssYfU2HEVFvMHVZ1u1G/ahRANCAASEHQz4GV7JWQWpLkiw2CQJ' +
  'ZgWQOdR8jNDdvF4dxuxnMN7XI19a9kIngSXcNzsR7MccnhamI+46uuTbmeAqUfkA'
const certificate =
  'MIIBfzCCASWgAwIBAgIUZ/KkB9SojHu7UESPZqDr8/6EQNowCgYIKoZIzj0EAwIwFDESMBAGA1UEAwwJbG9jYWxob3N0MCAXDTI2MTExNTE0MzgxNloYDzIx' +
  'MjYxMDIyMTQzODE2WjAUMRIwEAYDVQQDDAlsb2NhbGhvc3QwWTATBgcqhkjOPQIBBggqhkjOPQMBBwNCAASEHQz4GV7JWQWpLkiw2CQJZgWQOdR8jNDdvF4d' +
  'xuxnMN7XI19a9kIngSXcNzsR7MccnhamI+46uuTbmeAqUfkAo1MwUTAdBgNVHQ4EFgQU5PIO0Y7JI1V4eB5soZ2XxZlr37owHwYDVR0jBBgwFoAU5PIO0Y7J' +
  'I1V4eB5soZ2XxZlr37owDwYDVR0TAQH/BAUwAwEB/zAKBggqhkjOPQQDAgNIADBFAiAJ6ICmynkrLEEVSBuG5TjuLBQnVDaiQpkTYPXxpjm38AIhAPC6Cnf9' +
  'U/LJP3Z2B6YZPAWFN3euntx2jSQAaUT7z8wp'
