import { type Clock, pause, type Timer } from '../../core/time/clock.ts'
import type { Lease } from '../../queue/contract/contract.ts'
import type { ScheduledRun } from '../admit/occurrence.ts'
import type { RunEvent } from '../events.ts'
import { askedAgain } from './asked-again.ts'
import type { Departure } from './control.ts'
import type { Deadline } from './deadline.ts'
import { OpenCalls } from './open-calls.ts'
import type { RunTrace } from './run-trace.ts'
import { AbandonedError, type StopReason, stopError } from './stop-reason.ts'
import type { RunTransaction } from './transaction.ts'

/** How long a handler may continue after its signal was aborted, before its job is settled without it. */
export const abortGraceMs = 5_000

/** How often to report that a run which keeps its slot has not ended. */
const overrunEveryMs = 60_000

/** How to kill a handler that does not end by itself. */
interface Killer {
  readonly graceMs: number
  readonly kill: () => void
}

/** Whether the handler of a run may be called now: its lease has enough time left, and the rates of its job allow it. */
export interface StartGate {
  /** For how long it may be called without asking again; 0 means not now. */
  openMs(run: ActiveRun): number
  /** Resolves when it is worth asking again. A run that must no longer begin is told to stop. */
  wait(run: ActiveRun): Promise<void>
  /** For how long the rates of its job hold it back; 0 means not at all. Others may start first in that time. */
  heldMs(run: ActiveRun): number
  /** A run that would be held back for longer should return to the queue. */
  readonly longestHoldMs: number
  /** Called right before the handler. */
  pass(run: ActiveRun): void
  /** Called when the handler call has returned: it awaits something or has ended. */
  passed(run: ActiveRun): void
}

/** For runs that nothing else could begin. */
const alwaysOpen: StartGate = {
  openMs: () => Number.POSITIVE_INFINITY,
  wait: async () => {},
  heldMs: () => 0,
  longestHoldMs: 0,
  pass: () => {},
  passed: () => {},
}

const justNow = () => 0

/** One lease being run: what the worker's loops need in order to stop it. */
export class ActiveRun {
  readonly lease: Lease
  readonly startedAt: number
  /** Its display name; known once the envelope is open. */
  name: string
  /** The first reason wins. */
  stopReason: StopReason | null = null
  /** Whether the handler was left behind because it ignored its signal. */
  abandoned = false
  /** Whether its job must not be begun again, whatever happens to it. */
  isBegunForGood = false
  /** Set if it is a run of a schedule; null for a job that was dispatched. */
  scheduled: ScheduledRun | null = null
  /** The transaction in which it can end its job; null if the job does not use one. */
  transaction: RunTransaction | null = null
  /** How its handler left the run. Applies even if the handler itself caught the signal. */
  departure: Departure | null = null
  /** The deadline of its timeout, which excludes time that its rates hold it back. */
  deadline: Deadline | null = null
  /** Whether code of its job was called: its handler, or a filter before it. Until then the run only asks the queue. */
  isCalled = false
  /** The trace of this attempt, if traces are collected. */
  trace: RunTrace | null = null
  /** Milliseconds since its lease was requested or last renewed. */
  sinceAsked: () => number
  readonly #clock: Clock
  readonly #gate: StartGate
  #calls: OpenCalls | undefined
  #controller: AbortController | undefined
  #graceTimer: Timer | undefined
  /** Settles the guard without the handler. */
  #abandon: ((error: AbandonedError) => void) | undefined
  #onOverrun: ((overrunMs: number) => void) | undefined
  #killer: Killer | undefined
  #stoppedAt = 0

  constructor(lease: Lease, clock: Clock, gate: StartGate = alwaysOpen, sinceAsked: () => number = justNow) {
    this.lease = lease
    this.sinceAsked = sinceAsked
    this.startedAt = clock.now()
    this.name = lease.envelope.job
    this.#clock = clock
    this.#gate = gate
  }

  /** Whether its handler may be called at once. Usually it may, and nothing has to be awaited. */
  get mayBegin(): boolean {
    return this.#gate.openMs(this) > 0
  }

  /** Resolves when its handler may be called, or when it was told to stop: the caller must check the reason. */
  async untilItMayBegin(): Promise<void> {
    while (this.stopReason === null && !this.mayBegin) await this.#gate.wait(this)
  }

  /** Whether its handler may be called at once, by its lease and by the rates of its job. */
  get isItsTurn(): boolean {
    return this.mayBegin && this.#gate.heldMs(this) <= 0
  }

  /**
   * Resolves to 0 when it is the handler's turn, or when the run was told to stop. The caller must check both again, as another
   * run may have started first. Otherwise resolves to how long its rates would hold it back, if that is longer than allowed.
   */
  async untilItsTurn(longestMs: number = this.#gate.longestHoldMs): Promise<number> {
    while (this.stopReason === null && !this.isItsTurn) {
      const heldMs = this.#gate.heldMs(this)
      if (heldMs > longestMs) return heldMs
      if (heldMs > 0) await this.#hold(heldMs)
      else await this.#gate.wait(this)
    }
    return 0
  }

  /** Calls the handler, and counts its start. */
  begin<Answer>(handler: () => Answer): Answer {
    this.#gate.pass(this)
    try {
      return handler()
    } finally {
      this.#gate.passed(this)
    }
  }

  /**
   * Like `begin`, for a handler that is called elsewhere some time after this resolves. Returns for how long it may be called.
   * Throws if the run was told to stop.
   */
  async beginElsewhere(): Promise<number> {
    while (this.stopReason === null && !this.isItsTurn) await this.untilItsTurn(Number.POSITIVE_INFINITY)
    if (this.stopReason !== null) throw stopError(this.stopReason, this.lease)
    const openMs = this.#gate.openMs(this)
    this.#gate.pass(this)
    return openMs
  }

  /** Asks the queue something for the handler: see `askedAgain`. */
  asked<Answer>(ask: () => Promise<Answer>): Promise<Answer> {
    return askedAgain(ask, this.#clock, this)
  }

  /** Gives the handler the answer to a call of its context. Its job does not end before that. */
  called<Answer>(call: Promise<Answer>): Promise<Answer> {
    this.#calls ??= new OpenCalls()
    return this.#calls.add(call)
  }

  /** The calls that its handler has not waited for, once it has returned; null if there are none. */
  get openCalls(): OpenCalls | null {
    return this.#calls === undefined || this.#calls.isEmpty ? null : this.#calls
  }

  /** Whether its handler has ended its job, or is about to, although it may still be running. */
  get isEnding(): boolean {
    return this.transaction?.isEnding === true
  }

  get event(): RunEvent {
    const { envelope, attempt } = this.lease
    return { id: envelope.id, job: envelope.job, name: this.name, queue: envelope.queue, attempt }
  }

  /** Created on first use: most handlers never need it. */
  get signal(): AbortSignal {
    if (this.#controller === undefined) {
      this.#controller = new AbortController()
      if (this.stopReason !== null) this.#controller.abort(stopError(this.stopReason, this.lease))
    }
    return this.#controller.signal
  }

  stop(reason: StopReason): void {
    if (reason === 'shutdown') this.#letGo()
    if (this.stopReason !== null) return
    this.stopReason = reason
    this.#stoppedAt = this.#clock.now()
    this.#controller?.abort(stopError(reason, this.lease))
    this.#startGrace()
  }

  /** Waits no longer for its handler, if that was told to stop. */
  leaveBehind(): void {
    if (this.stopReason === null || this.#abandon === undefined) return
    this.#graceTimer?.cancel()
    this.#endGrace()
  }

  /** Leaves the handler, from within it. */
  leave(departure: Departure): never {
    this.departure = departure
    throw departure
  }

  /**
   * From now on the run keeps its slot until its handler has ended, even past its timeout or when cancelled: settling it earlier
   * would let another run start next to it. A lost lease no longer has a slot, and a shutdown ends the handler together with the
   * process.
   */
  keepSlot(onOverrun: (overrunMs: number) => void): void {
    this.#onOverrun = onOverrun
  }

  /**
   * From now on the handler can be killed, and will be, `graceMs` after it was told to stop. It is neither waited for nor left
   * behind.
   */
  killAfter(graceMs: number, kill: () => void): void {
    this.#killer = { graceMs, kill }
  }

  /** Settles like the handler, or rejects if the handler does not end in time after it was told to stop. */
  guard<Result>(handler: Promise<Result>): Promise<Result> {
    this.isCalled = true
    return new Promise((resolve, reject) => {
      this.#abandon = reject
      this.#startGrace()
      handler.then(
        (result) => {
          this.#handlerEnded()
          resolve(result)
        },
        (thrown) => {
          this.#handlerEnded()
          reject(thrown)
        },
      )
    })
  }

  async #hold(heldMs: number): Promise<void> {
    this.deadline?.pause()
    await pause(this.#clock, heldMs, this.signal)
    this.deadline?.resume()
  }

  #handlerEnded(): void {
    this.#abandon = undefined
    this.#graceTimer?.cancel()
    this.#graceTimer = undefined
    this.#killer = undefined
    // A handler that blocked the event loop has ended before its timer could fire.
    if (this.deadline?.isOver) this.stop('timeout')
  }

  #startGrace(): void {
    if (this.stopReason === null || this.#abandon === undefined) return
    this.#graceTimer ??= this.#clock.timer(this.#killer?.graceMs ?? abortGraceMs, () => this.#endGrace())
  }

  #endGrace(): void {
    if (this.#killer !== undefined) {
      this.#killer.kill()
      // Only a handler stuck in a system call survives that. Treat it like any other that does not end.
      this.#killer = undefined
      this.#graceTimer = this.#clock.timer(abortGraceMs, () => this.#endGrace())
      return
    }
    if (this.#onOverrun === undefined || this.stopReason === 'lost') {
      this.#abandonHandler()
      return
    }
    this.#onOverrun(this.#clock.now() - this.#stoppedAt)
    this.#graceTimer = this.#clock.timer(overrunEveryMs, () => this.#endGrace())
  }

  #abandonHandler(): void {
    if (this.#abandon === undefined) return
    this.abandoned = true
    this.#abandon(new AbandonedError())
  }

  /** A run that was already told to stop gets its grace period again, but no longer than a shutdown waits. */
  #letGo(): void {
    if (this.#onOverrun === undefined && this.#killer === undefined) return
    this.#onOverrun = undefined
    if (this.#killer !== undefined) this.killAfter(Math.min(this.#killer.graceMs, abortGraceMs), this.#killer.kill)
    this.#graceTimer?.cancel()
    this.#graceTimer = undefined
    this.#startGrace()
  }
}
