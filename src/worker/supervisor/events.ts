import type { ChildFailure, Exit } from './messages.ts'
import type { Wear } from './wear.ts'

export interface ChildEvent {
  /** Number of the process among the others, starting at 1. */
  readonly child: number
  readonly pid: number
}

/** Events about worker processes, in addition to the events within them. */
export interface SupervisorEvents {
  'child:started': ChildEvent
  'child:ready': ChildEvent
  /** Another process is being started, which takes over once it is ready. */
  'child:replaced': ChildEvent & { readonly why: Wear | 'roll' }
  /** The process is killed because one of its runs is overdue and did not end by itself. */
  'child:overdue': ChildEvent & { readonly id: string; readonly job: string; readonly attempt: number }
  /** The process is killed because it was told to exit and has not. */
  'child:overstayed': ChildEvent
  'child:ended': ChildEvent &
    Exit & {
      /** Whether it was told to exit. */
      readonly expected: boolean
      readonly failure: ChildFailure | null
      /** Number of its jobs that returned to the queue. */
      readonly returned: number
      readonly poisoned: number
      /** When another process will be started; null if none will be, or if one already has been. */
      readonly restartInMs: number | null
    }
  'roll:started': { readonly children: number }
  'roll:ended': { readonly replaced: number }
  /** A new process could not start. The old ones continue. */
  'roll:failed': { readonly replaced: number; readonly failure: ChildFailure | null }
  'supervisor:error': { readonly error: unknown }
}

/** Receives the events of a supervisor. */
export type Tell = <Name extends keyof SupervisorEvents>(name: Name, event: SupervisorEvents[Name]) => void
