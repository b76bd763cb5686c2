import type { Json } from '../core/text/json.ts'
import type { Duration } from '../core/time/duration.ts'
import type { Run } from './dispatching/run.ts'
import type { ChildArguments, ChildOptions, ChildOutcome, LinkOutcome, Steppable } from './dispatching/workflow.ts'
import type { JobLogger, LogMethod } from './job-logger.ts'
import type { CallerTransaction, SqliteConnection } from './transactions/caller-transaction.ts'
import type { WorkTransaction } from './transactions/sql-transaction.ts'

/** What a handler sees of the run that it is part of. */
export interface JobContext<Payload = unknown> {
  readonly id: string
  readonly job: string
  readonly name: string
  readonly queue: string
  /** Whose job it is; null is nobody's. Not signed: what decides about rights belongs into the payload. */
  readonly group: string | null
  readonly payload: Payload
  /** 1 for the first run. */
  readonly attempt: number
  readonly maxAttempts: number
  /** The instant that a scheduled run stands for, however late it runs; null for a job that was dispatched. */
  readonly occurrence: Date | null
  readonly meta: Readonly<Record<string, Json>>
  readonly tags: readonly string[]
  /** Aborted when the run is over its timeout, cancelled, lost to another worker, or cut off by a shutdown. */
  readonly signal: AbortSignal
  /** The program's own logger, with the job's name and id in every line. Its lines are stored with the job. */
  readonly logger: JobLogger
  /** Short for `logger.info`: `ctx.log('charged', { amount })`. */
  readonly log: LogMethod
  /** Records how far the run is: a share between 0 and 1, or any JSON value. */
  progress(value: Json): Promise<void>
  /** Renews the lease now. False when the job was lost to another worker; the signal is aborted then. */
  heartbeat(): Promise<boolean>
  /**
   * Ends the job, in one transaction with what `work` writes to the queue's own database; resolves with its result, which is the
   * job's. For jobs of `delivery('effectively-once')`. On a SQLite file `work` is synchronous; on a server it may be called again
   * after a deadlock.
   */
  transaction<Result>(work: (tx: WorkTransaction) => Result): Promise<Awaited<Result>>
  /**
   * Ends the job with this result, in a transaction on the queue's database that the handler has begun and is to commit before it
   * returns. For jobs of `delivery('effectively-once')`.
   */
  completeIn(tx: SqliteConnection, result?: unknown): void
  completeIn(tx: CallerTransaction, result?: unknown): Promise<void>
  /** Leaves the run and puts the job back for later. No attempt is burnt and no hook but `finally` is called. */
  snooze(delay: Duration): never
  /**
   * Makes a job that this one waits for, stored when this resolves. A run that comes back to the same call finds the child that
   * it made before: by its `key`, or by the job's name and how many of them the run has made.
   */
  dispatchChild<Input, Result>(job: Steppable<Input, Result>, ...args: ChildArguments<Input>): Promise<Run<Result>>
  dispatchChild(job: string, payload?: unknown, options?: ChildOptions): Promise<Run>
  /**
   * How the children of this job ended, in the order in which they were made. While one of them has not, the run is left, and
   * the job is run again from its beginning when they have; no attempt is burnt and no hook but `finally` is called.
   */
  children(): Promise<readonly ChildOutcome[]>
  /** How the jobs ended that this one was to wait for, in the order in which they were said. */
  dependencies(): Promise<readonly LinkOutcome[]>
}
