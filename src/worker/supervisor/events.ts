import type { ChildFailure, Exit } from './messages.ts'
import type { Wear } from './wear.ts'

export interface ChildEvent {
  /** The place that it has among the others, from 1. */
  readonly child: number
  readonly pid: number
}

/** What happens to worker processes, beside what happens in them. */
export interface SupervisorEvents {
  'child:started': ChildEvent
  'child:ready': ChildEvent
  /** Another one is started, which takes its place once it is ready. */
  'child:replaced': ChildEvent & { readonly why: Wear | 'roll' }
  /** It is killed: a run of it is over its time, and did not end by itself. */
  'child:overdue': ChildEvent & { readonly id: string; readonly job: string; readonly attempt: number }
  /** It is killed: it was told to end and has not. */
  'child:overstayed': ChildEvent
  'child:ended': ChildEvent &
    Exit & {
      /** It was told to. */
      readonly expected: boolean
      readonly failure: ChildFailure | null
      /** How many of its jobs went back to the queue. */
      readonly returned: number
      readonly poisoned: number
      /** When another one is started; null where none is, or one is already. */
      readonly restartInMs: number | null
    }
  'roll:started': { readonly children: number }
  'roll:ended': { readonly replaced: number }
  /** A new process could not start: the old ones go on. */
  'roll:failed': { readonly replaced: number; readonly failure: ChildFailure | null }
  'supervisor:error': { readonly error: unknown }
}

/** Emits an event of a supervisor. */
export type Tell = <Name extends keyof SupervisorEvents>(name: Name, event: SupervisorEvents[Name]) => void
