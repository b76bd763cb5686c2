import { isIP } from 'node:net'
import { messageOf, TreadleError } from '../core/errors.ts'
import { refuseUnknownOptions } from '../core/options.ts'
import { shown } from '../core/text/shown.ts'
import { addressProblem, hostAndPort, refused } from './public-agent.ts'

/** A URL, or a function that creates it from the payload. */
export type UrlTarget<Payload> = string | URL | ((payload: Payload) => string | URL)

const methods = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD', 'OPTIONS'] as const

export type UrlMethod = (typeof methods)[number]

/** Options of `url`. */
export interface UrlOptions<Payload = unknown> {
  /** Default: POST. */
  readonly method?: UrlMethod
  readonly headers?: Readonly<Record<string, string>>
  /**
   * `'payload'` sends the payload as JSON, which is the default for POST, PUT and PATCH. The return value of a function is sent
   * unchanged.
   */
  readonly body?: 'payload' | ((payload: Payload) => string | Uint8Array)
  /** Maximum number of bytes of the response to keep; the first ones are kept. Default: 64 KiB. */
  readonly maxResponse?: number
  /** Hosts that may be reached even though their addresses are not public, each with its port: `'localhost:3000'`. */
  readonly allowHosts?: readonly string[]
}

export interface UrlSettings<Payload> {
  readonly method: UrlMethod
  readonly headers: Record<string, string>
  bodyOf(payload: Payload): string | Uint8Array | null
  readonly maxResponse: number
  readonly allowed: ReadonlySet<string>
}

/** Complete and validated options. */
export function urlSettings<Payload>(options: UrlOptions<Payload>): UrlSettings<Payload> {
  refuseUnknownOptions(options, ['method', 'headers', 'body', 'maxResponse', 'allowHosts'], 'url')
  const { method = 'POST', body = defaultBody(method), maxResponse = 65_536, allowHosts = [] } = options
  const hosts = Array.isArray(allowHosts) ? allowHosts.map(allowedHost) : [allowedHost(undefined)]
  const problems = [
    ...(methods.includes(method) ? [] : [`method must be one of ${methods.join(', ')}, got ${shown(method)}`]),
    ...(body === null || body === 'payload' || typeof body === 'function' ? [] : ["body must be 'payload' or a function"]),
    ...(body !== null && ['GET', 'HEAD'].includes(method) ? [`${method} sends no body`] : []),
    ...(Number.isSafeInteger(maxResponse) && maxResponse >= 1
      ? []
      : [`maxResponse must be at least 1, got ${shown(maxResponse)}`]),
    ...hosts.filter((host) => 'problem' in host).map(({ problem }) => problem),
  ]
  if (problems.length > 0) throw new TreadleError('CONFIG_INVALID', `url: ${problems.join('; ')}`)
  const allowed = new Set(hosts.flatMap((host) => ('name' in host ? [host.name] : [])))
  return { method, headers: requestHeaders(options.headers, body), bodyOf: bodyMaker(body), maxResponse, allowed }
}

/** A fixed target is checked immediately, one that depends on the payload on each run. */
export function addressMaker<Payload>(target: UrlTarget<Payload>, allowed: ReadonlySet<string>): (payload: Payload) => URL {
  if (typeof target === 'function') return (payload) => checkedUrl(target(payload), allowed)
  const fixed = checkedUrl(target, allowed)
  return () => fixed
}

/** Checks that the URL may be requested. Host names are resolved and checked only when connecting. */
function checkedUrl(target: string | URL, allowed: ReadonlySet<string>): URL {
  const address = URL.canParse(String(target)) ? new URL(target) : undefined
  if (address === undefined) throw new TreadleError('URL_REFUSED', 'url needs an absolute http or https URL')
  if (address.protocol !== 'http:' && address.protocol !== 'https:') {
    throw new TreadleError('URL_REFUSED', `url sends only to http and https, not to ${address.protocol}`)
  }
  if (address.username !== '' || address.password !== '') {
    throw new TreadleError('URL_REFUSED', 'url takes no user and password in the URL: set the header "authorization"')
  }
  const literal = address.hostname.replace(/^\[|\]$/g, '')
  const problem = isIP(literal) === 0 || allowed.has(hostAndPort(address)) ? undefined : addressProblem(literal)
  if (problem !== undefined) throw refused(address.host, problem)
  return address
}

function defaultBody(method: UrlMethod): 'payload' | null {
  return ['POST', 'PUT', 'PATCH'].includes(method) ? 'payload' : null
}

/** Normalized like a URL, so that `LOCALHOST:3000` and `[0::1]:3000` match. */
function allowedHost(text: unknown): { readonly name: string } | { readonly problem: string } {
  const [, host, port] = /^([^/?#@\\\s]+):(\d{1,5})$/.exec(String(text)) ?? []
  if (host !== undefined && port !== undefined && URL.canParse(`http://${host}:${port}/`)) {
    return { name: `${new URL(`http://${host}/`).hostname}:${Number(port)}` }
  }
  return { problem: `allowHosts takes texts such as 'localhost:3000', got ${shown(text)}` }
}

function requestHeaders(given: UrlOptions['headers'], body: unknown): Record<string, string> {
  try {
    const headers = new Headers(given)
    if (body === 'payload' && !headers.has('content-type')) headers.set('content-type', 'application/json')
    if (!headers.has('user-agent')) headers.set('user-agent', 'treadle')
    return Object.fromEntries(headers)
  } catch (thrown) {
    throw new TreadleError('CONFIG_INVALID', `url: headers must be names with texts: ${messageOf(thrown)}`, { cause: thrown })
  }
}

function bodyMaker<Payload>(body: UrlOptions<Payload>['body'] | null): UrlSettings<Payload>['bodyOf'] {
  if (body === undefined || body === null) return () => null
  if (body === 'payload') return (payload) => JSON.stringify(payload ?? null)
  return body
}
