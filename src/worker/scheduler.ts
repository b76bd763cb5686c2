import { type Clock, pause } from '../core/clock.ts'
import { type RetryPolicy, retryDelayMs } from '../definition/retry.ts'
import { SchedulePass, type SchedulePassOptions, type TickReport } from './schedule-pass.ts'

export interface SchedulerOptions extends SchedulePassOptions {
  readonly clock: Clock
}

/**
 * Turns schedules into jobs, one for each occurrence. Any number of these may run: the store keeps one row for a schedule and
 * an instant. The next occurrence is stored before it is due, so that it also runs where no scheduler lives to see it.
 */
export class Scheduler {
  readonly #options: SchedulerOptions
  readonly #pass: SchedulePass
  #tick: Promise<TickReport> | undefined
  #loop: Promise<void> | undefined
  #stopping: AbortController | undefined

  constructor(options: SchedulerOptions) {
    this.#options = options
    this.#pass = new SchedulePass(options)
  }

  /** One pass. Rejects when the store fails; a definition that fails is reported and left out. */
  tick(): Promise<TickReport> {
    this.#tick ??= this.#pass.run(this.#options.clock.now()).finally(() => {
      this.#tick = undefined
    })
    return this.#tick
  }

  start(): void {
    if (this.#stopping !== undefined && !this.#stopping.signal.aborted) return
    this.#stopping = new AbortController()
    this.#loop = this.#run(this.#stopping.signal)
  }

  /** Resolves when the tick under way has ended. */
  async stop(): Promise<void> {
    this.#stopping?.abort()
    await this.#loop
    await this.#tick?.catch(() => {})
  }

  async #run(signal: AbortSignal): Promise<void> {
    for (let failures = 0; !signal.aborted; ) {
      const wakeAt = await this.#tryTick()
      failures = wakeAt === undefined ? failures + 1 : 0
      await pause(this.#options.clock, this.#pauseMs(wakeAt, failures), signal)
    }
  }

  /** When the next occurrence is due, null when there is none, undefined when the tick failed. */
  async #tryTick(): Promise<number | null | undefined> {
    try {
      return (await this.tick()).nextAt
    } catch (thrown) {
      this.#options.onError(thrown)
      return undefined
    }
  }

  #pauseMs(wakeAt: number | null | undefined, failures: number): number {
    const { clock } = this.#options
    if (wakeAt === undefined) return retryDelayMs(tickRetry, failures, () => clock.random())
    // From the occurrence's own instant and not from the last wake-up: what a tick takes does not add up.
    return Math.min(Math.max((wakeAt ?? Number.POSITIVE_INFINITY) - clock.now(), 0), longestSleepMs)
  }
}

// Short, so that a machine that slept or whose clock was set finds its place soon.
const longestSleepMs = 30_000

// With the jitter, the first pause is one to two seconds and the longest fifteen to thirty.
const tickRetry: RetryPolicy = { strategy: 'exponential', baseMs: 2_000, factor: 2, maxMs: 30_000, jitter: 'equal' }
