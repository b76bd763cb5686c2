import { STATUS_CODES } from 'node:http'
import type { Duplex } from 'node:stream'
import { HttpProblem } from './wire/http-problem.ts'
import { always } from './wire/replying.ts'

/** The part of a connection's current reply that Node keeps at the socket. */
interface Replying {
  readonly _httpMessage?: { readonly headersSent: boolean } | null
}

/**
 * Answers a request that Node could not read, which never reaches the API, and closes its connection. Nothing is sent if the
 * client is gone, or after the beginning of another reply.
 */
export function refuseUnparsed(error: NodeJS.ErrnoException, socket: Duplex & Replying): void {
  if (error.code === 'ECONNRESET' || !socket.writable || socket._httpMessage?.headersSent === true) {
    socket.destroy()
    return
  }
  const problem = problemOf(error)
  const text = JSON.stringify(problem)
  const headers = {
    ...always,
    'content-type': 'application/problem+json',
    'content-length': String(Buffer.byteLength(text)),
    connection: 'close',
  }
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`)
  const head = `HTTP/1.1 ${problem.status} ${STATUS_CODES[problem.status] ?? ''}\r\n${lines.join('')}\r\n`
  socket.end(head + text, () => socket.destroy())
}

function problemOf({ code, message }: NodeJS.ErrnoException): HttpProblem {
  switch (code) {
    case 'HPE_HEADER_OVERFLOW':
      return new HttpProblem('headers-too-large', 'The headers are larger than this server reads: send fewer or shorter ones')
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return new HttpProblem('request-timeout', 'The request did not arrive in time: send it again, all at once')
    default:
      return new HttpProblem(
        'invalid-request',
        `This is not an HTTP request that can be read: ${message.replace(/^Parse Error: /, '')}`,
      )
  }
}
