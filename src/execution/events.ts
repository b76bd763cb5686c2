import { TreadleError } from '../core/errors.ts'
import { suggestion } from '../core/options.ts'
import type { MachineUse } from '../core/process/machine.ts'
import { shown } from '../core/text/shown.ts'
import type { DeadReason } from '../queue/contract/contract.ts'
import type { BreakerState } from '../queue/contract/stores/worker-store.ts'

/** The run that an event is about. */
export interface RunEvent {
  readonly id: string
  readonly job: string
  readonly name: string
  readonly queue: string
  readonly attempt: number
}

/** How busy a worker's machine, process and event loop are. */
export interface LoadMeasure extends MachineUse {
  /** The longest delay of the event loop. */
  readonly lagMs: number
}

/** All events that can be listened to. */
export interface TreadleEvents {
  /**
   * A job was stored. In a transaction of the caller, that may still be rolled back. Runs of schedules emit `schedule:enqueued`
   * instead.
   */
  'job:dispatched': Omit<RunEvent, 'attempt'> & { readonly dueAt: number; readonly inTransaction?: true }
  'job:started': RunEvent
  'job:succeeded': RunEvent & { readonly durationMs: number }
  /** An attempt failed and another one follows. */
  'job:failed': RunEvent & { readonly error: unknown; readonly retryInMs: number }
  'job:dead': RunEvent & { readonly reason: DeadReason; readonly error: unknown }
  'job:cancelled': RunEvent
  'job:skipped': RunEvent & { readonly why: string }
  'job:snoozed': RunEvent & { readonly delayMs: number; readonly why: string | null }
  /** It waits for its children: to run again or, if its handler has ended, to end with the last of them. */
  'job:waiting': RunEvent
  /** Returned to the queue unfinished by a shutdown, without using up an attempt. */
  'job:released': RunEvent
  /** The lease had passed to another worker: the work of this run may be done again. */
  'job:lost': RunEvent
  /** The handler did not end after its signal was aborted, so its job was settled without it. */
  'job:abandoned': RunEvent
  /** A run was told to stop `overrunMs` ago and has not ended. It keeps its slot and is not settled until it ends. */
  'job:overrun': RunEvent & { readonly overrunMs: number }
  /** A job without a signature was accepted, because of `unsigned: 'accept'`. */
  'job:unsigned': Omit<RunEvent, 'attempt'>
  /** A worker starts to claim jobs under this name. */
  'worker:started': { readonly owner: string }
  /** A call of the worker to its queue failed. The worker recovers by itself. */
  'worker:error': { readonly error: unknown }
  /** The event loop was blocked while jobs ran. One of the suspects, which may have ended by now, is to blame. */
  'worker:stalled': {
    readonly stalledMs: number
    /** How much of that this process spent computing, if known: hardly any if the process was suspended. */
    readonly computedMs?: number
    readonly running: readonly RunEvent[]
    readonly suspects: readonly RunEvent[]
  }
  /**
   * The queue failed so often in a row that no jobs are claimed for a while (`open`), it is being tested again (`half-open`), or
   * it answers again (`closed`).
   */
  'worker:breaker': { readonly state: BreakerState; readonly failures: number; readonly error?: unknown }
  /** A worker allows itself notably fewer jobs at once, or more again, because of the load. */
  'worker:load': { readonly allowed: number; readonly concurrency: number; readonly load: LoadMeasure }
  'schedule:enqueued': { readonly schedule: string; readonly at: number }
  /**
   * No scheduler was running when a schedule was due. The runs in `madeUp` run now; `leftOut` is how many do not, counted up to
   * 1,000.
   */
  'schedule:missed': { readonly schedule: string; readonly madeUp: readonly number[]; readonly leftOut: number }
  /** A scheduler checked its schedules at its regular interval. */
  'schedule:tick': {
    readonly plannedAt: number
    readonly startedAt: number
    readonly endedAt: number
    readonly enqueued: number
    readonly failed: number
    readonly nextAt: number | null
  }
}

/** The events of jobs, which can contain more details on request. */
export type JobEventName = Extract<keyof TreadleEvents, `job:${string}`>

const known: Readonly<Record<keyof TreadleEvents, true>> = {
  'job:dispatched': true,
  'job:started': true,
  'job:succeeded': true,
  'job:failed': true,
  'job:dead': true,
  'job:cancelled': true,
  'job:skipped': true,
  'job:snoozed': true,
  'job:waiting': true,
  'job:released': true,
  'job:lost': true,
  'job:abandoned': true,
  'job:overrun': true,
  'job:unsigned': true,
  'worker:started': true,
  'worker:error': true,
  'worker:stalled': true,
  'worker:breaker': true,
  'worker:load': true,
  'schedule:enqueued': true,
  'schedule:missed': true,
  'schedule:tick': true,
}

export const eventNames = Object.keys(known) as readonly (keyof TreadleEvents)[]

/** Refuses a listener that could never be called: a misspelt event, or not a function. */
export function refuseUnheard(name: unknown, listener: unknown): void {
  if (typeof name !== 'string' || !Object.hasOwn(known, name)) {
    const near = typeof name === 'string' ? suggestion(name, Object.keys(known)) : ''
    throw new TreadleError('CONFIG_INVALID', `There is no event ${shown(name)} to listen to${near}`)
  }
  if (typeof listener === 'function') return
  throw new TreadleError('CONFIG_INVALID', `A listener of "${name}" must be a function, got ${shown(listener)}`)
}
