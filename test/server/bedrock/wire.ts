import { connect, type Socket } from 'node:net'
import { onTestFinished } from 'vitest'
import type { Logger } from '../../../src/core/logger.ts'
import { Access } from '../../../src/server/access/access.ts'
import { type BedrockListener, type BedrockListenerOptions, listenBedrock } from '../../../src/server/bedrock/listener.ts'
import type { BedrockReply } from '../../../src/server/bedrock/wire/reply.ts'
import type { BedrockRequest } from '../../../src/server/bedrock/wire/request.ts'
import { ManualClock } from '../../../src/testing/manual-clock.ts'
import { loggerInto, nextLook, until } from '../../world.ts'

export interface Ground {
  readonly listener: BedrockListener
  readonly clock: ManualClock
  readonly log: string[]
  /** What the listener gave out to be answered. */
  readonly requests: BedrockRequest[]
  client(): Promise<WireClient>
}

/** A listener on a free port that answers with what was asked, unless told otherwise. */
export async function listening({
  token,
  ...options
}: Partial<BedrockListenerOptions> & { token?: string } = {}): Promise<Ground> {
  const clock = new ManualClock()
  const log: string[] = []
  const logger: Logger = loggerInto(log)
  const requests: BedrockRequest[] = []
  const { answer = echo, ...rest } = options
  const listener = await listenBedrock({
    host: '127.0.0.1',
    port: 0,
    clock,
    logger,
    access: new Access(token === undefined ? [] : [{ role: 'admin', secret: token }], clock),
    ...rest,
    answer: (request, peer) => {
      requests.push(request)
      return answer(request, peer)
    },
  })
  onTestFinished(async () => {
    const stopping = listener.stop({ graceMs: 0 })
    await clock.advance(1)
    await stopping
  })
  return { listener, clock, log, requests, client: () => wireClient(listener.address.port) }
}

function echo({ method }: BedrockRequest): BedrockReply {
  return { code: 200, text: 'OK', body: method }
}

/** A client that sees the bytes. */
export interface WireClient {
  readonly socket: Socket
  send(bytes: string | Buffer): void
  /** Waits for so many whole replies and gives them as they came. */
  replies(count: number): Promise<readonly string[]>
  reply(): Promise<string>
  /** All that came, when the server has closed its side. */
  all(): Promise<string>
  readonly received: string
  readonly isClosed: boolean
}

export async function wireClient(port: number): Promise<WireClient> {
  let received = ''
  let isClosed = false
  const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true })
  socket.setEncoding('latin1')
  socket.on('data', (text) => {
    received += text
  })
  socket.on('error', () => {})
  socket.on('end', () => {
    isClosed = true
  })
  socket.on('close', () => {
    isClosed = true
  })
  await new Promise((resolve, reject) => {
    socket.once('connect', resolve)
    socket.once('error', reject)
  })
  onTestFinished(() => void socket.destroy())
  const takeReply = (): string | undefined => {
    const [head, length] = /^[\s\S]*?Content-Length: (\d+)\r\n\r\n/.exec(received) ?? []
    if (head === undefined || received.length < head.length + Number(length)) return undefined
    const whole = received.slice(0, head.length + Number(length))
    received = received.slice(whole.length)
    return Buffer.from(whole, 'latin1').toString()
  }
  const replies = async (count: number): Promise<readonly string[]> => {
    const found: string[] = []
    for (let looks = 0; found.length < count; looks++) {
      const next = takeReply()
      if (next !== undefined) found.push(next)
      else if (isClosed) throw new Error(`The connection ended after ${found.length} of ${count} replies`)
      else await nextLook(looks)
    }
    return found
  }
  return {
    socket,
    send: (bytes) => void socket.write(bytes),
    replies,
    reply: async () => (await replies(1))[0] as string,
    all: async () => {
      await until(() => isClosed)
      return received
    },
    get received() {
      return received
    },
    get isClosed() {
      return isClosed
    },
  }
}

/** The reply of `listening` to a request with this first line. */
export function echoOf(method: string): string {
  return `200 OK\r\nContent-Length: ${Buffer.byteLength(method)}\r\n\r\n${method}`
}
