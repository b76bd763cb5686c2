import type * as OpenTelemetry from '@opentelemetry/api'
import { version } from '../../core/version.ts'
import type { Identity } from '../../envelope/envelope.ts'
import type { RunTrace } from '../../execution/attempt/run-trace.ts'
import { type Outcome, outcomeWords } from '../../execution/end/outcome.ts'
import type { Lease } from '../../queue/contract/contract.ts'
import type { DispatchTrace, TracedDispatch, Tracing } from '../telemetry.ts'
import { metaOf, spanContextOf } from './trace-context.ts'

type Api = typeof OpenTelemetry

/**
 * Spans of jobs, following the messaging conventions of OpenTelemetry:
 *
 * - `dispatch JOB` (producer), a child of the span that was active at the dispatch;
 * - `process JOB` (consumer), a child of the dispatch and linked to it, from when the job was due until its end is stored. Its
 *   children are `wait`, `attempt`, in which the handler is called, and `settle`.
 *
 * Sampling is decided at the dispatch. A job whose dispatch was not sampled carries no context, and costs nothing in the worker.
 */
export class OtelTracing implements Tracing {
  readonly #api: Api
  readonly #tracer: OpenTelemetry.Tracer
  readonly #now: () => number
  readonly #startsTraces: boolean
  readonly #produced = new JobAttributes('dispatch', 'send')
  readonly #consumed = new JobAttributes('process', 'process')

  /**
   * `startsTraces`: start a trace for each attempt of a job whose dispatcher collects none. Runs of schedules always start one.
   */
  constructor(api: Api, now: () => number, startsTraces: boolean) {
    this.#startsTraces = startsTraces
    this.#api = api
    this.#tracer = api.trace.getTracer('treadle', version)
    this.#now = now
  }

  dispatch({ job, queue, count, parent }: TracedDispatch): DispatchTrace | null {
    const { SpanKind, context, trace } = this.#api
    const maker = parent instanceof OtelRunTrace ? parent.attempt : null
    const above = maker === null ? context.active() : trace.setSpan(context.active(), maker)
    const span = this.#tracer.startSpan(
      `dispatch ${job}`,
      { kind: SpanKind.PRODUCER, attributes: this.#produced.of(queue, job) },
      above,
    )
    if (!span.isRecording()) return null
    if (count > 1) span.setAttribute('messaging.batch.message_count', count)
    maker?.addLink({ context: span.spanContext(), attributes: { 'treadle.link': 'child' } })
    return new OtelDispatchTrace(span, this.#api)
  }

  begin({ envelope, attempt }: Lease, identity: Identity): RunTrace | null {
    const { SpanKind, ROOT_CONTEXT, trace } = this.#api
    const dispatcher = spanContextOf(identity.meta, this.#api)
    if (dispatcher === undefined && identity.occurrence === null && !this.#startsTraces) return null
    const above = dispatcher === undefined ? ROOT_CONTEXT : trace.setSpanContext(ROOT_CONTEXT, dispatcher)
    const now = this.#now()
    const dueAt = Math.min(now, Math.max(envelope.runAt, envelope.createdAt))
    const { queue, job, id, name } = identity
    const span = this.#tracer.startSpan(
      `process ${job}`,
      {
        kind: SpanKind.CONSUMER,
        startTime: dueAt,
        attributes: this.#consumed.of(queue, job),
        ...(dispatcher !== undefined && { links: [{ context: dispatcher, attributes: { 'treadle.link': 'dispatcher' } }] }),
      },
      above,
    )
    if (!span.isRecording()) return null
    // Set only now: with a low sampling rate most spans are not recorded.
    span.setAttributes({ 'messaging.message.id': id, 'treadle.attempt': attempt, ...(name !== job && { 'treadle.name': name }) })
    const inside = trace.setSpan(above, span)
    this.#tracer.startSpan('wait', { startTime: dueAt }, inside).end(now)
    return new OtelRunTrace(span, inside, this.#tracer, this.#api)
  }
}

class OtelDispatchTrace implements DispatchTrace {
  readonly meta: DispatchTrace['meta']
  readonly #span: OpenTelemetry.Span
  readonly #api: Api

  constructor(span: OpenTelemetry.Span, api: Api) {
    this.meta = metaOf(span.spanContext())
    this.#span = span
    this.#api = api
  }

  async during<Answer>(sending: Promise<Answer>): Promise<Answer> {
    try {
      const answer = await sending
      this.ended()
      return answer
    } catch (error) {
      this.ended(error)
      throw error
    }
  }

  ended(error?: unknown): void {
    if (error !== undefined) fail(this.#span, error, this.#api)
    this.#span.end()
  }
}

class OtelRunTrace implements RunTrace {
  /** The span in which the handler is called. */
  readonly attempt: OpenTelemetry.Span
  readonly #span: OpenTelemetry.Span
  readonly #inside: OpenTelemetry.Context
  readonly #tracer: OpenTelemetry.Tracer
  readonly #api: Api
  #settle: OpenTelemetry.Span | undefined

  constructor(span: OpenTelemetry.Span, inside: OpenTelemetry.Context, tracer: OpenTelemetry.Tracer, api: Api) {
    this.#span = span
    this.#inside = inside
    this.#tracer = tracer
    this.#api = api
    this.attempt = tracer.startSpan('attempt', {}, inside)
  }

  during<Answer>(work: () => Promise<Answer>): Promise<Answer> {
    const { context, trace } = this.#api
    return context.with(trace.setSpan(this.#inside, this.attempt), work)
  }

  settling(outcome: Outcome): void {
    if (outcome.kind === 'retry' || outcome.kind === 'dead') fail(this.attempt, outcome.error, this.#api)
    this.attempt.setAttribute('treadle.outcome', outcomeWords[outcome.kind])
    this.attempt.end()
    this.#settle = this.#tracer.startSpan('settle', { attributes: { 'messaging.operation.type': 'settle' } }, this.#inside)
  }

  settled(outcome: Outcome): void {
    this.#settle?.end()
    if (outcome.kind === 'retry' || outcome.kind === 'dead' || outcome.kind === 'lost')
      this.#span.setStatus({ code: this.#api.SpanStatusCode.ERROR, message: outcomeWords[outcome.kind] })
    this.#span.setAttribute('treadle.outcome', outcomeWords[outcome.kind])
    this.#span.end()
  }
}

/** Attributes for the sampler, cached because most jobs are of the same kind as the one before. */
class JobAttributes {
  readonly #operation: string
  readonly #type: string
  #queue = ''
  #job = ''
  #last: OpenTelemetry.Attributes = {}

  constructor(operation: string, type: string) {
    this.#operation = operation
    this.#type = type
  }

  of(queue: string, job: string): OpenTelemetry.Attributes {
    if (queue === this.#queue && job === this.#job) return this.#last
    this.#queue = queue
    this.#job = job
    this.#last = {
      'messaging.system': 'treadle',
      'messaging.destination.name': queue,
      'messaging.operation.name': this.#operation,
      'messaging.operation.type': this.#type,
      'treadle.job': job,
    }
    return this.#last
  }
}

function fail(span: OpenTelemetry.Span, error: unknown, { SpanStatusCode }: Api): void {
  const thrown = error instanceof Error ? error : new Error(String(error))
  span.recordException(thrown)
  span.setAttribute('error.type', 'code' in thrown && typeof thrown.code === 'string' ? thrown.code : thrown.name)
  span.setStatus({ code: SpanStatusCode.ERROR, message: thrown.message })
}
