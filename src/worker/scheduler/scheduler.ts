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
  /** Only the scheduler that has it follows schedules; the others wait for it. */
  readonly lock?: SchedulerLock
  /** Gives up after this many ticks in a row that took longer than their interval. */
  readonly maxOverruns?: number
  /** After a tick that was due by the pace, while there are schedules to follow. */
  readonly onTick?: (tick: Tick) => void
}

export interface Tick extends TickReport, TickTimes {}

/**
 * Turns schedules into jobs, one for each occurrence. Any number of these may run: the store keeps one row for a schedule and
 * an instant. The next occurrence is stored before it is due, so that it also runs where no scheduler lives to see it.
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
  /** The time that its clock has shown last. */
  #seenAt = Number.NEGATIVE_INFINITY
  /** Whose lock is being waited for, so that it is said once. */
  #waitsFor: string | undefined

  constructor(options: SchedulerOptions) {
    this.#options = options
    this.#pass = new SchedulePass({ ...options, ...(options.lock && { beforeStoring: () => options.lock?.refuseLost() }) })
    this.#pace = options.pace ?? occurrencePace
    this.#statistics = new TickStatistics(this.#pace.intervalMs)
  }

  /** How many occurrences it has stored. */
  get enqueued(): number {
    return this.#enqueued
  }

  /** How often something of a schedule could not be stored. */
  get failed(): number {
    return this.#failed
  }

  /** When it last looked at its schedules, and could. */
  get lastTickAt(): number | null {
    return this.#lastTickAt
  }

  get summary(): TickSummary {
    return this.#statistics.summary
  }

  /** One pass. Rejects when the store fails or another scheduler has the lock; a definition that fails is reported and left out. */
  tick(): Promise<TickReport> {
    return this.#once(async () => {
      await this.#refuseLocked()
      return this.#pass.run(this.#options.clock.now(), this.#pace.horizonMs)
    })
  }

  /** One pass as if it were this instant. */
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

  /** Resolves when the scheduler has given up; rejects with the reason. */
  async ended(): Promise<void> {
    await this.#loop
  }

  /** Whether the end of a run of this job may let a repeat go on. */
  hasRepeatOf(job: string): boolean {
    return this.#pass.hasRepeatOf(job)
  }

  /** Looks now: what a schedule waits for may have happened. */
  wake(): void {
    this.#isWoken = true
    this.#sleeping?.abort()
  }

  /** Resolves when the tick under way has ended. */
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
   * In short parts, looking at the clock after each: a machine sleeps, and clocks are set. False when it was woken before, or the
   * clock was set back: then nothing that was planned holds any more.
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

  /** Whether the clock stands before a time that it has shown already. It is said where that is noticed by people. */
  #isSetBack(now: number): boolean {
    const byMs = this.#seenAt - now
    this.#seenAt = now
    if (byMs <= 0) return false
    this.#statistics.setBack()
    if (byMs >= noticeableMs) this.#options.logger.warn(setBackText(byMs))
    return true
  }

  /** However long the time between two ticks is, the lock's is short. */
  async #renewLock(): Promise<void> {
    if (this.#waitsFor === undefined) await this.#options.lock?.take().catch((error: unknown) => this.#options.onError(error))
  }

  /** Somebody paused, resumed or changed a schedule. A database that does not answer is the next tick's affair. */
  async #isChanged(): Promise<boolean> {
    return this.#pass.isOutdated().catch(() => false)
  }
}

/**
 * After so long without a look at the clock and the revision of the store, a machine that woke up goes on, and a schedule that was
 * made or changed is followed: well within a second.
 */
const sleepPartMs = 500

const shortestLockWaitMs = 1_000
const noticeableMs = 1_000

function setBackText(byMs: number): string {
  return `the clock was set back by ${byMs} ms: schedules go on from there, but what they have stored for the instants that come again is not stored twice`
}

// With the jitter, the first pause is one to two seconds and the longest fifteen to thirty.
const tickRetry: RetryPolicy = { strategy: 'exponential', baseMs: 2_000, factor: 2, maxMs: 30_000, jitter: 'equal' }
