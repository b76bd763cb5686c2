import type { IncomingMessage } from 'node:http'
import { isLoopbackAddress, isLoopbackName } from '../loopback.ts'
import { secretMatcher } from '../secret.ts'
import { HttpProblem } from './http-problem.ts'

/** Throws where this request is none of those that are answered. */
export type RefuseStranger = (request: IncomingMessage) => void

/** Who has the token may do everything, who has the other one may look. Without either, only programs of this machine may. */
export function refusingStrangers(token: string | null, readToken: string | null): RefuseStranger {
  if (token === null && readToken === null) return refuseOthersThanLocal
  const isToken = token === null ? () => false : secretMatcher(token)
  const isReadToken = readToken === null ? () => false : secretMatcher(readToken)
  return (request) => {
    const given = bearerOf(request)
    if (given === null) throw unauthorized('Send the header Authorization: Bearer TOKEN')
    if (isToken(given)) return
    if (!isReadToken(given)) throw unauthorized('The token is not the one of this server')
    refuseChanges(request)
  }
}

function refuseChanges(request: IncomingMessage): void {
  if (request.method !== 'GET' && request.method !== 'HEAD' && request.method !== 'OPTIONS') {
    throw new HttpProblem('forbidden', 'This token allows to look, and to change nothing')
  }
}

/**
 * Without a token there is nothing to know but where the server is, and a browser of this machine can be sent there by any page:
 * under a name of the page's own that leads here, or from its own address.
 */
function refuseOthersThanLocal(request: IncomingMessage): void {
  if (!isLoopbackAddress(request.socket.remoteAddress ?? '')) {
    throw new HttpProblem('forbidden', 'Without a token the server answers only programs of its own machine: give it one')
  }
  const host = request.headers.host ?? ''
  if (!isLoopbackName(hostnameOf(`http://${host}`))) {
    throw new HttpProblem(
      'forbidden',
      'Without a token the server answers only under the names of its own machine, such as localhost',
    )
  }
  const { origin } = request.headers
  if (origin !== undefined && hostOf(origin) !== host) {
    throw new HttpProblem('forbidden', 'Without a token the server does not answer to pages of other addresses')
  }
}

function unauthorized(detail: string): HttpProblem {
  return new HttpProblem('unauthorized', detail, { headers: { 'www-authenticate': 'Bearer realm="treadle"' } })
}

function bearerOf({ headers }: IncomingMessage): string | null {
  return /^Bearer +(\S+) *$/i.exec(headers.authorization ?? '')?.[1] ?? null
}

function hostnameOf(url: string): string {
  return URL.canParse(url) ? new URL(url).hostname : ''
}

function hostOf(url: string): string {
  return URL.canParse(url) ? new URL(url).host : ''
}
