import { TreadleError } from '../core/errors.ts'
import { suggestion } from '../core/options.ts'
import type { MachineUse } from '../core/process/machine.ts'
import { shown } from '../core/text/shown.ts'
import type { DeadReason } from '../queue/contract/contract.ts'
import type { BreakerState } from '../queue/contract/worker-store.ts'

/** Which run an event is about. */
export interface RunEvent {
  readonly id: string
  readonly job: string
  readonly name: string
  readonly queue: string
  readonly attempt: number
}

/** How busy a worker's machine, process and event loop are. */
export interface LoadMeasure extends MachineUse {
  /** The longest time that the event loop came late. */
  readonly lagMs: number
}

/** Everything that can be listened to. */
export interface TreadleEvents {
  /** It is stored. Where its transaction is the caller's, that may still be rolled back. Runs of schedules are `schedule:enqueued`. */
  'job:dispatched': Omit<RunEvent, 'attempt'> & { readonly dueAt: number; readonly inTransaction?: true }
  'job:started': RunEvent
  'job:succeeded': RunEvent & { readonly durationMs: number }
  /** An attempt failed and another one follows. */
  'job:failed': RunEvent & { readonly error: unknown; readonly retryInMs: number }
  'job:dead': RunEvent & { readonly reason: DeadReason; readonly error: unknown }
  'job:cancelled': RunEvent
  'job:skipped': RunEvent & { readonly why: string }
  'job:snoozed': RunEvent & { readonly delayMs: number; readonly why: string | null }
  /** It waits for its children: to be run again, or, where its handler has ended, to end with the last of them. */
  'job:waiting': RunEvent
  /** Given back unfinished by a shutdown; no attempt is burnt. */
  'job:released': RunEvent
  /** The lease had passed to another worker: what this run did may be done again. */
  'job:lost': RunEvent
  /** The handler did not end after its signal was aborted; its job was settled without it. */
  'job:abandoned': RunEvent
  /** A run was told to stop so long ago and has not ended. It keeps its slot and is not settled before it does. */
  'job:overrun': RunEvent & { readonly overrunMs: number }
  /** A job without a signature was accepted, because of `unsigned: 'accept'`. */
  'job:unsigned': Omit<RunEvent, 'attempt'>
  /** A worker claims jobs from here on, under this name. */
  'worker:started': { readonly owner: string }
  /** Something that the worker asked of its queue failed. It goes on by itself. */
  'worker:error': { readonly error: unknown }
  /** The event loop stood still while jobs ran. Of the suspects, which may have ended by now, one alone is to blame. */
  'worker:stalled': {
    readonly stalledMs: number
    /** How much of that this process computed, where it is known: hardly anything where it was stopped. */
    readonly computedMs?: number
    readonly running: readonly RunEvent[]
    readonly suspects: readonly RunEvent[]
  }
  /** The queue failed so often in a row that no job is claimed for a while (`open`), it is tried whether it still does, or it answers again. */
  'worker:breaker': { readonly state: BreakerState; readonly failures: number; readonly error?: unknown }
  /** A worker allows itself notably fewer jobs at once, or more again, because of how busy everything is. */
  'worker:load': { readonly allowed: number; readonly concurrency: number; readonly load: LoadMeasure }
  'schedule:enqueued': { readonly schedule: string; readonly at: number }
  /** Nobody was there when a schedule was due: these run now in spite of it, and so many are left out; no more than 1,000 are counted. */
  'schedule:missed': { readonly schedule: string; readonly madeUp: readonly number[]; readonly leftOut: number }
  /** A scheduler looked at its schedules at the time that its pace sets. */
  'schedule:tick': {
    readonly plannedAt: number
    readonly startedAt: number
    readonly endedAt: number
    readonly enqueued: number
    readonly failed: number
    readonly nextAt: number | null
  }
}

/** The events of jobs, which can tell more of them where they are asked to. */
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

/** A listener that nothing can ever reach is a mistake: a misspelt event, or no function. */
export function refuseUnheard(name: unknown, listener: unknown): void {
  if (typeof name !== 'string' || !Object.hasOwn(known, name)) {
    const near = typeof name === 'string' ? suggestion(name, Object.keys(known)) : ''
    throw new TreadleError('CONFIG_INVALID', `There is no event ${shown(name)} to listen to${near}`)
  }
  if (typeof listener === 'function') return
  throw new TreadleError('CONFIG_INVALID', `A listener of "${name}" must be a function, got ${shown(listener)}`)
}
