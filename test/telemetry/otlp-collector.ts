import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { onTestFinished } from 'vitest'

/** A span as it came over OTLP, with its attributes as an object. */
export interface ReceivedSpan {
  readonly name: string
  readonly traceId: string
  readonly spanId: string
  readonly parentSpanId: string
  /** 3 is a client, 4 a producer, 5 a consumer, 1 internal. */
  readonly kind: number
  readonly startTimeUnixNano: string
  readonly endTimeUnixNano: string
  readonly attributes: Readonly<Record<string, unknown>>
  readonly links: readonly { readonly traceId: string; readonly spanId: string; readonly attributes: Record<string, unknown> }[]
  readonly events: readonly { readonly name: string }[]
  readonly status: { readonly code?: number }
}

export interface ReceivedMetric {
  readonly name: string
  readonly points: readonly {
    readonly attributes: Readonly<Record<string, unknown>>
    /** Of a counter or a gauge; of a histogram, how many values there were. */
    readonly value: number
  }[]
}

export interface Collector {
  readonly url: string
  readonly spans: readonly ReceivedSpan[]
  /** The latest values. */
  readonly metrics: ReadonlyMap<string, ReceivedMetric>
}

/** Stands in for a collector: takes what the official exporters send as OTLP over HTTP, in JSON, and keeps it. */
export async function collector(): Promise<Collector> {
  const spans: ReceivedSpan[] = []
  const metrics = new Map<string, ReceivedMetric>()
  const server = createServer((request, response) => {
    const parts: Buffer[] = []
    request.on('data', (part: Buffer) => parts.push(part))
    request.on('end', () => {
      const body: unknown = JSON.parse(Buffer.concat(parts).toString())
      if (request.url === '/v1/traces') spans.push(...spansOf(body))
      if (request.url === '/v1/metrics') for (const metric of metricsOf(body)) metrics.set(metric.name, metric)
      response.writeHead(200, { 'content-type': 'application/json' }).end('{}')
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, spans, metrics }
}

type Tree = Readonly<Record<string, unknown>>

function list(value: unknown): readonly Tree[] {
  return Array.isArray(value) ? (value as readonly Tree[]) : []
}

function spansOf(body: unknown): readonly ReceivedSpan[] {
  return list((body as Tree).resourceSpans).flatMap((resource) =>
    list(resource.scopeSpans).flatMap((scope) =>
      list(scope.spans).map((span) => ({
        ...(span as { name: string; traceId: string; spanId: string; kind: number }),
        startTimeUnixNano: String(span.startTimeUnixNano),
        endTimeUnixNano: String(span.endTimeUnixNano),
        parentSpanId: String(span.parentSpanId ?? ''),
        attributes: attributesOf(span.attributes),
        links: list(span.links).map((link) => ({
          traceId: String(link.traceId),
          spanId: String(link.spanId),
          attributes: attributesOf(link.attributes),
        })),
        events: list(span.events).map(({ name }) => ({ name: String(name) })),
        status: span.status as { code?: number },
      })),
    ),
  )
}

function metricsOf(body: unknown): readonly ReceivedMetric[] {
  return list((body as Tree).resourceMetrics).flatMap((resource) =>
    list(resource.scopeMetrics).flatMap((scope) =>
      list(scope.metrics).map((metric) => {
        const data = (metric.sum ?? metric.gauge ?? metric.histogram) as Tree
        return {
          name: String(metric.name),
          points: list(data.dataPoints).map((point) => ({
            attributes: attributesOf(point.attributes),
            value: Number(point.asInt ?? point.asDouble ?? point.count),
          })),
        }
      }),
    ),
  )
}

function attributesOf(value: unknown): Record<string, unknown> {
  return Object.fromEntries(list(value).map(({ key, value: given }) => [String(key), Object.values(given as Tree)[0]]))
}
