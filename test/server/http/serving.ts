import { once } from 'node:events'
import { createServer, request as httpRequest, type IncomingHttpHeaders, type Server } from 'node:http'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { onTestFinished } from 'vitest'
import type { TreadleOptions } from '../../../src/app/treadle.ts'
import type { Problem } from '../../../src/client/api/problem.ts'
import { type TreadleClient, treadleClient } from '../../../src/client/http/http-client.ts'
import type { WholeBackend } from '../../../src/queue/contract/contract.ts'
import { Access } from '../../../src/server/access/access.ts'
import type { ServerToken } from '../../../src/server/access/server-token.ts'
import { type HttpApi, type HttpApiOptions, httpApi } from '../../../src/server/http/api.ts'
import { refuseUnparsed } from '../../../src/server/http/unparsed.ts'
import { JobService } from '../../../src/server/jobs/job-service.ts'
import type { ManualClock } from '../../../src/testing/manual-clock.ts'
import { type World, world, worldOn } from '../../world.ts'

/** An answer as it came. */
export interface Answered {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly text: string
  /** The JSON of the body. */
  readonly body: unknown
}

export interface Serving extends World {
  readonly url: string
  readonly port: number
  readonly api: HttpApi
  readonly server: Server
  readonly service: JobService
  readonly client: TreadleClient
  ask(method: string, path: string, given?: Given): Promise<Answered>
  /** The problem that a request ends with. */
  problem(method: string, path: string, given?: Given): Promise<Problem>
  /** A connection of its own, for requests that no client would make. */
  raw(): Promise<RawClient>
}

export interface Given {
  readonly json?: unknown
  readonly text?: string
  readonly headers?: Readonly<Record<string, string>>
}

export interface ServingOptions extends Partial<Pick<HttpApiOptions, 'limits'>> {
  readonly token?: string
  readonly readToken?: string
  readonly tokens?: readonly ServerToken[]
  readonly jobs?: TreadleOptions
  /** In place of one in memory. */
  readonly on?: { readonly backend: WholeBackend; readonly clock: ManualClock }
}

/** A program on a queue, and its HTTP API on a port of this machine. */
export async function serving({
  jobs: options = {},
  on,
  token,
  readToken,
  tokens = [],
  ...rest
}: ServingOptions = {}): Promise<Serving> {
  const inside = on === undefined ? world(options) : worldOn(on.backend, on.clock, options)
  const service = new JobService(await inside.jobs.served(), 3)
  const { logger } = service.queue.settings
  const given: ServerToken[] = [...tokens]
  if (token !== undefined) given.push({ role: 'admin', secret: token })
  if (readToken !== undefined) given.push({ role: 'read', secret: readToken })
  const access = new Access(given, inside.clock)
  const api = httpApi({ jobs: inside.jobs, service, access, logger, ...rest })
  const server = createServer(api.serverOptions, api.listener)
    .setTimeout(api.idleTimeoutMs)
    .on('clientError', refuseUnparsed)
    .on('connection', api.onConnection)
    .listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const url = `http://127.0.0.1:${port}`
  onTestFinished(async () => {
    await Promise.all([api.close(), service.stop()])
    server.closeAllConnections()
    server.close()
  })
  const ask = (method: string, path: string, given: Given = {}) => answerOf(port, method, `/api/v1${path}`, given)
  return {
    ...inside,
    url,
    port,
    api,
    server,
    service,
    client: treadleClient({ url, clock: inside.clock, ...(token !== undefined && { token }) }),
    ask,
    problem: async (method, path, given) => {
      const { headers, body, status, text } = await ask(method, path, given)
      if (headers['content-type'] !== 'application/problem+json') throw new Error(`no problem, but ${status} ${text}`)
      return body as Problem
    },
    raw: () => RawClient.open(port),
  }
}

/** Not `fetch`, which does not let its user say what it likes. */
function answerOf(port: number, method: string, path: string, { json, text, headers = {} }: Given): Promise<Answered> {
  const body = text ?? (json === undefined ? undefined : JSON.stringify(json))
  const type = json === undefined ? {} : { 'content-type': 'application/json' }
  return new Promise((resolve, reject) => {
    const request = httpRequest({ host: '127.0.0.1', port, method, path, headers: { ...type, ...headers }, agent: false })
    request.on('error', reject)
    request.on('response', (response) => {
      // A stream of events has no end: its head is the answer.
      if (response.headers['content-type']?.startsWith('text/event-stream')) {
        resolve({ status: response.statusCode ?? 0, headers: response.headers, text: '', body: undefined })
        request.destroy()
        return
      }
      let received = ''
      response.setEncoding('utf8')
      response.on('data', (chunk) => {
        received += chunk
      })
      response.on('error', reject)
      response.on('end', () => {
        const isJson = /json/.test(response.headers['content-type'] ?? '') && received !== ''
        const value: unknown = isJson ? JSON.parse(received) : undefined
        resolve({ status: response.statusCode ?? 0, headers: response.headers, text: received, body: value })
      })
    })
    request.end(body)
  })
}

export class RawClient {
  readonly socket: Socket
  #received = ''

  constructor(socket: Socket) {
    this.socket = socket
    socket.setEncoding('utf8')
    socket.on('data', (chunk) => {
      this.#received += chunk
    })
    socket.on('error', () => {})
    onTestFinished(() => void socket.destroy())
  }

  static async open(port: number): Promise<RawClient> {
    const socket = connect(port, '127.0.0.1')
    await once(socket, 'connect')
    return new RawClient(socket)
  }

  get received(): string {
    return this.#received
  }

  send(text: string): void {
    this.socket.write(text)
  }

  /** Without a farewell, as a client that was killed. */
  kill(): void {
    this.socket.resetAndDestroy()
  }

  async closed(): Promise<void> {
    if (!this.socket.closed) await once(this.socket, 'close')
  }
}
