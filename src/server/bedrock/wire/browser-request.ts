import { isLoopbackHost } from '../../loopback.ts'
import type { BedrockRequest } from './request.ts'

const httpLine = /^\S+ .*\bHTTP\/\d/i
const healthCheck = /^GET \/status\b/
/** What no client of the protocol is called by, and every page can have its browser ask with. */
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
/** Browsers write these headers themselves, and no page can leave them out. */
const browserHeaders = /^(?:origin|referer|sec-.*|access-control-request-.*|upgrade-insecure-requests)$/

/**
 * Whether a page has sent a browser here. Without a token it must not be answered: whoever opens a page of somebody else's would
 * make jobs for him. `isOpen` is where no token keeps such pages out: then a name that leads here (DNS rebinding) tells, too.
 */
export function isFromBrowser({ method, headers }: BedrockRequest, isOpen: boolean): boolean {
  for (const name of headers.keys()) if (browserHeaders.test(name)) return true
  if (!isOpen || !httpLine.test(method) || healthCheck.test(method)) return false
  const host = headers.get('host')
  return host !== undefined && !isLoopbackHost(host)
}

/** A request of HTTP itself, behind which nothing is read: what follows may be a body that looks like requests of the protocol. */
export function isPlainHttp({ method, verb }: BedrockRequest): boolean {
  return httpMethods.has(verb) && httpLine.test(method) && !healthCheck.test(method)
}
