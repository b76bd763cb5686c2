import { createHash, timingSafeEqual } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import { HttpProblem } from './http-problem.ts'

export interface AccessRules {
  /** Who has it may do everything. Without one, only programs of this machine may. */
  readonly token: string | null
  /** Who has it may look. */
  readonly readToken: string | null
}

/** Throws where this request is none of those that are answered. */
export function refuseStranger(request: IncomingMessage, { token, readToken }: AccessRules): void {
  if (token === null && readToken === null) refuseOthersThanLocal(request)
  else refuseWithoutToken(request, { token, readToken })
}

function refuseWithoutToken(request: IncomingMessage, { token, readToken }: AccessRules): void {
  const given = bearerOf(request)
  if (given === null) throw unauthorized('Send the header Authorization: Bearer TOKEN')
  if (token !== null && isSame(given, token)) return
  if (readToken === null || !isSame(given, readToken)) throw unauthorized('The token is not the one of this server')
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

/** In the same time, however much of it is right. */
function isSame(given: string, token: string): boolean {
  return timingSafeEqual(digestOf(given), digestOf(token))
}

function digestOf(text: string): Buffer {
  return createHash('sha256').update(text).digest()
}

function isLoopbackAddress(address: string): boolean {
  return address === '::1' || /^(?:::ffff:)?127\.\d+\.\d+\.\d+$/.test(address)
}

function hostnameOf(url: string): string {
  return URL.canParse(url) ? new URL(url).hostname : ''
}

function hostOf(url: string): string {
  return URL.canParse(url) ? new URL(url).host : ''
}

function isLoopbackName(name: string): boolean {
  return name === 'localhost' || name.endsWith('.localhost') || name === '[::1]' || /^127\.\d+\.\d+\.\d+$/.test(name)
}
