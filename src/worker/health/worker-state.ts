import type { LoadMeasure } from '../../execution/events.ts'
import type { BreakerState } from '../../queue/contract/worker-store.ts'

/** How a worker is doing right now. */
export interface WorkerState {
  /** The name under which it holds its leases. */
  readonly owner: string
  /** Jobs that run now. */
  readonly running: number
  readonly concurrency: number
  /** As many as it allows itself to run at once now. */
  readonly allowed: number
  readonly breaker: BreakerState
  /** As it was last measured; null without `maxLoad`. */
  readonly load: LoadMeasure | null
}
