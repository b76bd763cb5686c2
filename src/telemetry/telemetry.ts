import type { Meta } from '../definition/meta.ts'
import type { RunTrace, RunTracer } from '../execution/attempt/run-trace.ts'
import { Observers } from './observer.ts'

/** Traces one dispatch, of one job or of several together. */
export interface DispatchTrace {
  /** Travels with the jobs, so that their worker can continue the trace. */
  readonly meta: Meta
  /** The dispatch ends when this promise settles. */
  during<Answer>(sending: Promise<Answer>): Promise<Answer>
  /** Ends a synchronous dispatch. */
  ended(error?: unknown): void
}

/** Jobs that are dispatched together. */
export interface TracedDispatch {
  /** A job's key, or a name for all of them together. */
  readonly job: string
  readonly queue: string
  readonly count: number
  /** The attempt that creates them as its children. */
  readonly parent?: RunTrace | null
}

export interface Tracing extends RunTracer {
  /** Null if traces are not collected: then nothing travels with the jobs. */
  dispatch(dispatched: TracedDispatch): DispatchTrace | null
}

/** The telemetry of one program. All of it is off by default. */
export class Telemetry {
  readonly observers = new Observers()
  tracing: Tracing | null = null
}
