import type { ServerResponse } from 'node:http'
import type { UnreadReplies } from '../../unread-replies.ts'
import type { AnyReply } from '../route.ts'
import type { HttpProblem } from './http-problem.ts'
import { writeJson } from './verbatim.ts'

/** Headers of every reply: replies are not to be cached or shared. */
export const always = {
  'cache-control': 'no-store',
  'x-content-type-options': 'nosniff',
}

/** A body that is not JSON. */
export class PlainText {
  readonly text: string
  readonly type: string

  constructor(text: string, type: string) {
    this.text = text
    this.type = type
  }
}

/** Resolves to whether the whole reply was written to the connection. */
export async function sendReply(
  response: ServerResponse,
  { status, body, headers, stream }: AnyReply,
  isHead: boolean,
  unread: UnreadReplies,
): Promise<boolean> {
  if (stream !== undefined) return sendStream(response, { status, headers: headers ?? {}, stream }, isHead)
  const isPlain = body instanceof PlainText
  const text = body === undefined ? null : isPlain ? body.text : writeJson(body)
  return send(
    response,
    status,
    { ...headers, ...(text !== null && { 'content-type': isPlain ? body.type : 'application/json' }) },
    text,
    isHead,
    unread,
  )
}

export async function sendProblem(
  response: ServerResponse,
  problem: HttpProblem,
  isHead: boolean,
  unread: UnreadReplies,
): Promise<boolean> {
  const headers = { ...problem.parts.headers, 'content-type': 'application/problem+json' }
  return send(response, problem.status, headers, JSON.stringify(problem), isHead, unread)
}

const streamHeaders = {
  'content-type': 'text/event-stream',
  'cache-control': 'no-store, no-transform',
  // Proxies that buffer replies would hold back events.
  'x-accel-buffering': 'no',
}

/** Requests the next piece only when the last one has been sent, so that nothing accumulates for a slow reader. */
async function sendStream(
  response: ServerResponse,
  { status, headers, stream }: Required<Pick<AnyReply, 'status' | 'headers' | 'stream'>>,
  isHead: boolean,
): Promise<boolean> {
  const closed = new Promise<void>((resolve) => response.once('close', resolve))
  if (response.destroyed || response.socket === null) {
    await ended(stream)
    return false
  }
  response.writeHead(status, { ...always, ...headers, ...streamHeaders })
  if (isHead) await ended(stream)
  else {
    for await (const piece of stream) {
      if (response.destroyed) break
      if (!response.write(piece)) await Promise.race([drained(response), closed])
    }
  }
  response.end()
  return true
}

/** A generator that was never started would not run its cleanup, so start it first. */
async function ended(stream: AsyncGenerator<string, void>): Promise<void> {
  await stream.next()
  await stream.return()
}

function drained(response: ServerResponse): Promise<void> {
  return new Promise((resolve) => response.once('drain', resolve))
}

async function send(
  response: ServerResponse,
  status: number,
  headers: Readonly<Record<string, string>>,
  text: string | null,
  isHead: boolean,
  unread: UnreadReplies,
): Promise<boolean> {
  const { socket } = response
  if (response.destroyed || socket === null) return false
  const length = text === null ? {} : { 'content-length': String(Buffer.byteLength(text)) }
  return new Promise((resolve) => {
    response.once('close', () => resolve(false))
    // 'finish' is also emitted if the connection broke.
    response.once('finish', () => resolve(socket.errored === null && !socket.destroyed))
    response.writeHead(status, { ...always, ...headers, ...length })
    response.end(isHead || text === null ? undefined : text)
    if (socket.writableLength > 0)
      response.once(
        'close',
        unread.add(socket.writableLength, () => socket.destroy()),
      )
  })
}
