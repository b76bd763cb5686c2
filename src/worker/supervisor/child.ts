import type { Clock, Timer } from '../../core/time/clock.ts'
import type { HeldLease } from '../../queue/contract/store.ts'
import type { RunReport } from '../runs/report.ts'
import type { ChildFailure, ChildHandle, ChildMessage, Exit, StartChild } from './messages.ts'
import { type Wear, type WearLimits, wornBy } from './wear.ts'

export interface ChildDeps {
  readonly clock: Clock
  readonly start: StartChild
  readonly wearLimits: WearLimits
  /** Called when it was killed because it did not exit in time. */
  readonly onOverstayed: (child: Child) => void
}

/** One worker process, from start to end. */
export class Child {
  readonly place: number
  readonly startedAt: number
  /** Resolves to false if the process ended before it was ready. */
  readonly ready: Promise<boolean>
  readonly ended: Promise<Exit>
  /** The name under which it claims jobs; null until it does. */
  owner: string | null = null
  failure: ChildFailure | null = null
  report: RunReport | null = null
  worn: Wear | null = null
  /** The runs that it is killed for. */
  overdue: readonly HeldLease[] = []
  isDraining = false
  readonly #deps: ChildDeps
  readonly #handle: ChildHandle
  #hasEnded = false
  #patience: Timer | undefined
  #onReady: (isReady: boolean) => void = () => {}
  #onEnded: (exit: Exit) => void = () => {}

  constructor(place: number, deps: ChildDeps) {
    this.place = place
    this.startedAt = deps.clock.now()
    this.#deps = deps
    this.ready = new Promise((resolve) => {
      this.#onReady = resolve
    })
    this.ended = new Promise((resolve) => {
      this.#onEnded = resolve
    })
    this.#handle = deps.start(place, {
      onMessage: (message) => this.#receive(message),
      onExit: (exit) => this.#end(exit),
    })
  }

  get pid(): number {
    return this.#handle.pid
  }

  /** Whether it is working and not about to end. */
  get isWorking(): boolean {
    return this.owner !== null && !this.isDraining && !this.#hasEnded
  }

  /** Lets it finish its running jobs. It is killed if that takes longer than this. */
  drain(longestMs: number): void {
    if (this.isDraining || this.#hasEnded) return
    this.isDraining = true
    this.#handle.tell('drain')
    this.#killAfter(longestMs)
  }

  abort(longestMs: number): void {
    if (this.#hasEnded) return
    this.isDraining = true
    this.#handle.tell('abort')
    this.#killAfter(longestMs)
  }

  kill(): void {
    if (!this.#hasEnded) this.#handle.kill()
  }

  #receive(message: ChildMessage): void {
    switch (message.kind) {
      case 'ready':
        this.owner = message.owner
        this.#onReady(true)
        return
      case 'usage':
        this.worn ??= wornBy(message, this.#deps.wearLimits)
        return
      case 'abandoned':
        this.worn = 'abandoned'
        return
      case 'failed':
        this.failure = { code: message.code, message: message.message }
        return
      case 'report':
        this.report = message.report
        return
    }
  }

  #end(exit: Exit): void {
    this.#hasEnded = true
    this.#patience?.cancel()
    this.#onReady(false)
    this.#onEnded(exit)
  }

  #killAfter(longestMs: number): void {
    this.#patience?.cancel()
    this.#patience = this.#deps.clock.timer(longestMs, () => {
      this.#deps.onOverstayed(this)
      this.kill()
    })
  }
}
