import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Metrics } from '../app/observing/metrics.ts'
import { expositionType } from '../telemetry/metrics/exposition.ts'
import type { WorkerState } from '../worker/health/worker-state.ts'
import { listening } from './listening.ts'

/** Where to answer health checks. */
export interface HealthOptions {
  /** 127.0.0.1 by default. */
  readonly host?: string
  /** 0 means any free port. */
  readonly port: number
}

/** A port that answers health checks. */
export interface HealthPort {
  readonly address: { readonly host: string; readonly port: number }
  close(): Promise<void>
}

/** The part of a program that health checks query. */
export interface HealthSource {
  workerState(): Promise<WorkerState | null>
  /** Absent if there are no metrics; then there is no `/metrics`. */
  readonly metrics?: Pick<Metrics, 'start' | 'text'>
}

/** How long a request may take to arrive. */
const requestMs = 10_000

/**
 * Reports the state of a worker to orchestrators. `GET /live` returns 200 while the event loop runs. `GET /ready` returns 200
 * while the worker takes jobs, and 503 before it has started, while it stops and while its circuit breaker is open. `GET
 * /metrics` returns the metrics collected from now on, for Prometheus.
 */
export async function listenHealth(source: HealthSource, { host = '127.0.0.1', port }: HealthOptions): Promise<HealthPort> {
  source.metrics?.start()
  const server = createServer(
    { requestTimeout: requestMs, headersTimeout: requestMs, maxHeaderSize: 8 * 1024 },
    (request, reply) => {
      void answer(source, request.method ?? '', request.url ?? '', reply)
    },
  )
  await listening(server, { host, port })
  return {
    address: { host, port: (server.address() as AddressInfo).port },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

async function answer(source: HealthSource, method: string, url: string, reply: ServerResponse): Promise<void> {
  const path = url.split('?', 1)[0]
  if (method !== 'GET' && method !== 'HEAD') return send(reply, 405, { status: 'method not allowed' })
  if (path === '/live' || path === '/health') return send(reply, 200, { status: 'live' })
  if (path === '/metrics' && source.metrics !== undefined) return sendMetrics(reply, source.metrics)
  if (path !== '/ready') return send(reply, 404, { status: 'not found', paths: ['/live', '/ready', '/metrics'] })
  const { code, body } = readiness(await source.workerState().catch(() => null))
  send(reply, code, body)
}

function readiness(state: WorkerState | null): { readonly code: number; readonly body: object } {
  if (state === null) return { code: 503, body: { status: 'not working' } }
  const { running, concurrency, allowed, breaker } = state
  const isReady = breaker !== 'open'
  return {
    code: isReady ? 200 : 503,
    body: { status: isReady ? 'ready' : 'circuit breaker open', running, concurrency, allowed, breaker },
  }
}

async function sendMetrics(reply: ServerResponse, metrics: Pick<Metrics, 'text'>): Promise<void> {
  try {
    sendText(reply, 200, expositionType, await metrics.text())
  } catch {
    send(reply, 500, { status: 'failed' })
  }
}

function send(reply: ServerResponse, code: number, body: object): void {
  sendText(reply, code, 'application/json', `${JSON.stringify(body)}\n`)
}

function sendText(reply: ServerResponse, code: number, type: string, text: string): void {
  reply.writeHead(code, {
    'content-type': type,
    'content-length': Buffer.byteLength(text),
    'cache-control': 'no-store',
  })
  reply.end(text)
}
