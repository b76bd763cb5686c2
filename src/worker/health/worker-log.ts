import { messageOf } from '../../core/errors.ts'
import type { Logger } from '../../core/logger.ts'
import { RepeatedErrors } from '../../core/repeated-errors.ts'
import type { Clock } from '../../core/time/clock.ts'
import type { ActiveRun } from '../../execution/attempt/active-run.ts'
import type { RunEvent } from '../../execution/events.ts'
import type { JobEvents } from '../../execution/job-events.ts'
import type { BreakerState } from '../../queue/contract/stores/worker-store.ts'
import type { BreakerChange, BreakerConfig } from './breaker/breaker.ts'
import { breakerText } from './breaker/breaker-text.ts'
import type { LoadChange } from './load/load-control.ts'
import { loadText } from './load/load-text.ts'
import { stallText } from './stalls/stall-text.ts'
import { hasComputed, type Stall } from './stalls/stall-watch.ts'

/** Reports the state of a worker to its log and to event listeners. */
export class WorkerLog {
  readonly #logger: Logger
  readonly #events: JobEvents
  /** What the worker and the runs of its jobs log during an outage. */
  readonly errors: RepeatedErrors
  #loggedBreaker: BreakerState = 'closed'

  constructor(logger: Logger, events: JobEvents, clock: Clock) {
    this.#logger = logger
    this.#events = events
    this.errors = new RepeatedErrors(clock)
  }

  /** A call failed and will be retried. */
  error(error: unknown): void {
    this.errors.tryingAgain(this.#logger, error)
    this.#events.emit('worker:error', { error })
  }

  /** A call failed and will not be retried. `what` describes the consequence. */
  failed(what: string, error: unknown): void {
    this.#logger.error(`${what}: ${messageOf(error)}`)
    this.#events.emit('worker:error', { error })
  }

  stalled(stall: Stall): void {
    const { stalledMs, computedMs } = stall
    const suspects = hasComputed(stall) ? stall.suspects : []
    const [running, blamed] = [stall.running.map(eventOf), suspects.map(eventOf)]
    this.#logger.warn(stallText(stall))
    this.#events.emit('worker:stalled', { stalledMs, ...(computedMs !== undefined && { computedMs }), running, suspects: blamed })
  }

  /** An outage is logged when it begins and when it ends, and not for each probe. */
  breaker(change: BreakerChange, config: BreakerConfig): void {
    const text = breakerText(change, config)
    if (text !== undefined && this.#loggedBreaker !== change.state) {
      this.#logger.warn(text)
      this.#loggedBreaker = change.state
    }
    if (change.state === 'closed') this.errors.ended()
    this.#events.emit('worker:breaker', change)
  }

  load(change: LoadChange): void {
    this.#logger.info(loadText(change))
    this.#events.emit('worker:load', change)
  }
}

function eventOf({ event }: ActiveRun): RunEvent {
  return event
}
