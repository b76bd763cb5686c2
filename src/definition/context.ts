import type { Json } from '../core/text/json.ts'
import type { Duration } from '../core/time/duration.ts'
import type { Run } from './dispatching/run.ts'
import type { ChildArguments, ChildClass, ChildOptions, ChildOutcome, DefinedJob, LinkOutcome } from './dispatching/workflow.ts'
import type { JobLogger, LogMethod } from './job-logger.ts'
import type { CallerTransaction, SqliteConnection } from './transactions/caller-transaction.ts'
import type { WorkTransaction } from './transactions/sql-transaction.ts'

/** What a handler knows about its current run. */
export interface JobContext<Payload = unknown> {
  readonly id: string
  readonly job: string
  readonly name: string
  readonly queue: string
  /**
   * The group of the job (such as a customer), or null if it has none. Not signed: put anything that decides about permissions
   * into the payload.
   */
  readonly group: string | null
  readonly payload: Payload
  /** 1 for the first run. */
  readonly attempt: number
  readonly maxAttempts: number
  /** The instant this scheduled run was due, however late it runs; null if the job was dispatched. */
  readonly occurrence: Date | null
  readonly meta: Readonly<Record<string, Json>>
  readonly tags: readonly string[]
  /** Aborted when the run exceeds its timeout, is cancelled, loses its lease to another worker, or is cut off by a shutdown. */
  readonly signal: AbortSignal
  /** The program's logger, with the job's name and id on every line. Lines are also stored with the job. */
  readonly logger: JobLogger
  /** Shorthand for `logger.info`: `ctx.log('charged', { amount })`. */
  readonly log: LogMethod
  /** Records the progress of the run: a fraction between 0 and 1, or any JSON value. */
  progress(value: Json): Promise<void>
  /** Renews the lease now. Returns false if another worker has taken over the job; the signal is then aborted. */
  heartbeat(): Promise<boolean>
  /**
   * Completes the job in the same transaction as the writes that `work` makes to the queue's own database. Resolves with the
   * return value of `work`, which becomes the result of the job. For jobs with `delivery('effectively-once')`. On a SQLite file
   * `work` must be synchronous; on a database server it may be called again after a deadlock.
   */
  transaction<Result>(work: (tx: WorkTransaction) => Result): Promise<Awaited<Result>>
  /**
   * Completes the job with this result, inside a transaction on the queue's database that the handler has begun and must commit
   * before it returns. For jobs with `delivery('effectively-once')`.
   */
  completeIn(tx: SqliteConnection, result?: unknown): void
  completeIn(tx: CallerTransaction, result?: unknown): Promise<void>
  /** Ends this run and puts the job back for later. Does not use up an attempt, and calls no hook except `finally`. */
  snooze(delay: Duration): never
  /**
   * Dispatches a child job that this job waits for; it is stored when the promise resolves. The job is a builder, a definition, a
   * class or a key. When the job runs again and reaches
   * the same call, it gets the existing child back, identified by `key` or, without one, by its job name and position among the
   * children of that name.
   */
  dispatchChild<Input, Result>(job: DefinedJob<Input, Result>, ...args: ChildArguments<Input>): Promise<Run<Result>>
  dispatchChild<Payload, Result>(job: ChildClass<Payload, Result>, ...args: ChildArguments<Payload>): Promise<Run<Result>>
  dispatchChild(job: string, payload?: unknown, options?: ChildOptions): Promise<Run>
  /**
   * The outcomes of this job's children, in the order in which they were dispatched. If any child is still unfinished, this ends
   * the run, and the job starts again from the beginning once they have all finished. That does not use up an attempt, and calls
   * no hook except `finally`.
   */
  children(): Promise<readonly ChildOutcome[]>
  /** The outcomes of the jobs this one depended on, in the order in which they were given. */
  dependencies(): Promise<readonly LinkOutcome[]>
}
