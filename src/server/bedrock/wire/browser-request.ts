import { isLoopbackHost } from '../../loopback.ts'
import type { BedrockRequest } from './request.ts'

const httpLine = /^\S+ .*\bHTTP\/\d/i
const healthCheck = /^GET \/status\b/
/** Methods that no command of the protocol uses, and that any web page can make a browser send. */
const httpMethods: ReadonlySet<string> = new Set([
  'get',
  'head',
  'post',
  'put',
  'patch',
  'delete',
  'options',
  'trace',
  'connect',
  'pri',
])
/** Browsers set these headers themselves, and no page can omit them. */
const browserHeaders = /^(?:origin|referer|sec-.*|access-control-request-.*|upgrade-insecure-requests)$/

/**
 * Whether a browser sent this request on behalf of a web page. Such requests must not be answered without a token: otherwise any
 * page that a user opens could create jobs in their name. With `isOpen` no token keeps such pages out, so a `Host` that is not
 * this machine (DNS rebinding) counts as well.
 */
export function isFromBrowser({ method, headers }: BedrockRequest, isOpen: boolean): boolean {
  for (const name of headers.keys()) if (browserHeaders.test(name)) return true
  if (!isOpen || !httpLine.test(method) || healthCheck.test(method)) return false
  const host = headers.get('host')
  return host !== undefined && !isLoopbackHost(host)
}

/**
 * Whether this is plain HTTP. Nothing is read after it, because what follows may be a body that looks like requests of the
 * protocol.
 */
export function isPlainHttp({ method, verb }: BedrockRequest): boolean {
  return httpMethods.has(verb) && httpLine.test(method) && !healthCheck.test(method)
}
