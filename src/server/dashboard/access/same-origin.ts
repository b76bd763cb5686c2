import { HttpProblem } from '../../http/wire/http-problem.ts'
import type { PageRequest } from '../exchange/exchange.ts'

/**
 * Throws if a page of another origin could have sent this request. Modern browsers say so in `Sec-Fetch-Site`; old
 * ones, and those on plain HTTP, at least send `Origin`. The custom header forces a CORS preflight, which is never
 * allowed.
 */
export function refuseForeign(request: PageRequest): void {
  const site = request.header('sec-fetch-site')
  const origin = request.header('origin')
  const isReading = request.method === 'GET' || request.method === 'HEAD'
  if (site !== undefined && site !== 'same-origin' && !(isReading && site === 'none')) throw foreign()
  if (origin !== undefined && !isOwn(origin, request)) throw foreign()
  if (isReading) return
  if (site === undefined && origin === undefined) throw foreign()
  if (request.header('x-treadle') !== '1') throw foreign()
  if (!(request.header('content-type') ?? '').startsWith('application/json')) {
    throw new HttpProblem('not-json', 'Send the body as Content-Type: application/json')
  }
}

/** Behind a proxy, the browser's `Host` may be in `X-Forwarded-Host`. */
function isOwn(origin: string, request: PageRequest): boolean {
  if (!URL.canParse(origin)) return false
  const { host } = new URL(origin)
  return host === request.header('host') || host === request.header('x-forwarded-host')
}

function foreign(): HttpProblem {
  return new HttpProblem('forbidden', 'The dashboard answers only to its own pages')
}
