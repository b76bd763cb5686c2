import type { FailurePolicy } from '../../envelope/envelope.ts'
import type { DeadReason } from '../../queue/contract/contract.ts'
import type { FinalState, JobState } from '../../queue/contract/job-state.ts'

/**
 * Calls to a backend's contract, as JSON. Jobs, keys, queues, owners and schedules are small numbers, a lease is named by its
 * job, and times are relative to now. Whatever is left out has a default, so that any part of a program is a valid program.
 */
export interface Program {
  readonly limits?: LimitsSpec
  readonly operations: readonly Operation[]
}

/** Limits on claims. */
export interface LimitsSpec {
  /** Indexed by the number of the name. */
  readonly names?: readonly NameLimits[]
  /** Indexed by the number of the queue. */
  readonly queues?: readonly ShareSpec[]
}

export interface ShareSpec {
  readonly concurrency?: number
  readonly rate?: { readonly limit?: number; readonly perMs?: number }
}

export interface NameLimits extends ShareSpec {
  readonly group?: ShareSpec
}

export interface JobSpec {
  readonly id?: number
  readonly name?: number
  readonly queue?: number
  readonly priority?: number
  /** May be negative. */
  readonly delay?: number
  readonly group?: number
  readonly single?: boolean
  readonly unique?: number
  /** A number is an instant, in milliseconds from now. */
  readonly until?: 'started' | 'ended' | 'ever' | number
  /** The index of a reserved number. */
  readonly number?: number
  readonly payload?: number
  readonly waitsFor?: readonly WaitSpec[]
  /** Milliseconds. */
  readonly longestWait?: number
  readonly root?: number
  readonly parent?: ParentSpec
  readonly tags?: readonly number[]
}

export interface WaitSpec {
  readonly on?: number
  readonly policy?: FailurePolicy
  readonly late?: string
}

export interface ParentSpec {
  readonly id?: number
  /** The child is created by a caller without a lease. */
  readonly free?: boolean
  readonly stale?: number
  readonly key?: number
  readonly policy?: FailurePolicy
}

/** The lease of a job: by default its latest; with `stale`, that many before it. */
export interface LeaseRef {
  readonly id?: number
  readonly stale?: number
}

export type SettleSpec = LeaseRef & {
  readonly how?: 'done' | 'retry' | 'snooze' | 'wait' | 'again' | 'dead' | 'cancelled' | 'skipped'
  readonly delay?: number
  readonly drop?: boolean
  readonly result?: number
  readonly seal?: string
  readonly unlinked?: boolean
  readonly alone?: boolean
  readonly once?: { readonly key?: number; readonly keepMs?: number; readonly result?: number }
  readonly reason?: DeadReason
  readonly as?: JobSpec
}

export interface AmendSpec {
  readonly id?: number
  readonly as?: JobSpec
  /** If absent, any envelope is accepted. */
  readonly expected?: 'current' | 'other'
  readonly inAnyState?: boolean
  readonly unblocks?: boolean
  readonly keepsTime?: boolean
  /** Only moves the job to this time, in milliseconds from now. */
  readonly delay?: number
}

/** Events of one chunk, and how many were dropped before them. */
export interface EventSpec {
  readonly events?: number
  readonly dropped?: number
}

export interface OccurrenceRef {
  readonly schedule?: number
  /** Milliseconds from the start of the program. */
  readonly at?: number
}

export interface OccurrenceSpec extends OccurrenceRef {
  readonly job?: JobSpec
  /** Milliseconds from the start of the program. */
  readonly follows?: number | null
  readonly version?: number
  readonly registered?: true
}

export interface ScheduleSpec {
  readonly schedule?: number
  readonly expression?: number
  readonly version?: number
  /** The stored definition of a schedule created at run time; absent for schedules defined in code. */
  readonly definition?: number
}

export interface ListSpec {
  readonly state?: JobState
  readonly queue?: number
  readonly name?: number
  readonly group?: number
  readonly root?: number
  readonly isLinked?: true
  readonly tag?: number
  readonly before?: number
  readonly limit?: number
}

export interface CountSpec {
  readonly queue?: number
  readonly name?: number
  readonly root?: number
  readonly isSum?: true
}

/** Log lines of a job, and the maximum size of its log. */
export interface LogSpec {
  readonly id?: number
  readonly attempt?: number
  readonly lines?: number
  readonly dropped?: number
  readonly bytes?: number
}

export interface RemoveSpec {
  readonly state?: FinalState
  readonly ids?: readonly number[]
  /** Milliseconds from now, usually negative. */
  readonly finishedBefore?: number
  readonly queue?: number
  readonly name?: number
  readonly except?: readonly number[]
  readonly limit?: number
}

/** What to move, in pages of this many jobs. */
export interface PageSpec {
  readonly queue?: number
  readonly limit?: number
  /** Milliseconds from now. */
  readonly createdBefore?: number
}

/** What another queue knows. Times are milliseconds from the start of the program. */
export type FactSpec =
  | { readonly kind: 'numbers'; readonly next?: number }
  | ({ readonly kind: 'occurrence'; readonly id?: number; readonly outcome?: FinalState } & OccurrenceRef)
  | { readonly kind: 'once'; readonly key?: number; readonly until?: number }
  | { readonly kind: 'unique'; readonly name?: number; readonly key?: number; readonly id?: number; readonly until?: number }

export type Operation =
  | { readonly op: 'advance'; readonly ms?: number }
  | { readonly op: 'send'; readonly jobs?: readonly JobSpec[] }
  | {
      readonly op: 'lease'
      readonly owner?: number
      readonly limit?: number
      readonly leaseMs?: number
      readonly names?: readonly number[]
      readonly queues?: readonly number[]
      readonly priority?: number
      readonly ageingMs?: number
      readonly maxRescues?: number
      readonly amongOthers?: boolean
      /** Instead of those of the program, except for those of groups. */
      readonly limits?: LimitsSpec
      /** Also jobs of other names, whose limits it does not give. */
      readonly others?: 'all' | 'some'
    }
  | { readonly op: 'settle'; readonly leases?: readonly SettleSpec[] }
  | { readonly op: 'begin'; readonly leases?: readonly LeaseRef[] }
  | { readonly op: 'extend'; readonly leases?: readonly LeaseRef[]; readonly ms?: number; readonly alone?: boolean }
  | { readonly op: 'reap'; readonly maxRescues?: number; readonly dead?: readonly number[] }
  | { readonly op: 'report'; readonly leases?: readonly LeaseRef[]; readonly progress?: number }
  | { readonly op: 'cancel' | 'cancelTree' | 'get' | 'links' | 'holds'; readonly id?: number }
  | { readonly op: 'cancelRoot' | 'tree'; readonly root?: number }
  | { readonly op: 'reschedule'; readonly id?: number; readonly delay?: number }
  | { readonly op: 'amend'; readonly jobs?: readonly AmendSpec[] }
  | { readonly op: 'reject'; readonly jobs?: readonly { readonly id?: number; readonly expected?: 'current' | 'other' }[] }
  | { readonly op: 'retry' | 'leasesOf' | 'assign'; readonly ids?: readonly number[] }
  | ({ readonly op: 'remove' } & RemoveSpec)
  | { readonly op: 'pause' | 'resume'; readonly queue?: number }
  | { readonly op: 'pauseJob' | 'resumeJob'; readonly name?: number }
  | { readonly op: 'log'; readonly chunks?: readonly LogSpec[]; readonly mostLines?: number; readonly mostBytes?: number }
  | { readonly op: 'logs'; readonly id?: number; readonly after?: number; readonly limit?: number }
  | { readonly op: 'sweepLogs'; readonly limit?: number }
  | ({ readonly op: 'counts' } & CountSpec)
  | { readonly op: 'pausedQueues' | 'pausedJobs' | 'workers' | 'schedules' | 'revision' }
  | ({ readonly op: 'list' } & ListSpec)
  | { readonly op: 'mend' | 'sweepKeys'; readonly limit?: number }
  | { readonly op: 'leases'; readonly owners?: readonly number[] }
  | { readonly op: 'reserve'; readonly count?: number }
  | { readonly op: 'find'; readonly numbers?: readonly number[] }
  | { readonly op: 'claimOnce'; readonly key?: number; readonly id?: number }
  | { readonly op: 'lock'; readonly name?: number; readonly owner?: number; readonly ms?: number }
  | { readonly op: 'unlock'; readonly name?: number; readonly owner?: number }
  | { readonly op: 'announce'; readonly owner?: number; readonly ms?: number; readonly running?: number }
  | { readonly op: 'leave'; readonly owner?: number }
  | { readonly op: 'recordEvents'; readonly chunks?: readonly EventSpec[] }
  | { readonly op: 'readEvents'; readonly after?: number; readonly limit?: number }
  | { readonly op: 'register'; readonly entries?: readonly ScheduleSpec[] }
  | { readonly op: 'enqueue'; readonly occurrences?: readonly OccurrenceSpec[] }
  | { readonly op: 'findOccurrences' | 'markSeen'; readonly keys?: readonly OccurrenceRef[] }
  | ({ readonly op: 'neighbours' } & OccurrenceRef)
  | ({ readonly op: 'recent'; readonly limit?: number } & OccurrenceRef)
  | {
      readonly op: 'skipWaiting'
      readonly schedule?: number
      readonly before?: number
      readonly unseenOnly?: boolean
    }
  | { readonly op: 'pauseSchedule' | 'resumeSchedule' | 'removeSchedule'; readonly schedule?: number }
  | { readonly op: 'standings'; readonly schedules?: readonly number[] }
  | { readonly op: 'scheduleChanges'; readonly limit?: number; readonly fromStart?: true }
  | { readonly op: 'forget'; readonly before?: number; readonly limit?: number }
  | ({ readonly op: 'readUnits' | 'moveAway' } & PageSpec)
  | { readonly op: 'moveBack'; readonly limit?: number }
  | { readonly op: 'facts'; readonly limit?: number }
  | { readonly op: 'learn'; readonly facts?: readonly FactSpec[] }

export type OperationName = Operation['op']
export type OperationOf<Name extends OperationName> = Operation extends infer Each
  ? Each extends { readonly op: OperationName }
    ? Name extends Each['op']
      ? Each & { readonly op: Name }
      : never
    : never
  : never

/** Performs operations on a backend; what they return is the answer, in the terms of the program. */
export type Performers<Names extends OperationName, Ground> = {
  readonly [Name in Names]: (ground: Ground, operation: OperationOf<Name>) => Promise<unknown>
}
