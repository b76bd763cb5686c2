import { TreadleError } from '../../core/errors.ts'
import { type Clock, pause, type Timer } from '../../core/time/clock.ts'
import type { Lease } from '../../queue/contract/contract.ts'
import type { ScheduledRun } from '../admit/occurrence.ts'
import type { RunEvent } from '../events.ts'
import type { Departure } from './control.ts'
import type { Deadline } from './deadline.ts'
import type { RunTrace } from './run-trace.ts'
import type { RunTransaction } from './transaction.ts'

/** Why a run is to stop before its handler ended. */
export type StopReason = 'timeout' | 'cancelled' | 'shutdown' | 'lost'

/** How long a handler may go on after its signal was aborted, before its job is settled without it. */
export const abortGraceMs = 5_000

/** How often it is said that a run which keeps its slot has not ended. */
const overrunEveryMs = 60_000

/** How to end a handler that does not end by itself. */
interface Killer {
  readonly graceMs: number
  readonly kill: () => void
}

/** Whether the handler of a run may be called now: its lease has enough time left, and the rates of its job allow it. */
export interface StartGate {
  /** For how long it may be called without asking again; 0 is not now. */
  openMs(run: ActiveRun): number
  /** Resolves when it is worth asking again. A run that must not begin any more is told to stop. */
  wait(run: ActiveRun): Promise<void>
  /** For how long the rates of its job hold it back; 0 is not at all. Others may come first meanwhile. */
  heldMs(run: ActiveRun): number
  /** A run that would be held for longer is better off in the queue. */
  readonly longestHoldMs: number
  /** The handler is called now. */
  pass(run: ActiveRun): void
  /** The handler was called, and waits for something or has ended. */
  passed(run: ActiveRun): void
}

/** For runs that nobody else could begin. */
const alwaysOpen: StartGate = {
  openMs: () => Number.POSITIVE_INFINITY,
  wait: async () => {},
  heldMs: () => 0,
  longestHoldMs: 0,
  pass: () => {},
  passed: () => {},
}

const justNow = () => 0

/** One lease that is being run: what the worker's loops need in order to stop it. */
export class ActiveRun {
  readonly lease: Lease
  readonly startedAt: number
  /** What people call it: known once the envelope is open. */
  name: string
  /** The first reason counts. */
  stopReason: StopReason | null = null
  /** The handler was left behind: it ignored its signal. */
  abandoned = false
  /** Its job must not be begun again, whatever becomes of it. */
  isBegunForGood = false
  /** The run of a schedule that it is; null for a job that was dispatched. */
  scheduled: ScheduledRun | null = null
  /** In which it can end its job; null where the job does not ask for one. */
  transaction: RunTransaction | null = null
  /** How its handler left it, which holds also where the handler itself caught what it left by. */
  departure: Departure | null = null
  /** Of its timeout, which does not count the time that its rates hold it back. */
  deadline: Deadline | null = null
  /** Of this attempt, where somebody collects it. */
  trace: RunTrace | null = null
  /** The milliseconds since its lease was asked for, or last renewed. */
  sinceAsked: () => number
  readonly #clock: Clock
  readonly #gate: StartGate
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

  /** Whether its handler may be called at once: most often it may, and nothing has to be awaited. */
  get mayBegin(): boolean {
    return this.#gate.openMs(this) > 0
  }

  /** Resolves when its handler may be called, or when it was told to stop: the caller looks at the reason. */
  async untilItMayBegin(): Promise<void> {
    while (this.stopReason === null && !this.mayBegin) await this.#gate.wait(this)
  }

  /** Whether its handler may be called at once, by its lease and by the rates of its job. */
  get isItsTurn(): boolean {
    return this.mayBegin && this.#gate.heldMs(this) <= 0
  }

  /**
   * Resolves to 0 when it is the turn of its handler, or when it was told to stop: the caller looks at both once more, since
   * another one may have come first. Otherwise to the time that its rates would hold it, longer than it may be held.
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
   * The same for a handler that is called elsewhere, some time after the answer: gives for how long that holds. Throws when the
   * run was told to stop.
   */
  async beginElsewhere(): Promise<number> {
    while (this.stopReason === null && !this.isItsTurn) await this.untilItsTurn(Number.POSITIVE_INFINITY)
    if (this.stopReason !== null) throw stopError(this.stopReason, this.lease)
    const openMs = this.#gate.openMs(this)
    this.#gate.pass(this)
    return openMs
  }

  /** Its handler has ended its job, or is about to, although it may still run. */
  get isEnding(): boolean {
    return this.transaction?.isEnding === true
  }

  get event(): RunEvent {
    const { envelope, attempt } = this.lease
    return { id: envelope.id, job: envelope.job, name: this.name, queue: envelope.queue, attempt }
  }

  /** Made when it is first asked for: most handlers never do. */
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

  /** Out of the handler, from within it. */
  leave(departure: Departure): never {
    this.departure = departure
    throw departure
  }

  /**
   * From here on the run keeps its slot until its handler has ended, over its time or cancelled: settled before, it would make
   * room for another one beside it. A lost lease has no slot any more, and a shutdown ends the handler together with the process.
   */
  keepSlot(onOverrun: (overrunMs: number) => void): void {
    this.#onOverrun = onOverrun
  }

  /** From here on the handler can be killed, and is, so long after it was told to stop: it is neither waited for nor left behind. */
  killAfter(graceMs: number, kill: () => void): void {
    this.#killer = { graceMs, kill }
  }

  /** Settles like the handler, or rejects when the handler does not end in time after it was told to stop. */
  guard<Result>(handler: Promise<Result>): Promise<Result> {
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
    // One that never let go of the event loop ended before its timer could tell.
    if (this.deadline?.isOver) this.stop('timeout')
  }

  #startGrace(): void {
    if (this.stopReason === null || this.#abandon === undefined) return
    this.#graceTimer ??= this.#clock.timer(this.#killer?.graceMs ?? abortGraceMs, () => this.#endGrace())
  }

  #endGrace(): void {
    if (this.#killer !== undefined) {
      this.#killer.kill()
      // Only what hangs in the system itself survives that, and is then treated like any other that does not end.
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

  /** A run that was told to stop before has its grace once more, but no longer than a shutdown waits. */
  #letGo(): void {
    if (this.#onOverrun === undefined && this.#killer === undefined) return
    this.#onOverrun = undefined
    if (this.#killer !== undefined) this.killAfter(Math.min(this.#killer.graceMs, abortGraceMs), this.#killer.kill)
    this.#graceTimer?.cancel()
    this.#graceTimer = undefined
    this.#startGrace()
  }
}

/** The handler ignored its signal. */
export class AbandonedError extends Error {}

export function stopError(reason: StopReason, lease: Lease): TreadleError {
  const { job, id } = lease.envelope
  switch (reason) {
    case 'timeout':
      return new TreadleError('TIMEOUT', `Job "${job}" (${id}) was over its timeout`)
    case 'cancelled':
      return new TreadleError('STOPPED', `Job "${job}" (${id}) was cancelled`)
    case 'shutdown':
      return new TreadleError('STOPPED', `The worker shuts down: job "${job}" (${id}) goes back to its queue`)
    case 'lost':
      return new TreadleError('STOPPED', `The lease of job "${job}" (${id}) has passed to another worker`)
  }
}
