import { createServer, type RequestListener, type Server } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import type { TlsOptions } from 'node:tls'
import { messageOf } from '../../core/errors.ts'
import type { Logger } from '../../core/logger.ts'
import { type Clock, systemClock } from '../../core/time/clock.ts'
import { listening } from '../listening.ts'
import type { HttpApi } from './api.ts'
import { inOrder } from './pipelining.ts'
import { refuseUnparsed } from './unparsed.ts'

export interface HttpListenerOptions {
  readonly host: string
  /** 0 means any free port. */
  readonly port: number
  readonly api: HttpApi
  /** Replaces the API's listener, and passes requests for the API on to it. */
  readonly listener?: RequestListener
  readonly tls?: TlsOptions
  readonly clock?: Clock
  readonly logger: Logger
}

export interface HttpListener {
  readonly address: { readonly host: string; readonly port: number }
  /**
   * Accepts no more connections, ends all waiting, and answers the requests that have arrived. Whatever is unfinished after
   * `graceMs` is cut off.
   */
  stop(options: { readonly graceMs: number }): Promise<void>
}

export async function listenHttp(options: HttpListenerOptions): Promise<HttpListener> {
  const { api, host, logger, clock = systemClock } = options
  const server = openServer(options)
  server.setTimeout(api.idleTimeoutMs)
  server.maxConnections = api.maxConnections
  server.on(options.tls === undefined ? 'connection' : 'secureConnection', api.onConnection)
  server.on('clientError', refuseUnparsed)
  await listening(server, options)
  server.on('error', (error) => logger.error(`The listener of the HTTP API failed: ${messageOf(error)}`))
  let stopping: Promise<void> | undefined
  const begin = async () => {
    const closed = new Promise<void>((resolve) => server.close(() => resolve()))
    await api.close()
    // Connections that are kept alive for another request.
    server.closeIdleConnections()
    await closed
  }
  return {
    address: { host, port: (server.address() as AddressInfo).port },
    async stop({ graceMs }) {
      stopping ??= begin()
      const timer = clock.timer(graceMs, () => server.closeAllConnections(), { unref: true })
      await stopping
      timer.cancel()
    },
  }
}

function openServer({ api, tls, listener = api.listener }: HttpListenerOptions): Server {
  const handle = inOrder(listener, api.maxAhead)
  const server: Server =
    tls === undefined ? createServer(api.serverOptions, handle) : createTlsServer({ ...api.serverOptions, ...tls }, handle)
  // A server may ignore an expectation that it does not know. Node would refuse it without a problem.
  return server.on('checkExpectation', handle)
}
