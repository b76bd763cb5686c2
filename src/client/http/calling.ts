import { messageOf, TreadleError } from '../../core/errors.ts'
import { refuseUnknownOptions, refuseWrongSignal } from '../../core/options.ts'
import { maskedUrl } from '../../core/text/masking.ts'
import { type Clock, systemClock } from '../../core/time/clock.ts'
import { type Duration, parseDuration } from '../../core/time/duration.ts'
import { type BodyOf, type Operation, type ParametersOf, prefix, type QueryOf, type ResultOf } from '../api/operation.ts'
import { type OperationName, type Operations, operations } from '../api/operations.ts'
import type { Problem } from '../api/problem.ts'
import { ServerProblem } from './server-problem.ts'

/** Options of `TreadleClient`: its address, token, timeout and fetch. */
export interface ClientOptions {
  /** The address of the server, such as `http://127.0.0.1:8889`. */
  readonly url: string
  readonly token?: string
  /** How long to wait for a response; 30 s by default. A request that waits for work may take longer by that wait. */
  readonly timeout?: Duration
  readonly fetch?: typeof fetch
  readonly clock?: Clock
}

/** Options of every call. */
export interface CallOptions {
  readonly signal?: AbortSignal
}

export interface CallInput<Asked extends Operation> extends CallOptions {
  readonly params?: ParametersOf<Asked>
  readonly query?: QueryOf<Asked>
  readonly body?: BodyOf<Asked>
  readonly headers?: Readonly<Record<string, string>>
  /** Added to the timeout of this call. */
  readonly patienceMs?: number
}

const defaultTimeout = '30s'

/** Calls the operations of a server. */
export class Calls {
  readonly clock: Clock
  readonly #base: string
  readonly #headers: Readonly<Record<string, string>>
  readonly #timeoutMs: number
  readonly #fetch: typeof fetch

  constructor(options: ClientOptions) {
    refuseUnknownOptions(options, ['url', 'token', 'timeout', 'fetch', 'clock'], 'The client of a job server')
    const { url, token, timeout = defaultTimeout, clock = systemClock } = options
    if (!URL.canParse(url) || !/^https?:/.test(url)) {
      throw new TreadleError(
        'CONFIG_INVALID',
        `The client of a job server: url must be one of http or https, got ${maskedUrl(String(url))}`,
      )
    }
    this.clock = clock
    this.#base = `${url.replace(/\/+$/, '')}${prefix}`
    this.#headers = token === undefined ? {} : { authorization: `Bearer ${token}` }
    this.#timeoutMs = parseDuration(timeout, 'timeout')
    this.#fetch = options.fetch ?? fetch
  }

  async call<Name extends OperationName>(
    name: Name,
    input: CallInput<Operations[Name]> = {},
  ): Promise<ResultOf<Operations[Name]>> {
    const { method, path } = operations[name]
    const { params = {}, query = {}, body, headers, signal, patienceMs = 0 } = input as CallInput<Operation>
    refuseWrongSignal(signal, name)
    const address = `${this.#base}${filled(path, params)}${queryText(query)}`
    const text = body === undefined ? undefined : JSON.stringify(body)
    const init = {
      method,
      headers: { ...this.#headers, ...headers, ...(text !== undefined && { 'content-type': 'application/json' }) },
      ...(text !== undefined && { body: text }),
    }
    return (await this.#ask(address, init, signal, this.#timeoutMs + patienceMs)) as ResultOf<Operations[Name]>
  }

  /** Returns the response body as a stream once the headers have arrived. Fails if they do not arrive within `timeout`. */
  async open(
    name: OperationName,
    {
      query = {},
      headers,
      signal,
    }: { readonly query?: object; readonly headers?: Readonly<Record<string, string>>; readonly signal: AbortSignal },
  ): Promise<ReadableStream<Uint8Array>> {
    const { method, path } = operations[name]
    const late = new AbortController()
    const timer = this.clock.timer(this.#timeoutMs, () => late.abort(), { unref: true })
    const ending = AbortSignal.any([signal, late.signal])
    try {
      const response = await this.#fetch(`${this.#base}${path}${queryText(query)}`, {
        method,
        headers: { ...this.#headers, ...headers },
        signal: ending,
      })
      const type = response.headers.get('content-type') ?? ''
      if (response.status === 200 && type.startsWith('text/event-stream') && response.body !== null) return response.body
      answerOf(response.status, type, await response.text())
      throw new TreadleError(
        'SERVER_UNREACHABLE',
        `The server that answered is not a job server: ${type || 'without a content type'}`,
      )
    } catch (thrown) {
      if (thrown instanceof TreadleError) throw thrown
      signal.throwIfAborted()
      const why = late.signal.aborted ? `no answer in ${this.#timeoutMs} ms` : messageOf((thrown as Error).cause ?? thrown)
      throw new TreadleError('SERVER_UNREACHABLE', `The job server at ${this.#base} cannot be reached: ${why}`, { cause: thrown })
    } finally {
      timer.cancel()
    }
  }

  /** Resolves once the whole response has arrived. */
  async #ask(address: string, init: RequestInit, signal: AbortSignal | undefined, timeoutMs: number): Promise<unknown> {
    signal?.throwIfAborted()
    // Not `AbortSignal.any`, which leaks memory in a signal that outlives the call.
    const ending = new AbortController()
    const end = () => ending.abort(signal?.reason)
    signal?.addEventListener('abort', end)
    let isLate = false
    const late = () => {
      isLate = true
      ending.abort()
    }
    const timer = this.clock.timer(timeoutMs, late, { unref: true })
    try {
      const response = await this.#fetch(address, { ...init, signal: ending.signal })
      return answerOf(response.status, response.headers.get('content-type') ?? '', await response.text())
    } catch (thrown) {
      if (thrown instanceof TreadleError) throw thrown
      signal?.throwIfAborted()
      const why = isLate ? `no answer in ${timeoutMs} ms` : messageOf((thrown as Error).cause ?? thrown)
      throw new TreadleError('SERVER_UNREACHABLE', `The job server at ${this.#base} cannot be reached: ${why}`, {
        cause: thrown,
      })
    } finally {
      signal?.removeEventListener('abort', end)
      timer.cancel()
    }
  }
}

function answerOf(status: number, type: string, text: string): unknown {
  if (status === 204) return undefined
  const isProblem = type.startsWith('application/problem+json')
  const value = isProblem || type.startsWith('application/json') ? parsed(text) : undefined
  if (isProblem && typeof value === 'object') throw new ServerProblem(value as Problem)
  if (status >= 200 && status < 300 && value !== undefined) return value
  throw new TreadleError(
    'SERVER_UNREACHABLE',
    `The server that answered is not a job server: status ${status}, ${type || 'without a content type'}`,
  )
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

function filled(path: string, params: Readonly<Record<string, string>>): string {
  return path.replaceAll(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(params[name] ?? ''))
}

function queryText(query: object): string {
  const parameters = new URLSearchParams()
  for (const [name, value] of Object.entries(query)) if (value !== undefined) parameters.set(name, String(value))
  return parameters.size === 0 ? '' : `?${parameters}`
}
