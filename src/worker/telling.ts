import { messageOf } from '../core/errors.ts'
import type { Events } from '../core/events.ts'
import type { Logger } from '../core/logger.ts'
import type { ActiveRun } from '../execution/active-run.ts'
import type { RunEvent, TreadleEvents } from '../execution/events.ts'
import type { BreakerChange, BreakerConfig } from './breaker.ts'
import { breakerText } from './breaker-words.ts'
import type { LoadChange } from './load-control.ts'
import { loadText } from './load-words.ts'
import type { Stall } from './stall-watch.ts'
import { stallText } from './stall-words.ts'

/** What a worker has to say of itself, to whoever reads its log and to whoever listens. */
export class Telling {
  readonly #logger: Logger
  readonly #events: Events<TreadleEvents>

  constructor(logger: Logger, events: Events<TreadleEvents>) {
    this.#logger = logger
    this.#events = events
  }

  /** A call failed, and is made again. */
  error(error: unknown): void {
    this.#logger.error(`${messageOf(error)}; trying again`)
    this.#events.emit('worker:error', { error })
  }

  /** A call failed, and is not: `what` says what came of it. */
  failed(what: string, error: unknown): void {
    this.#logger.error(`${what}: ${messageOf(error)}`)
    this.#events.emit('worker:error', { error })
  }

  stalled(stall: Stall): void {
    const { stalledMs, running, suspects } = stall
    this.#logger.warn(stallText(stall))
    this.#events.emit('worker:stalled', { stalledMs, running: running.map(eventOf), suspects: suspects.map(eventOf) })
  }

  breaker(change: BreakerChange, config: BreakerConfig): void {
    const text = breakerText(change, config)
    if (text !== undefined) this.#logger.warn(text)
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
