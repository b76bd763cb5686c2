import type { IncomingMessage, ServerOptions, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { Treadle } from '../../app/treadle.ts'
import { prefix } from '../../client/api/operation.ts'
import { messageOf } from '../../core/errors.ts'
import type { Logger } from '../../core/logger.ts'
import { expositionType } from '../../telemetry/metrics/exposition.ts'
import type { Access } from '../access/access.ts'
import { everything, type Grant } from '../access/grant.ts'
import type { JobService } from '../jobs/job-service.ts'
import { defaultStrangerLimits, Strangers } from '../strangers.ts'
import { UnreadReplies } from '../unread-replies.ts'
import { grantOf } from './access.ts'
import { watchReply } from './doubtful-reply.ts'
import { handlersOf } from './handlers.ts'
import { type HttpLimits, httpLimits, nodeServerOptions } from './limits.ts'
import { refuseOutside, refuseRole } from './permission.ts'
import { type AnyReply, type Handlers, type Route, routesOf } from './route.ts'
import { type Found, isOfApi, Routing } from './routing.ts'
import { Waiting } from './waiting.ts'
import { askedOf } from './wire/asking.ts'
import { readBody } from './wire/body.ts'
import { HttpProblem, problemOf } from './wire/http-problem.ts'
import { PlainText, sendProblem, sendReply } from './wire/replying.ts'

export interface HttpApiOptions {
  readonly jobs: Treadle
  readonly service: JobService
  /** If it has no tokens, only programs on this machine are answered. */
  readonly access: Access
  readonly limits?: Partial<HttpLimits>
  readonly logger: Logger
}

export interface HttpApi {
  /** Options for Node's server, so that slow and endless requests are ended. */
  readonly serverOptions: ServerOptions
  readonly maxConnections: number
  /** Maximum number of requests that a client may send ahead on one connection. */
  readonly maxAhead: number
  /** A connection that is idle for longer than this is closed. */
  readonly idleTimeoutMs: number
  /** Number of requests that are waiting for work. */
  readonly waiting: number
  /** Whether the API answers a request, and nothing else that the server serves. */
  readonly isFor: (request: IncomingMessage) => boolean
  /** Marks a client as authenticated by other means than a token. */
  readonly recognize: (socket: Socket) => void
  readonly listener: (request: IncomingMessage, response: ServerResponse) => void
  /** Called for each new connection. */
  readonly onConnection: (socket: Socket) => void
  /** Ends all waiting, and resolves when every request that was begun is answered. */
  close(): Promise<void>
}

export function httpApi(options: HttpApiOptions): HttpApi {
  const { jobs, service } = options
  const limits = httpLimits(options.limits)
  const waiting = new Waiting(service, limits)
  const handling = new Handling(options, handlersOf({ jobs, service, limits, waiting }), limits)
  return {
    serverOptions: nodeServerOptions(limits),
    maxConnections: limits.maxConnections,
    maxAhead: limits.maxAhead,
    idleTimeoutMs: limits.longestWaitMs + limits.stalledMs,
    get waiting() {
      return waiting.count
    },
    isFor: (request) => lacksHost(request) || isOfServer(splitAddress(request.url ?? '')[0] as string),
    listener: (request, response) => handling.answer(request, response),
    recognize: (socket) => handling.recognize(socket),
    onConnection: (socket) => handling.welcome(socket),
    close: () => handling.close(),
  }
}

class Handling {
  readonly #jobs: Treadle
  readonly #routing: Routing
  readonly #access: Access
  readonly #service: JobService
  readonly #strangers: Strangers | null
  readonly #unread: UnreadReplies
  readonly #limits: HttpLimits
  readonly #logger: Logger
  readonly #open = new Set<Promise<void>>()
  /** Aborts the requests that wait. */
  readonly #endings = new Set<AbortController>()
  #isClosing = false

  constructor(options: HttpApiOptions, handlers: Handlers, limits: HttpLimits) {
    this.#jobs = options.jobs
    this.#jobs.metrics.start()
    this.#routing = new Routing(routesOf(handlers))
    this.#access = options.access
    this.#service = options.service
    this.#limits = limits
    this.#strangers = options.access.isOpen ? null : new Strangers(defaultStrangerLimits)
    this.#unread = new UnreadReplies(limits.maxUnreadBytes)
    this.#logger = options.logger
  }

  welcome(socket: Socket): void {
    this.#strangers?.add(socket)
  }

  recognize(socket: Socket): void {
    this.#strangers?.remove(socket)
  }

  answer(request: IncomingMessage, response: ServerResponse): void {
    this.#track(this.#answer(request, response))
  }

  async close(): Promise<void> {
    this.#isClosing = true
    for (const ending of this.#endings) ending.abort()
    while (this.#open.size > 0) await Promise.allSettled(this.#open)
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const isHead = request.method === 'HEAD'
    // A broken connection is handled by its 'close' event.
    response.on('error', () => {})
    try {
      const reply = await this.#reply(request, () => this.#signalOf(response))
      const { socket } = response
      const isDelivered = await sendReply(response, reply, isHead, this.#unread)
      if (!isDelivered) await this.#takeBack(reply, request)
      else if (reply.undelivered !== undefined && socket !== null)
        watchReply(socket, this.#service.queue.settings.clock, () => this.#track(this.#takeBack(reply, request)))
    } catch (thrown) {
      if (response.closed) return
      await sendProblem(response, this.#problemOf(thrown, request), isHead, this.#unread)
    }
  }

  /** `close` waits for this work to end. */
  #track(work: Promise<void>): void {
    const tracked = work.finally(() => this.#open.delete(tracked))
    this.#open.add(tracked)
  }

  async #takeBack({ undelivered }: AnyReply, request: IncomingMessage): Promise<void> {
    await undelivered?.().catch((thrown: unknown) => this.#complain(request, thrown))
  }

  async #reply(request: IncomingMessage, signal: () => AbortSignal): Promise<AnyReply> {
    if (lacksHost(request)) throw new HttpProblem('invalid-request', 'The header Host is missing, which HTTP/1.1 requires')
    const [path = '', search = ''] = splitAddress(request.url ?? '/')
    if (path === metricsPath) return this.#metrics(request)
    const found = this.#routing.find(path)
    const route = routeFor(found, request.method ?? 'GET')
    const grant = route?.operation.open === true ? everything : await this.#grantOf(request)
    if (found === null)
      throw new HttpProblem('not-found', `There is nothing at this address. ${prefix}/openapi.json lists all addresses`)
    if (request.method === 'OPTIONS') return { status: 204, body: undefined, headers: { allow: allowedAt(found) } }
    if (route === undefined) {
      const detail = `Only ${allowedAt(found)} are allowed here`
      throw new HttpProblem('method-not-allowed', detail, { headers: { allow: allowedAt(found) } })
    }
    refuseRole(route.operation, grant)
    if (this.#isClosing) throw new HttpProblem('unavailable', 'The server is being stopped')
    const body = route.operation.body === undefined ? null : await readBody(request, this.#limits)
    const headers = headersOf(request)
    const query = new URLSearchParams(search)
    const asked = askedOf(route.operation, { params: found.params, query, headers, body, signal, grant })
    await refuseOutside(route, asked, grant, this.#service)
    return route.handle(asked)
  }

  /** The metrics of the jobs that the token may see. */
  async #metrics(request: IncomingMessage): Promise<AnyReply> {
    const grant = await this.#grantOf(request)
    const { method = 'GET' } = request
    if (method !== 'GET' && method !== 'HEAD') {
      const headers = { allow: 'GET, HEAD' }
      throw new HttpProblem('method-not-allowed', 'Metrics can only be read', { headers })
    }
    const text = await this.#jobs.metrics.text(grant.isLimited ? { sees: (job) => grant.sees(job) } : {})
    return { status: 200, body: new PlainText(text, expositionType) }
  }

  async #grantOf(request: IncomingMessage): Promise<Grant> {
    const grant = await grantOf(request, this.#access)
    this.#strangers?.remove(request.socket)
    return grant
  }

  /**
   * Created only for requests that wait, because it costs more than most requests. `AbortSignal.any` would leak memory for each
   * request.
   */
  #signalOf(response: ServerResponse): AbortSignal {
    const ending = new AbortController()
    if (response.closed || this.#isClosing) {
      ending.abort()
      return ending.signal
    }
    this.#endings.add(ending)
    response.once('close', () => {
      this.#endings.delete(ending)
      ending.abort()
    })
    return ending.signal
  }

  #problemOf(thrown: unknown, request: IncomingMessage): HttpProblem {
    const known = problemOf(thrown)
    if (known !== null) return known
    this.#complain(request, thrown)
    return new HttpProblem('internal-error', 'The request could not be answered; the log of the server says why')
  }

  #complain({ method, url = '' }: IncomingMessage, thrown: unknown): void {
    this.#logger.error(`${method} ${splitAddress(url)[0]} failed: ${messageOf(thrown)}`)
  }
}

/** The path that scrapers use by default. */
const metricsPath = '/metrics'

function lacksHost({ headers, httpVersion }: IncomingMessage): boolean {
  return headers.host === undefined && httpVersion === '1.1'
}

function isOfServer(path: string): boolean {
  return path === metricsPath || isOfApi(path)
}

function routeFor(found: Found | null, method: string): Route | undefined {
  return found?.byMethod.get(method === 'HEAD' ? 'GET' : method)
}

function allowedAt({ byMethod }: Found): string {
  const methods = [...byMethod.keys()]
  return [...methods, ...(methods.includes('GET') ? ['HEAD'] : []), 'OPTIONS'].join(', ')
}

/** The path and the query. An absolute URL is taken to be one of this server. */
function splitAddress(url: string): readonly string[] {
  const address = url.replace(/^https?:\/\/[^/?#]*/i, '')
  const mark = address.indexOf('?')
  return mark < 0 ? [address, ''] : [address.slice(0, mark), address.slice(mark + 1)]
}

function headersOf({ headers }: IncomingMessage): Readonly<Record<string, string>> {
  const entries = Object.entries(headers).map(([name, value]) => [name, String(value)])
  return Object.fromEntries(entries) as Record<string, string>
}
