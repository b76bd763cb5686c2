import type { Json } from '../../core/text/json.ts'

/** The priorities of the protocol; jobs with a higher one are claimed first. */
export type BedrockPriority = 0 | 250 | 500 | 750 | 850 | 1000

/** A job to be created over TCP. */
export interface NewBedrockJob {
  readonly name: string
  readonly data?: { readonly [key: string]: Json }
  /** `YYYY-MM-DD HH:MM:SS` in UTC. */
  readonly firstRun?: string
  /** `FINISHED, +1 HOUR`, `DAILY`, … */
  readonly repeat?: string
  readonly jobPriority?: BedrockPriority
  /** At most one job with this name. */
  readonly unique?: boolean
  /** False leaves an existing unique job as it is. Otherwise the data is merged into its own. */
  readonly overwrite?: boolean
  readonly parentJobID?: number
  /** Such as `+5 MINUTES`: the job can be claimed again if it has not ended by then. */
  readonly retryAfter?: string
}

/** A claimed job. */
export interface BedrockJob {
  readonly jobID: number
  readonly name: string
  readonly data: Json
  readonly created?: string
  readonly nextRun?: string
  readonly lastRun?: string
  readonly repeat?: string
  readonly priority?: number
  readonly retryAfter?: string
  readonly parentJobID?: number
  readonly parentData?: Json
  readonly finishedChildJobs?: readonly BedrockChild[]
  readonly cancelledChildJobs?: readonly BedrockChild[]
  readonly failedChildJobs?: readonly BedrockChild[]
}

/** A child that has ended, as its parent receives it. */
export interface BedrockChild {
  readonly jobID: number
  readonly data: Json
}

/** The job states of the protocol. */
export type BedrockState = 'QUEUED' | 'RUNNING' | 'RUNQUEUED' | 'PAUSED' | 'FINISHED' | 'FAILED' | 'CANCELLED'

/** A job as `queryJob` returns it. */
export interface BedrockJobState extends BedrockJob {
  readonly state: BedrockState
}

/** What `updateJob` can change. */
export interface BedrockJobChanges {
  readonly data?: Json
  readonly repeat?: string
  readonly jobPriority?: BedrockPriority
  readonly nextRun?: string
  /** The job does not repeat any more. */
  readonly shouldClearRepeat?: boolean
}

/** Options of `finishJob`. */
export interface BedrockFinish {
  /** The data of the next run if the job repeats, and what its parent is given. */
  readonly data?: Json
  /** The job ends even if it repeats. */
  readonly ignoreRepeat?: boolean
}

/** Options of `retryJob`. */
export interface BedrockRetry {
  readonly data?: Json
  /** Whole seconds. */
  readonly delay?: number
  readonly nextRun?: string
  readonly name?: string
  readonly jobPriority?: BedrockPriority
  readonly ignoreRepeat?: boolean
}

/** Options of `requeueJobs`. */
export interface BedrockRequeue {
  /** A new name for all of them. */
  readonly name?: string
  readonly decrementFailures?: boolean
}
