import { type AddressInfo, createServer, type Server, type Socket } from 'node:net'
import { createServer as createTlsServer, type TlsOptions } from 'node:tls'
import { messageOf } from '../../core/errors.ts'
import { type Logger, silentLogger, soundLogger } from '../../core/logger.ts'
import { type Clock, systemClock } from '../../core/time/clock.ts'
import { Access } from '../access/access.ts'
import { listening } from '../listening.ts'
import { Strangers } from '../strangers.ts'
import { UnreadReplies } from '../unread-replies.ts'
import { Connection } from './connections/connection.ts'
import type { ConnectionContext } from './connections/connection-context.ts'
import { Forgotten } from './connections/forgotten.ts'
import type { BedrockAnswer } from './connections/peer.ts'
import { type BedrockLimits, defaultBedrockLimits } from './limits.ts'
import type { BedrockRequest } from './wire/request.ts'
import { UnfinishedBytes } from './wire/unfinished-bytes.ts'

export interface BedrockListenerOptions {
  readonly host: string
  /** 0 means any free port. */
  readonly port: number
  readonly answer: BedrockAnswer
  readonly tls?: TlsOptions
  /** If it has tokens, a connection must send one before any of its requests is executed. */
  readonly access?: Access
  /** Which requests need a token; all by default. */
  readonly needsToken?: (request: BedrockRequest) => boolean
  /** Called for each request of a client, always with the same object for the same client. */
  readonly onRequest?: (client: object) => void
  readonly clock?: Clock
  readonly limits?: Partial<BedrockLimits>
  readonly logger?: Logger
}

export interface BedrockListener {
  readonly address: { readonly host: string; readonly port: number }
  /**
   * Accepts no more connections and starts no more requests. Requests that are being executed are still answered; whatever is
   * unfinished after `graceMs` is cut off. May be called again with a shorter time.
   */
  stop(options: { readonly graceMs: number }): Promise<void>
}

export async function listenBedrock(options: BedrockListenerOptions): Promise<BedrockListener> {
  const { answer, clock = systemClock, access = new Access([], clock), needsToken = () => true, onRequest = () => {} } = options
  const limits = { ...defaultBedrockLimits, ...options.limits }
  const logger = soundLogger(options.logger ?? silentLogger)
  const forgotten = new Forgotten({ answer, clock, limits, logger })
  const unfinished = new UnfinishedBytes(limits.unfinishedBytes)
  const unread = new UnreadReplies(limits.unreadBytes)
  const strangers = access.isOpen ? undefined : new Strangers(limits.strangers)
  const context = { answer, access, needsToken, onRequest, forgotten, unfinished, unread, strangers, clock, limits, logger }
  const connections = new Set<Connection>()
  const sockets = new Set<Socket>()
  let stopping: Promise<void> | undefined
  const server = openServer(options.tls, limits, (socket) => {
    // A TLS handshake that completed too late.
    if (stopping !== undefined) socket.destroy()
    else welcome(socket, context, connections)
  })
  server.maxConnections = limits.connections
  server.on('connection', (socket: Socket) => {
    sockets.add(socket)
    socket.once('close', () => sockets.delete(socket))
  })
  await listening(server, options)
  server.on('error', (error) => logger.error(`The listener of the Bedrock protocol failed: ${messageOf(error)}`))

  const closed = new Promise<void>((resolve) => server.once('close', resolve))
  const begin = (): Promise<void> => {
    server.close()
    for (const connection of connections) connection.stop()
    return Promise.all([closed, forgotten.stop()]).then(() => {})
  }
  return {
    address: { host: options.host, port: (server.address() as AddressInfo).port },
    async stop({ graceMs }) {
      stopping ??= begin()
      const cutOff = () => {
        for (const socket of sockets) socket.destroy()
        forgotten.destroy()
      }
      const timer = clock.timer(graceMs, cutOff, { unref: true })
      await stopping
      timer.cancel()
    },
  }
}

function openServer(tls: TlsOptions | undefined, limits: BedrockLimits, onSocket: (socket: Socket) => void): Server {
  // A client may close its sending side and still wait for its replies. Keep-alive detects clients whose machine is gone.
  const sockets = { allowHalfOpen: true, noDelay: true, keepAlive: true, keepAliveInitialDelay: 60_000 }
  if (tls === undefined) return createServer(sockets, onSocket)
  return createTlsServer({ handshakeTimeout: limits.strangerMs, ...tls, ...sockets }, onSocket)
}

function welcome(socket: Socket, context: ConnectionContext, connections: Set<Connection>): void {
  const connection = new Connection(socket, context)
  connections.add(connection)
  socket.once('close', () => connections.delete(connection))
}
