import type { LoadMeasure } from '../../execution/events.ts'
import type { BreakerState } from '../../queue/contract/stores/worker-store.ts'

/** The current state of a worker. */
export interface WorkerState {
  /** The name under which the worker holds its leases. */
  readonly owner: string
  /** Number of jobs that are running. */
  readonly running: number
  /** Maximum number of jobs that the worker runs at once, as configured. */
  readonly concurrency: number
  /** Maximum number of jobs that the worker currently runs at once. */
  readonly allowed: number
  /** Whether the circuit breaker lets the worker claim jobs. */
  readonly breaker: BreakerState
  /** The last measurement; null without `maxLoad`. */
  readonly load: LoadMeasure | null
}
