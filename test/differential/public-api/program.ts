import type { Json } from '../../../src/core/text/json.ts'

/**
 * A random program for the public API, as JSON. All members but `op` may be missing, so that a program can be reduced part by
 * part. Jobs are named by their position among all that the program has seen, names by small numbers.
 */
export interface ApiProgram {
  readonly jobs?: readonly JobSetup[]
  readonly queues?: readonly QueueSetup[]
  readonly operations: readonly ApiOperation[]
}

/** How a job is defined. Times are in seconds. */
export interface JobSetup {
  readonly retries?: number
  readonly concurrency?: number
  readonly rate?: number
  readonly isGrouped?: boolean
  readonly groupConcurrency?: number
  readonly groupRate?: number
  readonly queue?: number
  readonly priority?: number
  readonly unique?: 'started' | 'ended' | 'ever' | number
  readonly onConflict?: 'ignore' | 'replace' | 'merge'
  readonly debounce?: number
  readonly maxWait?: number
  readonly throttle?: number
  readonly isIdempotent?: boolean
  readonly idempotencyTtl?: number
  readonly keepSucceeded?: number
  readonly keepDead?: number
  readonly waitAtMost?: number
  readonly onChildFailure?: 'fail' | 'ignore' | 'continue'
  readonly skipsOdd?: boolean
  readonly tags?: readonly number[]
  readonly isEncrypted?: boolean
  readonly isAtMostOnce?: boolean
  readonly schedule?: ScheduleSetup
}

export interface ScheduleSetup {
  readonly everyMinutes?: number
  readonly isRepeat?: boolean
  readonly overlap?: 'allow' | 'skip' | 'queue'
  readonly misfire?: 'latest' | 'all' | 'skip'
  readonly after?: number
  readonly dependsOn?: number
}

export interface QueueSetup {
  readonly concurrency?: number
  readonly rate?: number
}

/** What the handler of a job does. */
export interface Payload {
  readonly act?: 'return' | 'fail' | 'fail for good' | 'fail once' | 'snooze once' | 'dependencies' | 'children' | 'orphans'
  readonly key?: number
  readonly group?: number
  readonly number?: number
  readonly lines?: number
  readonly progress?: number
  readonly children?: readonly Child[]
  /** Operations that the handler performs. */
  readonly inside?: readonly ApiOperation[]
}

export interface Child {
  readonly job?: number
  readonly payload?: Payload
  readonly key?: number
  readonly onFailure?: 'fail' | 'ignore' | 'continue'
  readonly delay?: number
}

export interface DispatchSetup {
  readonly delay?: number
  readonly at?: number
  readonly queue?: number
  readonly priority?: number
  readonly retries?: number
  readonly group?: number | null
  readonly unique?: number | null
  readonly uniqueUntil?: 'started' | 'ended' | 'ever' | number
  readonly onConflict?: 'ignore' | 'replace' | 'merge'
  readonly debounce?: number
  readonly maxWait?: number
  readonly throttle?: number
  readonly idempotencyKey?: number | null
  readonly tags?: readonly number[]
  readonly meta?: Readonly<Record<string, Json>>
  readonly dependsOn?: readonly number[]
  readonly onDependencyFailure?: 'fail' | 'skip' | 'ignore' | 'continue'
  readonly waitAtMost?: number
}

export interface StepSetup {
  readonly job?: number
  readonly payload?: Payload
  readonly options?: DispatchSetup
  readonly after?: readonly number[]
  readonly onFailure?: 'fail' | 'skip' | 'ignore' | 'continue' | 'rescue'
}

export interface FilterSetup {
  readonly state?: string
  readonly queue?: number
  readonly job?: number
  readonly group?: number
  readonly tag?: number
  readonly root?: number
  readonly isLinked?: boolean
  readonly before?: number
  readonly limit?: number
}

type Of<Name extends string, Members = object> = { readonly op: Name } & Partial<Readonly<Members>>

export type ApiOperation =
  | Of<'dispatch', { job: number; payload: Payload; options: DispatchSetup; by: 'builder' | 'name' | 'draft' | 'args' }>
  | Of<'dispatchMany', { job: number; payloads: readonly Payload[]; options: DispatchSetup }>
  | Of<'chain', { steps: readonly StepSetup[] }>
  | Of<'batch', { steps: readonly StepSetup[]; onSuccess: StepSetup; onFailure: StepSetup; onComplete: StepSetup }>
  | Of<'workflow', { steps: readonly StepSetup[] }>
  | Of<'run', { passes: number; queue: number; job: number; ageing: number; hasNoScheduler: boolean; isOther: boolean }>
  | Of<'runAll', { concurrency: number }>
  | Of<'advance', { seconds: number }>
  | Of<'cancel', { ref: number; isTree: boolean; isWorkflow: boolean }>
  | Of<'retry', { ref: number; isWorkflow: boolean }>
  | Of<'reschedule', { ref: number; seconds: number }>
  | Of<'look', { ref: number; isWorkflow: boolean }>
  | Of<
      'upsert',
      { key: number; job: number; everyMinutes: number; isRepeat: boolean; isCron: boolean; payload: Payload } & ScheduleSetup & {
          until: number
        }
    >
  | Of<'schedule', { what: 'pause' | 'resume' | 'delete' | 'runNow' | 'forget' | 'get'; key: number; isStored: boolean }>
  | Of<'dryRun', { seconds: number }>
  | Of<'schedules', { stored: boolean; prefix: string }>
  | Of<'pause' | 'resume', { queue: number; job: number }>
  | Of<'prune', { olderThan: number }>
  | Of<'list', FilterSetup>
  | Of<'counts', { queue: number; job: number; isSum: boolean; oldest: boolean; root: number }>
  | Of<'retryAll' | 'cancelAll' | 'removeAll', FilterSetup>
  | Of<'replayDead' | 'purgeDead', { queue: number; job: number; limit: number; olderThan: number }>
  | Of<'take', { job: number; queue: number; limit: number; lease: number }>
  | Of<'settle', { held: number; outcome: 'done' | 'fail' | 'dead' | 'release' | 'cancelled'; delay: number }>
  | Of<'extend', { held: number; lease: number }>
  | Of<'copy' | 'delete', { ref: number }>
  | Of<'change', { ref: number; priority: number; seconds: number; payload: Payload }>
