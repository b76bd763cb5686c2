import { TreadleError } from '../../core/errors.ts'
import { type Clock, pause } from '../../core/time/clock.ts'
import { type RetryPolicy, retryDelayMs } from '../../definition/policies/retry.ts'
import type { HeldLock } from '../../queue/contract/contract.ts'
import { longestSleepMs, occurrencePace, type Pace } from './pace.ts'
import { SchedulePass, type SchedulePassOptions, type TickReport } from './schedule-pass.ts'
import { lockedError, lockedText, type SchedulerLock } from './scheduler-lock.ts'
import { TickStatistics, type TickSummary, type TickTimes } from './tick-statistics.ts'

export interface SchedulerOptions extends SchedulePassOptions {
  readonly clock: Clock
  readonly pace?: Pace
  /** Only the scheduler that holds the lock follows schedules. The others wait for it. */
  readonly lock?: SchedulerLock
  /** Maximum number of consecutive ticks that take longer than their interval before the scheduler gives up. */
  readonly maxOverruns?: number
  /** Called after a regular tick, while there are schedules to follow. */
  readonly onTick?: (tick: Tick) => void
}

export interface Tick extends TickReport, TickTimes {}

/**
 * Turns schedules into jobs, one for each occurrence. Any number of schedulers may run: the store keeps one row per schedule and
 * instant. The next occurrence is stored before it is due, so it runs even if no scheduler is alive by then.
 */
export class Scheduler {
  readonly #options: SchedulerOptions
  readonly #pass: SchedulePass
  readonly #pace: Pace
  readonly #statistics: TickStatistics
  #tick: Promise<TickReport> | undefined
  #loop: Promise<void> | undefined
  #stopping: AbortController | undefined
  #sleeping: AbortController | undefined
  #isWoken = false
  #enqueued = 0
  #failed = 0
  #lastTickAt: number | null = null
  /** The last time that its clock has shown. */
  #seenAt = Number.NEGATIVE_INFINITY
  /** The owner of the lock it is waiting for, so that this is logged only once. */
  #waitsFor: string | undefined

  constructor(options: SchedulerOptions) {
    this.#options = options
    this.#pass = new SchedulePass({ ...options, ...(options.lock && { beforeStoring: () => options.lock?.refuseLost() }) })
    this.#pace = options.pace ?? occurrencePace
    this.#statistics = new TickStatistics(this.#pace.intervalMs)
  }

  /** Number of occurrences that it has stored. */
  get enqueued(): number {
    return this.#enqueued
  }

  /** Number of failures to store an occurrence of a schedule. */
  get failed(): number {
    return this.#failed
  }

  /** Time of the last successful pass. */
  get lastTickAt(): number | null {
    return this.#lastTickAt
  }

  get summary(): TickSummary {
    return this.#statistics.summary
  }

  /**
   * Runs one pass. Rejects if the store fails or another scheduler holds the lock. A definition that fails is reported and left
   * out.
   */
  tick(): Promise<TickReport> {
    return this.#once(async () => {
      await this.#refuseLocked()
      return this.#pass.run(this.#options.clock.now(), this.#pace.horizonMs)
    })
  }

  /** Runs one pass as if it were this instant. */
  tickAt(at: number, jobs: readonly string[] | null): Promise<TickReport> {
    return this.#once(async () => {
      await this.#refuseLocked()
      return this.#pass.runAt(at, this.#options.clock.now(), jobs)
    })
  }

  /** Resolves after the first pass, whether it succeeded or not. */
  async start(): Promise<void> {
    if (this.#stopping !== undefined && !this.#stopping.signal.aborted) return
    this.#stopping = new AbortController()
    const { signal } = this.#stopping
    this.#isWoken = false
    await new Promise<void>((resolve) => {
      this.#loop = this.#run(signal, resolve).finally(resolve)
      this.#loop.catch(() => {})
    })
  }

  /** Resolves when the scheduler has stopped; rejects with the reason if it gave up. */
  async ended(): Promise<void> {
    await this.#loop
  }

  /** Whether the end of a run of this job may continue a repeat. */
  hasRepeatOf(job: string): boolean {
    return this.#pass.hasRepeatOf(job)
  }

  /** Runs a pass now, because what a schedule waits for may have happened. */
  wake(): void {
    this.#isWoken = true
    this.#sleeping?.abort()
  }

  /** Resolves when the current tick has ended. */
  async stop(): Promise<void> {
    this.#stopping?.abort()
    this.wake()
    await this.#loop?.catch(() => {})
    await this.#tick?.catch(() => {})
    await this.#options.lock?.release().catch((error: unknown) => this.#options.onError(error))
  }

  #once(work: () => Promise<TickReport>): Promise<TickReport> {
    const { lock, onError } = this.#options
    this.#tick ??= this.#counted(lock === undefined ? work : () => lock.during(work, onError)).finally(() => {
      this.#tick = undefined
    })
    return this.#tick
  }

  async #counted(work: () => Promise<TickReport>): Promise<TickReport> {
    const report = await work()
    this.#lastTickAt = this.#options.clock.now()
    this.#enqueued += report.enqueued
    this.#failed += report.failed
    return report
  }

  async #refuseLocked(): Promise<void> {
    const by = (await this.#options.lock?.take()) ?? null
    if (by !== null) throw lockedError(by)
  }

  async #run(signal: AbortSignal, onFirst: () => void): Promise<void> {
    const { clock } = this.#options
    let plannedAt = clock.now()
    let isDue = true
    for (let failures = 0; !signal.aborted; ) {
      const startedAt = clock.now()
      this.#seenAt = Math.max(this.#seenAt, startedAt)
      const answer = await this.#tryTick()
      onFirst()
      failures = answer === 'failed' ? failures + 1 : 0
      const endedAt = clock.now()
      if (isDue && answer !== 'failed' && 'enqueued' in answer) this.#count(answer, { plannedAt, startedAt, endedAt })
      plannedAt = this.#nextWake(answer, failures, endedAt)
      isDue = await this.#sleepUntil(plannedAt, signal)
    }
  }

  async #tryTick(): Promise<TickReport | HeldLock | 'failed'> {
    try {
      const by = (await this.#options.lock?.take()) ?? null
      this.#sayLock(by)
      return by ?? (await this.#once(() => this.#pass.run(this.#options.clock.now(), this.#pace.horizonMs)))
    } catch (thrown) {
      this.#options.onError(thrown)
      return 'failed'
    }
  }

  #nextWake(answer: TickReport | HeldLock | 'failed', failures: number, now: number): number {
    if (answer === 'failed') return now + retryDelayMs(tickRetry, failures, () => this.#options.clock.random())
    if ('owner' in answer) return now + Math.min(Math.max(answer.expiresAt - now, shortestLockWaitMs), longestSleepMs)
    return this.#pace.wakeAt(now, answer.nextAt)
  }

  #count(report: TickReport, times: TickTimes): void {
    const { maxOverruns } = this.#options
    if (!this.#pass.isFollowing) return
    this.#statistics.add(times)
    this.#options.onTick?.({ ...report, ...times })
    if (maxOverruns === undefined || this.#statistics.overrunsInARow < maxOverruns) return
    const message = `${maxOverruns} ticks in a row took longer than ${this.#pace.intervalMs} ms, the last one ${times.endedAt - times.startedAt} ms: the database or this machine is too slow for the interval`
    throw new TreadleError('SCHEDULER_OVERRUN', message)
  }

  #sayLock(by: HeldLock | null): void {
    const { logger } = this.#options
    if (by !== null && by.owner !== this.#waitsFor) logger.warn(`${lockedText(by)}; waiting for it`)
    if (by === null && this.#waitsFor !== undefined) logger.info('this scheduler has the lock now')
    this.#waitsFor = by?.owner
  }

  /**
   * Sleeps in short parts and checks the clock after each, because machines sleep and clocks are set. Returns false if it was
   * woken early or the clock was set back: then the planned time no longer applies.
   */
  async #sleepUntil(until: number, signal: AbortSignal): Promise<boolean> {
    const { clock } = this.#options
    for (let now = clock.now(); now < until && !this.#isSetBack(now) && !this.#isWoken && !signal.aborted; ) {
      this.#sleeping = new AbortController()
      await pause(clock, Math.min(until - now, sleepPartMs), this.#sleeping.signal)
      await this.#renewLock()
      if (!signal.aborted && (await this.#isChanged())) break
      now = clock.now()
    }
    this.#isWoken = false
    return clock.now() >= until
  }

  /** Whether the clock is behind a time that it has already shown. Logged if the difference is noticeable. */
  #isSetBack(now: number): boolean {
    const byMs = this.#seenAt - now
    this.#seenAt = now
    if (byMs <= 0) return false
    this.#statistics.setBack()
    if (byMs >= noticeableMs) this.#options.logger.warn(setBackText(byMs))
    return true
  }

  /** The lock must be renewed even if the time between two ticks is long. */
  async #renewLock(): Promise<void> {
    if (this.#waitsFor === undefined) await this.#options.lock?.take().catch((error: unknown) => this.#options.onError(error))
  }

  /** Whether a schedule was paused, resumed or changed. If the database does not respond, the next tick handles that. */
  async #isChanged(): Promise<boolean> {
    return this.#pass.isOutdated().catch(() => false)
  }
}

/**
 * How long to sleep before checking the clock and the store's revision again. So the scheduler resumes after the machine wakes
 * up, and picks up new or changed schedules, well within a second.
 */
const sleepPartMs = 500

const shortestLockWaitMs = 1_000
const noticeableMs = 1_000

function setBackText(byMs: number): string {
  return `the clock was set back by ${byMs} ms: schedules continue from there, and runs already stored for times that come again are not stored twice`
}

// With jitter, the first pause is one to two seconds and the longest 15 to 30 seconds.
const tickRetry: RetryPolicy = { strategy: 'exponential', baseMs: 2_000, factor: 2, maxMs: 30_000, jitter: 'equal' }
