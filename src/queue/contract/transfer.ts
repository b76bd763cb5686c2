import type { FailurePolicy, UniqueUntil } from '../../envelope/envelope.ts'
import type { AttemptError } from './failure.ts'
import type { FinalState, JobState } from './job-state.ts'
import type { PlacedLogChunk } from './log-store.ts'
import type { OnceMark } from './once-mark.ts'
import type { StoredDefinition } from './schedule-store.ts'

/**
 * Handing a queue over to another one. Jobs leave in parcels: to pack one takes its jobs out of this queue and stores the parcel
 * here, in one transaction; to unpack one stores its jobs there and the receipt, in one transaction. So a job is in one of both
 * queues at any time, or in a parcel between them, and a parcel that is delivered twice is unpacked once. What is kept beside jobs
 * (`Fact`) is copied, and may be copied again.
 */
export interface Transfer {
  /** Names this queue among all others. It is made when it is first asked for. */
  identity(): Promise<string>
  /** Takes what comes next out of the queue, schedules first, and then jobs in the order of their ids. */
  pack(request: PackRequest): Promise<Packed>
  /** What `pack` would take, and leaves it where it is. */
  read(request: PageRequest): Promise<Page>
  /** Those that were packed and not closed, the oldest first. */
  parcels(): Promise<readonly ParcelLabel[]>
  /** Null where it was closed. */
  parcel(id: string): Promise<Parcel | null>
  /** Stores what a parcel holds, unless it was stored before. Gives what this queue has no place for: the same each time. */
  unpack(parcel: Parcel): Promise<readonly Refusal[]>
  /** The parcel has arrived. Of what it held, the units of these jobs were refused, and come back into this queue. */
  close(id: string, returned: readonly string[]): Promise<void>
  /** Keys that outlive their jobs, earlier occurrences of schedules, and the next number of a job, in pages. */
  facts(request: FactRequest): Promise<FactPage>
  /** Adds what is not known here. What is known better stays. */
  learn(facts: readonly Fact[]): Promise<void>
}

/** Nobody delivers a parcel for so long that its receipt is looked for after this. */
export const receiptsKeptMs = 30 * 86_400_000

export interface PageRequest {
  /** Only the jobs of this queue and their workflows, and the schedules of which it has jobs; null is everything. */
  readonly queue: string | null
  /** Jobs that were created later stay: whoever sent them may be sending them again, because the first answer was lost. */
  readonly createdBefore: number
  /** Where the last page ended; null is the start. */
  readonly after: string | null
  /** A page has about as many jobs. A workflow is never divided. */
  readonly limit: number
}

export interface PackRequest extends PageRequest {
  /** The identity of the queue that the parcel is for. */
  readonly target: string
}

/** What is left where it is: jobs that are running, and with them their workflows, are not told. */
export interface PageEnd {
  /** Null where nothing comes after it. */
  readonly after: string | null
  /** Jobs whose rows cannot be read. */
  readonly unreadable: readonly string[]
}

export interface Page extends PageEnd, Contents {}

export interface Packed extends PageEnd {
  /** Null where there was nothing to take up to here. */
  readonly parcel: Parcel | null
}

export interface ParcelLabel {
  readonly id: string
  readonly target: string
}

export interface Parcel extends ParcelLabel, Contents {
  /** The identity of the queue that it comes from. */
  readonly origin: string
}

export interface Contents {
  /** Queues that are paused. Told once. */
  readonly paused: readonly string[]
  readonly schedules: readonly MovedSchedule[]
  readonly units: readonly MovedUnit[]
}

/** Jobs that must not be parted: one that stands alone, or all of a workflow. */
export interface MovedUnit {
  readonly jobs: readonly MovedJob[]
  /** How jobs of these workflows ended that are deleted. */
  readonly gone: readonly GoneJobs[]
}

export interface GoneJobs {
  readonly root: string
  readonly state: FinalState
  readonly jobs: number
}

/** A job with all that is known of it. The texts that were signed are not touched. */
export interface MovedJob {
  readonly id: string
  readonly number: number | null
  readonly job: string
  readonly queue: string
  readonly priority: number
  readonly singleInstance: boolean
  readonly group: string | null
  readonly identity: string
  readonly payload: string
  readonly signature: string | null
  readonly createdAt: number
  readonly runAt: number
  /** With the name of the job that it was sent with: see `scopedKey` in `queue/model`. */
  readonly uniqueKey: string | null
  readonly uniqueUntil: UniqueUntil
  /** It holds its key for a time or for ever. */
  readonly holdsLastingKey: boolean
  /** Never `running`. */
  readonly state: JobState
  readonly attempts: number
  readonly rescues: number
  readonly startedAt: number | null
  readonly finishedAt: number | null
  readonly owner: string | null
  readonly result: string | null
  readonly seal: string | null
  readonly progress: string | null
  readonly reason: string | null
  readonly errors: readonly AttemptError[]
  readonly schedule: string | null
  /** Of the schedule; null where it was forgotten, too. */
  readonly occurrence: MovedOccurrence | null
  /** Digests of the idempotency keys that its handler, which has ended, holds until its children have. */
  readonly onceKeys: readonly string[]
  /** What it has logged, oldest first. */
  readonly log: readonly PlacedLogChunk[]
  readonly links: MovedLinks | null
}

/** Its place in a workflow. */
export interface MovedLinks {
  readonly root: string
  readonly parent: string | null
  readonly longestWaitMs: number
  /** While it is blocked. */
  readonly givesUpAt: number | null
  /** What its handler left to be done when its children have ended. */
  readonly ending: { readonly keep: boolean; readonly once: OnceMark | null } | null
  /** Whether one of those that it waits for has ended in a way that it does not survive, while it ran. */
  readonly isDoomed: boolean
  readonly edges: readonly MovedEdge[]
}

/** One job that it waits for, or has waited for. */
export interface MovedEdge {
  readonly id: string
  readonly job: string | null
  /** Of a child. */
  readonly key: string | null
  readonly policy: FailurePolicy
  readonly waiting: boolean
  /** Null while it was not told. */
  readonly end: {
    readonly state: FinalState | 'missing'
    readonly result: string | null
    readonly seal: string | null
    readonly error: string | null
  } | null
}

export interface MovedSchedule {
  readonly name: string
  readonly expression: string
  readonly timezone: string
  readonly version: string
  /** Null where it is one of the code. */
  readonly definition: StoredDefinition | null
  readonly since: number
  readonly paused: boolean
  /** The last ones, so that nobody takes them for missed. */
  readonly occurrences: readonly MovedOccurrence[]
}

export interface MovedOccurrence {
  readonly schedule: string
  readonly at: number
  readonly jobId: string
  readonly storedAt: number
  readonly outcome: FinalState | null
  readonly startedAt: number | null
  readonly finishedAt: number | null
}

/** Jobs that a queue has no place for. */
export interface Refusal {
  /** The first job of the unit. */
  readonly id: string
  /** How many jobs the unit has. */
  readonly jobs: number
  readonly why: string
}

/** In this order. */
export const factKinds = ['numbers', 'occurrence', 'once', 'unique'] as const

/** Keys are digests: see `digest`. */
export type Fact =
  | { readonly kind: 'numbers'; readonly next: number }
  | { readonly kind: 'occurrence'; readonly occurrence: MovedOccurrence }
  | {
      readonly kind: 'once'
      readonly key: string
      readonly until: number
      readonly result: string | null
      readonly seal: string | null
    }
  | { readonly kind: 'unique'; readonly key: string; readonly jobId: string; readonly until: number | null }

export interface FactRequest {
  readonly after: string | null
  readonly limit: number
}

export interface FactPage {
  readonly facts: readonly Fact[]
  readonly after: string | null
}
