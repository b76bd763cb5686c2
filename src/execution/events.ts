import type { DeadReason } from '../backends/contract.ts'

/** Which run an event is about. */
export interface RunEvent {
  readonly id: string
  readonly job: string
  readonly name: string
  readonly queue: string
  readonly attempt: number
}

/** Everything that can be listened to. */
export interface TreadleEvents {
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
  /** A worker claims jobs from here on, under this name. */
  'worker:started': { readonly owner: string }
  /** A loop of the worker failed and goes on by itself. */
  'worker:error': { readonly error: unknown }
  /** The event loop stood still while jobs ran. Of the suspects, which may have ended by now, one alone is to blame. */
  'worker:stalled': { readonly stalledMs: number; readonly running: readonly RunEvent[]; readonly suspects: readonly RunEvent[] }
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
