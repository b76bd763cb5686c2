import type { IncomingMessage, ServerResponse } from 'node:http'
import { TreadleError } from '../../../core/errors.ts'
import { HttpProblem } from '../../http/wire/http-problem.ts'
import { mostBodyBytes, type PageAnswer, type PageRequest } from './exchange.ts'

/** A request's path, relative to the mount path. */
export interface Place {
  readonly base: string
  readonly path: string
  readonly search: string
}

/** What frameworks add to Node's requests. */
type HostedRequest = IncomingMessage & {
  readonly baseUrl?: string
  readonly originalUrl?: string
  readonly body?: unknown
}

export function pageRequestOf(request: IncomingMessage, response: ServerResponse, place: Place): PageRequest {
  const ending = new AbortController()
  response.once('close', () => ending.abort())
  const isTls = 'encrypted' in request.socket && request.socket.encrypted === true
  return {
    ...place,
    method: request.method ?? 'GET',
    query: new URLSearchParams(place.search),
    isTls,
    header: (name) => {
      const value = request.headers[name]
      return Array.isArray(value) ? value.join(', ') : value
    },
    body: () => bodyOf(request),
    signal: ending.signal,
  }
}

/** Frameworks strip the path at which a handler is mounted, and each reports it in its own way. */
export function placeOf(request: IncomingMessage, basePath: string | undefined, publicPath: string | undefined): Place {
  const { baseUrl, originalUrl, url = '/' } = request as HostedRequest
  const [path = '/', search = ''] = split(url)
  if (basePath !== undefined) {
    const [original = path] = split(originalUrl ?? url)
    return { base: publicPath ?? basePath, path: without(basePath, original), search }
  }
  const stripped = baseUrl ?? (originalUrl?.endsWith(url) === true ? originalUrl.slice(0, -url.length) : '')
  const isBare = stripped !== '' && path === '/' && split(originalUrl ?? '/')[0] === stripped
  return { base: publicPath ?? stripped.replace(/\/$/, ''), path: isBare ? '' : path, search }
}

/** A path that does not start with `basePath` has been stripped already. */
export function without(basePath: string, path: string): string {
  if (path === basePath) return ''
  return basePath !== '' && path.startsWith(`${basePath}/`) ? path.slice(basePath.length) : path
}

function split(url: string): readonly string[] {
  const address = url.replace(/^https?:\/\/[^/?#]*/i, '')
  const mark = address.indexOf('?')
  return mark < 0 ? [address, ''] : [address.slice(0, mark), address.slice(mark + 1)]
}

async function bodyOf(request: IncomingMessage): Promise<unknown> {
  const { body } = request as HostedRequest
  // The host's own body parser has already read it.
  if (body !== undefined && (request.readableEnded || typeof body === 'object')) return emptyIsNothing(body, request)
  if (request.readableEnded && Number(request.headers['content-length'] ?? 0) > 0) {
    const message =
      'A body parser of the host has read the request, and passed on nothing: leave the dashboard out of it. docs/dashboard.md shows how.'
    throw new TreadleError('CONFIG_INVALID', message)
  }
  const chunks: Buffer[] = []
  let length = 0
  for await (const chunk of request) {
    length += (chunk as Buffer).length
    if (length > mostBodyBytes) throw new HttpProblem('body-too-large', `The body may have at most ${mostBodyBytes} bytes`)
    chunks.push(chunk as Buffer)
  }
  return parsedBody(Buffer.concat(chunks).toString())
}

/** Parsers return an empty object when there is no body. */
function emptyIsNothing(body: unknown, { headers }: IncomingMessage): unknown {
  return headers['content-length'] === '0' || headers['content-length'] === undefined ? undefined : body
}

export function parsedBody(text: string): unknown {
  if (text === '') return undefined
  try {
    return JSON.parse(text)
  } catch {
    throw new HttpProblem('malformed-json', 'The body cannot be read as JSON')
  }
}

export async function sendAnswer(response: ServerResponse, { status, headers, body }: PageAnswer): Promise<void> {
  if (response.destroyed) return
  // Override headers that the host has set before, such as its own policy.
  for (const [name, value] of Object.entries(headers)) response.setHeader(name, value)
  response.statusCode = status
  if (body === null || typeof body === 'string' || body instanceof Uint8Array) {
    response.setHeader('content-length', body === null ? 0 : Buffer.byteLength(body))
    response.end(body ?? undefined)
    return
  }
  response.flushHeaders()
  try {
    await sendParts(response, body)
  } catch {
    // The client must see that the answer is incomplete. A host that gets the error could not answer any more.
    response.destroy()
  }
}

async function sendParts(response: ServerResponse, parts: AsyncIterable<string | Uint8Array>): Promise<void> {
  for await (const part of parts) {
    if (response.destroyed) break
    if (!response.write(part)) await drained(response)
    // Hosts with compression buffer what is written until it is flushed.
    if ('flush' in response && typeof response.flush === 'function') response.flush()
  }
  response.end()
}

function drained(response: ServerResponse): Promise<void> {
  return new Promise((resolve) => {
    const end = () => {
      response.off('drain', end)
      response.off('close', end)
      resolve()
    }
    response.once('drain', end)
    response.once('close', end)
  })
}
