import type { IncomingMessage } from 'node:http'
import { type Access, bearerOf } from '../access/access.ts'
import { everything, type Grant } from '../access/grant.ts'
import { isLoopbackAddress, isLoopbackHost } from '../loopback.ts'
import { HttpProblem } from './wire/http-problem.ts'

/** What the client of this request may do. Throws if the request is not to be answered. */
export async function grantOf(request: IncomingMessage, access: Access): Promise<Grant> {
  if (access.isOpen) {
    refuseOthersThanLocal(request)
    return everything
  }
  const secret = bearerOf(request.headers.authorization)
  if (secret === undefined) throw unauthorized('Send the header Authorization: Bearer TOKEN')
  const address = request.socket.remoteAddress ?? ''
  if (!(await access.wait(address))) {
    const headers = { 'retry-after': '5' }
    throw new HttpProblem('too-many-failures', 'Too many wrong tokens came from this address', { headers })
  }
  const grant = access.grantOf(secret, address)
  if (grant === null) throw unauthorized('The token is not one of this server')
  return grant
}

const toOpen = 'To let others in, start it with a token: set TREADLE_TOKEN, or use treadle serve --token'

/** Content types that a web page may send to any address without a preflight request. */
const pageTypes = /^\s*(?:text\/plain|multipart\/form-data|application\/x-www-form-urlencoded)\b/i

/**
 * Without a token, a client only needs to know the address of the server, and any web page can make a browser on this machine
 * send requests to it: through a domain name of its own that resolves to this machine, or from its own origin.
 */
export function refuseOthersThanLocal({ socket, headers, method }: IncomingMessage): void {
  if (!isLoopbackAddress(socket.remoteAddress ?? '')) throw forbidden(`answers only programs of its own machine. ${toOpen}`)
  const { host = '', origin } = headers
  if (!isLoopbackHost(host)) throw forbidden(`answers only under the names of its own machine, such as localhost. ${toOpen}`)
  const site = headers['sec-fetch-site']
  const isForeign = site !== undefined && site !== 'same-origin' && site !== 'none'
  if (isForeign || (origin !== undefined && hostOf(origin) !== host))
    throw forbidden('does not answer to pages of other addresses')
  if (method !== 'GET' && method !== 'HEAD' && pageTypes.test(headers['content-type'] ?? ''))
    throw new HttpProblem('not-json', 'Without a token the server refuses changes that a form on a web page could have sent')
}

function forbidden(why: string): HttpProblem {
  return new HttpProblem('forbidden', `Without a token the server ${why}`)
}

function unauthorized(detail: string): HttpProblem {
  return new HttpProblem('unauthorized', detail, { headers: { 'www-authenticate': 'Bearer realm="treadle"' } })
}

function hostOf(url: string): string {
  return URL.canParse(url) ? new URL(url).host : ''
}
