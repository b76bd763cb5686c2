import type { Meta } from '../definition/meta.ts'
import type { RunTrace, RunTracer } from '../execution/attempt/run-trace.ts'
import { Observers } from './observer.ts'

/** Follows one dispatch, of one job or of several together. */
export interface DispatchTrace {
  /** What travels with the jobs, so that their worker can continue the trace. */
  readonly meta: Meta
  /** The dispatch ends when this does. */
  during<Answer>(sending: Promise<Answer>): Promise<Answer>
  /** The same for one that cannot wait. */
  ended(error?: unknown): void
}

/** Jobs that are dispatched together. */
export interface TracedDispatch {
  /** A job's key, or what they are together. */
  readonly job: string
  readonly queue: string
  readonly count: number
  /** The attempt that makes them as its children. */
  readonly parent?: RunTrace | null
}

export interface Tracing extends RunTracer {
  /** Null where nobody collects it: then nothing travels with the jobs. */
  dispatch(dispatched: TracedDispatch): DispatchTrace | null
}

/** The telemetry of one program. All of it is off by default. */
export class Telemetry {
  readonly observers = new Observers()
  tracing: Tracing | null = null
}
