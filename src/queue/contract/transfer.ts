import type { FailurePolicy, UniqueUntil } from '../../envelope/envelope.ts'
import type { OnceMark } from './coordination.ts'
import type { AttemptError } from './failure.ts'
import type { FinalState, JobState } from './job-state.ts'
import type { StoredDefinition } from './schedule-store.ts'
import type { PlacedLogChunk } from './stores/log-store.ts'

/**
 * Moves a queue to another backend. Jobs travel in parcels. Packing takes jobs out of this queue and stores the parcel here, in
 * one transaction; unpacking stores the jobs and a receipt in the target, in one transaction. So a job is always in exactly one
 * of the two queues or in a parcel between them, and a parcel that is delivered twice is unpacked once. Data kept next to jobs
 * (`Fact`) is copied, and may safely be copied again.
 */
export interface Transfer {
  /** Identifies this queue among all others. Created on the first call. */
  identity(): Promise<string>
  /** Takes the next page out of the queue: schedules first, then jobs in the order of their ids. */
  pack(request: PackRequest): Promise<Packed>
  /** Returns what `pack` would take, without removing it. */
  read(request: PageRequest): Promise<Page>
  /** Parcels that were packed and not closed, oldest first. */
  parcels(): Promise<readonly ParcelLabel[]>
  /** Null if it was closed. */
  parcel(id: string): Promise<Parcel | null>
  /**
   * Stores the contents of a parcel, unless already stored. Returns the units that this queue cannot take: the same on every
   * call.
   */
  unpack(parcel: Parcel): Promise<readonly Refusal[]>
  /** Confirms that a parcel has arrived. The units of the `returned` jobs were refused, and go back into this queue. */
  close(id: string, returned: readonly string[]): Promise<void>
  /** Pages of keys that outlive their jobs, earlier occurrences of schedules, and the next job number. */
  facts(request: FactRequest): Promise<FactPage>
  /** Adds facts that are not known here. Better knowledge that is already here is kept. */
  learn(facts: readonly Fact[]): Promise<void>
}

/** How long to keep receipts. No parcel is delivered again after this long. */
export const receiptsKeptMs = 30 * 86_400_000

export interface PageRequest {
  /** Only this queue's jobs, their workflows, and the schedules that have jobs in it; null means everything. */
  readonly queue: string | null
  /** Jobs created later stay: their sender may be sending them again because the first response was lost. */
  readonly createdBefore: number
  /** Where the last page ended; null means the start. */
  readonly after: string | null
  /** Approximate number of jobs per page. A workflow is never split. */
  readonly limit: number
}

export interface PackRequest extends PageRequest {
  /** The identity of the queue that the parcel is for. */
  readonly target: string
}

/** What was left behind. Running jobs, and the workflows they belong to, are left behind without being listed. */
export interface PageEnd {
  /** Null if this is the last page. */
  readonly after: string | null
  /** Jobs whose rows cannot be read. */
  readonly unreadable: readonly string[]
}

export interface Page extends PageEnd, Contents {}

export interface Packed extends PageEnd {
  /** Null if there was nothing to take up to here. */
  readonly parcel: Parcel | null
}

export interface ParcelLabel {
  readonly id: string
  readonly target: string
}

export interface Parcel extends ParcelLabel, Contents {
  /** The identity of the queue it comes from. */
  readonly origin: string
}

export interface Contents {
  /** Paused queues. Reported only once. */
  readonly paused: readonly string[]
  readonly schedules: readonly MovedSchedule[]
  readonly units: readonly MovedUnit[]
}

/** Jobs that must not be separated: a single job, or all jobs of a workflow. */
export interface MovedUnit {
  readonly jobs: readonly MovedJob[]
  /** How the deleted jobs of these workflows ended. */
  readonly gone: readonly GoneJobs[]
}

export interface GoneJobs {
  readonly root: string
  readonly state: FinalState
  readonly jobs: number
}

/** A job with everything known about it. Signed texts are left untouched. */
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
  /** Prefixed with the name of the job it was sent with: see `scopedKey` in `queue/model`. */
  readonly uniqueKey: string | null
  readonly uniqueUntil: UniqueUntil
  /** Whether it holds its unique key for a period or forever. */
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
  /** The occurrence of its schedule; null if that has been deleted too. */
  readonly occurrence: MovedOccurrence | null
  /** Digests of the idempotency keys that it holds until its children have ended, although its handler has finished. */
  readonly onceKeys: readonly string[]
  /** Its log, oldest first. */
  readonly log: readonly PlacedLogChunk[]
  readonly links: MovedLinks | null
}

/** Its place in a workflow. */
export interface MovedLinks {
  readonly root: string
  readonly parent: string | null
  readonly longestWaitMs: number
  /** Set while it is blocked. */
  readonly givesUpAt: number | null
  /** How to end the job once its children have ended: its handler has already finished. */
  readonly ending: { readonly keep: boolean; readonly once: OnceMark | null } | null
  /** Whether a job that it waits for ended, while it ran, in a way that it does not survive. */
  readonly isDoomed: boolean
  readonly edges: readonly MovedEdge[]
}

/** A job that it waits for, or has waited for. */
export interface MovedEdge {
  readonly id: string
  readonly job: string | null
  /** Only for a child. */
  readonly key: string | null
  readonly policy: FailurePolicy
  readonly waiting: boolean
  /** Null until the waiting job was notified of the end. */
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
  /** Null if it is defined in code. */
  readonly definition: StoredDefinition | null
  readonly since: number
  readonly paused: boolean
  /** The last occurrences, so that they are not taken for missed ones. */
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

/** A unit that a queue cannot take. */
export interface Refusal {
  /** The first job of the unit. */
  readonly id: string
  /** How many jobs the unit has. */
  readonly jobs: number
  readonly why: string
}

/** Facts are transferred in this order. */
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
