import type * as OpenTelemetry from '@opentelemetry/api'
import type { Meta } from '../../definition/meta.ts'

type Api = typeof OpenTelemetry

/** version - trace id - span id - flags. A later version may append more. */
const traceparentForm = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(?:-.*)?$/
const longestTracestate = 512

/** The W3C trace context of a span, as the meta of a job. */
export function metaOf({ traceId, spanId, traceFlags, traceState }: OpenTelemetry.SpanContext): Meta {
  const traceparent = `00-${traceId}-${spanId}-${traceFlags.toString(16).padStart(2, '0')}`
  const tracestate = traceState?.serialize() ?? ''
  return tracestate === '' || tracestate.length > longestTracestate ? { traceparent } : { traceparent, tracestate }
}

/** The span named in a job's meta; undefined if there is none. It is remote and may have ended long ago. */
export function spanContextOf(meta: Meta, { isSpanContextValid, createTraceState }: Api): OpenTelemetry.SpanContext | undefined {
  const { traceparent, tracestate } = meta
  const [, version, traceId = '', spanId = '', flags = ''] =
    typeof traceparent === 'string' ? (traceparentForm.exec(traceparent) ?? []) : []
  if (version === undefined || version === 'ff') return undefined
  const context = { traceId, spanId, traceFlags: Number.parseInt(flags, 16) & 1, isRemote: true }
  if (!isSpanContextValid(context)) return undefined
  const isStated = typeof tracestate === 'string' && tracestate !== '' && tracestate.length <= longestTracestate
  return isStated ? { ...context, traceState: createTraceState(tracestate) } : context
}
