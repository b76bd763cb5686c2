import { context, metrics, SpanStatusCode, trace } from '@opentelemetry/api'
import { OTLPMetricExporter } from '@opentelemetry/exporter-metrics-otlp-http'
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http'
import { MeterProvider, PeriodicExportingMetricReader } from '@opentelemetry/sdk-metrics'
import {
  AlwaysOffSampler,
  AlwaysOnSampler,
  NodeTracerProvider,
  type Sampler,
  SimpleSpanProcessor,
} from '@opentelemetry/sdk-trace-node'
import { describe, expect, onTestFinished, test } from 'vitest'
import { type Treadle, type TreadleOptions, treadle } from '../../src/app/treadle.ts'
import { systemClock } from '../../src/core/time/clock.ts'
import { openMemory } from '../../src/engines/memory/index.ts'
import { loggerInto } from '../world.ts'
import { type Collector, collector, type ReceivedSpan } from './otlp-collector.ts'

interface Traced {
  readonly jobs: Treadle
  readonly received: Collector
  /** Everything that has ended by now. */
  spans(): Promise<readonly ReceivedSpan[]>
}

async function traced(options: TreadleOptions = {}, sampler: Sampler = new AlwaysOnSampler()): Promise<Traced> {
  const received = await collector()
  const exporter = new OTLPTraceExporter({ url: `${received.url}/v1/traces` })
  const provider = new NodeTracerProvider({ sampler, spanProcessors: [new SimpleSpanProcessor(exporter)] })
  provider.register()
  const jobs = treadle('memory:', {
    backend: openMemory({ clock: systemClock }),
    logger: loggerInto([]),
    openTelemetry: { traces: true },
    ...options,
  })
  onTestFinished(async () => {
    await jobs.close()
    await provider.shutdown()
    trace.disable()
    context.disable()
  })
  return {
    jobs,
    received,
    spans: async () => {
      await provider.forceFlush()
      return received.spans
    },
  }
}

function named(spans: readonly ReceivedSpan[], name: string): ReceivedSpan {
  const found = spans.filter((span) => span.name === name)
  expect(found, name).toHaveLength(1)
  return found[0] as ReceivedSpan
}

function below(spans: readonly ReceivedSpan[], parent: ReceivedSpan): readonly string[] {
  return spans.filter(({ parentSpanId }) => parentSpanId === parent.spanId).map(({ name }) => name)
}

describe('traces', () => {
  test('a job runs in the trace of its dispatcher, and is linked to its dispatch', async () => {
    const { jobs, spans } = await traced()
    const mail = jobs.define('mail', (_: { to: string }, { meta }) => meta.traceparent as string).queue('slow')
    const run = await trace.getTracer('test').startActiveSpan('request', async (request) => {
      const dispatched = await mail.dispatch({ to: 'Lovelace' })
      request.end()
      return dispatched
    })
    await jobs.run()
    const all = await spans()
    const request = named(all, 'request')
    const dispatch = named(all, 'dispatch mail')
    const process = named(all, 'process mail')
    expect(new Set(all.map(({ traceId }) => traceId)).size).toBe(1)
    expect(dispatch.parentSpanId).toBe(request.spanId)
    expect(dispatch.kind).toBe(4)
    expect(process.parentSpanId).toBe(dispatch.spanId)
    expect(process.kind).toBe(5)
    expect(process.links).toEqual([
      { traceId: dispatch.traceId, spanId: dispatch.spanId, attributes: { 'treadle.link': 'dispatcher' } },
    ])
    expect(below(all, process).toSorted()).toEqual(['attempt', 'settle', 'wait'])
    expect(process.attributes).toMatchObject({
      'messaging.system': 'treadle',
      'messaging.destination.name': 'slow',
      'messaging.message.id': run.id,
      'treadle.job': 'mail',
      'treadle.attempt': 1,
      'treadle.outcome': 'succeeded',
    })
    expect(await run.result()).toBe(`00-${dispatch.traceId}-${dispatch.spanId}-01`)
    const wait = named(all, 'wait')
    expect(wait.startTimeUnixNano).toBe(process.startTimeUnixNano)
    expect(BigInt(wait.endTimeUnixNano) <= BigInt(named(all, 'attempt').endTimeUnixNano)).toBe(true)
    expect(JSON.stringify(all)).not.toContain('Lovelace')
  })

  test('each attempt of a job has its own span, with the reason of its failure', async () => {
    const { jobs, spans } = await traced()
    const flaky = jobs
      .define('flaky', (_: null, { attempt }) => {
        if (attempt === 1) throw new TypeError('the first one')
      })
      .retries(1)
      .backoff(() => 0)
    await flaky.dispatch(null)
    await jobs.run()
    const all = await spans()
    const attempts = all.filter(({ name }) => name === 'process flaky')
    expect(attempts.map(({ attributes }) => [attributes['treadle.attempt'], attributes['treadle.outcome']])).toEqual([
      [1, 'retried'],
      [2, 'succeeded'],
    ])
    const dispatch = named(all, 'dispatch flaky')
    expect(attempts.every(({ parentSpanId }) => parentSpanId === dispatch.spanId)).toBe(true)
    const failed = all.find(({ name, status }) => name === 'attempt' && status.code === SpanStatusCode.ERROR)
    expect(failed?.events.map(({ name }) => name)).toEqual(['exception'])
    expect(failed?.attributes['error.type']).toBe('TypeError')
  })

  test('what a handler does and dispatches lies below its attempt, and a parent is linked to its children', async () => {
    const { jobs, spans } = await traced()
    const child = jobs.define('child', (_: null) => 1)
    jobs.define('other', (_: null) => 2)
    const parent = jobs.define('parent', async (_: null, { dispatchChild }) => {
      trace.getTracer('test').startSpan('inside').end()
      await dispatchChild(child, null)
      await jobs.dispatch('other' as never, null as never)
    })
    await parent.dispatch(null)
    await jobs.run()
    const all = await spans()
    const attemptOf = (job: string) => {
      const process = named(all, `process ${job}`)
      return all.find(({ name, parentSpanId }) => name === 'attempt' && parentSpanId === process.spanId) as ReceivedSpan
    }
    const attempt = attemptOf('parent')
    expect(below(all, attempt).toSorted()).toEqual(['dispatch child', 'dispatch other', 'inside'])
    const made = named(all, 'dispatch child')
    expect(attempt.links).toEqual([{ traceId: made.traceId, spanId: made.spanId, attributes: { 'treadle.link': 'child' } }])
    expect(named(all, 'process child').parentSpanId).toBe(made.spanId)
    expect(new Set(all.map(({ traceId }) => traceId)).size).toBe(1)
  })

  test('jobs that are dispatched together are one dispatch', async () => {
    const { jobs, spans } = await traced()
    const many = jobs.define('many', (_: number) => {})
    await jobs.dispatchMany(many, [1, 2, 3])
    await jobs.run()
    const all = await spans()
    const dispatch = named(all, 'dispatch many')
    expect(dispatch.attributes['messaging.batch.message_count']).toBe(3)
    expect(all.filter(({ name, parentSpanId }) => name === 'process many' && parentSpanId === dispatch.spanId)).toHaveLength(3)
  })

  test('the trace context is signed with the rest of the job, and one that a client gave is kept', async () => {
    const { jobs, spans } = await traced({ signingKey: 'of this test alone, long enough' })
    const job = jobs.define('job', (_: null) => {})
    const given = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01'
    const run = await job.dispatch(null, { meta: { traceparent: given, tenant: 'a' } })
    const record = await (await jobs.store()).get(run.id)
    expect(JSON.parse(record?.identity as string)).toContainEqual({ traceparent: given, tenant: 'a' })
    await jobs.run()
    expect(named(await spans(), 'process job').parentSpanId).toBe('b7ad6b7169203331')
  })

  test.each([
    'nonsense',
    '00-00000000000000000000000000000000-b7ad6b7169203331-01',
    'ff-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01',
    7,
  ])('a trace context that is none (%s) begins a trace of its own', async (traceparent) => {
    const { jobs, spans } = await traced({ openTelemetry: { traces: 'always' } })
    const job = jobs.define('job', (_: null) => {})
    await job.dispatch(null, { meta: { traceparent } })
    await jobs.run()
    const process = named(await spans(), 'process job')
    expect(process.parentSpanId).toBe('')
    expect(process.links).toEqual([])
  })

  test('a job that was dispatched without a trace has none, and a scheduled run starts its own', async () => {
    const { jobs, spans } = await traced()
    const untraced = treadle('memory:', { backend: await jobs.open() })
    untraced.define('plain', (_: null) => {})
    jobs.define('plain', (_: null) => {})
    jobs.define('tick', () => {}).everySecond()
    await untraced.dispatch('plain' as never, null as never)
    const processed = async () => {
      await jobs.run()
      return new Set((await spans()).filter(({ name }) => name.startsWith('process')).map(({ name }) => name))
    }
    await expect.poll(processed, { timeout: 60_000 }).toEqual(new Set(['process tick']))
    const first = (await spans()).find(({ name }) => name === 'process tick')
    expect(first).toMatchObject({ parentSpanId: '', links: [] })
  })

  test('what is not sampled leaves nothing behind, in the job neither', async () => {
    const { jobs, spans } = await traced({}, new AlwaysOffSampler())
    const job = jobs.define('job', (_: null) => {})
    const run = await job.dispatch(null)
    await jobs.run()
    expect(await spans()).toEqual([])
    expect((await (await jobs.store()).get(run.id))?.meta).toEqual({})
  })

  test('without the option nothing is recorded, whatever the program has registered', async () => {
    const { jobs, spans } = await traced({ openTelemetry: false })
    const job = jobs.define('job', (_: null) => {})
    const run = await job.dispatch(null)
    await jobs.run()
    expect(await spans()).toEqual([])
    expect((await (await jobs.store()).get(run.id))?.meta).toEqual({})
  })
})

describe('metrics over OpenTelemetry', () => {
  test('are the ones that Prometheus reads', async () => {
    const received = await collector()
    const reader = new PeriodicExportingMetricReader({
      exporter: new OTLPMetricExporter({ url: `${received.url}/v1/metrics` }),
      exportIntervalMillis: 3_600_000,
    })
    const provider = new MeterProvider({ readers: [reader] })
    metrics.setGlobalMeterProvider(provider)
    await using jobs = treadle('memory:', { openTelemetry: { metrics: true }, logger: loggerInto([]) })
    const job = jobs.define('job', (_: number) => {})
    await jobs.dispatchMany(job, [1, 2])
    await jobs.run()
    await job.dispatch(3)
    await provider.forceFlush()
    const points = (name: string) => received.metrics.get(name)?.points ?? []
    expect(points('treadle.jobs.dispatched')).toEqual([{ attributes: { queue: 'default', job: 'job' }, value: 3 }])
    expect(points('treadle.jobs.ended')).toContainEqual({
      attributes: { queue: 'default', job: 'job', outcome: 'succeeded' },
      value: 2,
    })
    for (const name of ['treadle.job.wait', 'treadle.job.run', 'treadle.job.settle'])
      expect(points(name)).toEqual([{ attributes: { queue: 'default', job: 'job' }, value: 2 }])
    expect(points('treadle.backend.call').map(({ attributes }) => attributes.call)).toContain('lease')
    expect(points('treadle.queue.jobs')).toContainEqual({
      attributes: { backend: 'default', queue: 'default', state: 'ready' },
      value: 1,
    })
    expect(points('treadle.workers')).toHaveLength(1)
    await provider.shutdown()
    metrics.disable()
  })
})
