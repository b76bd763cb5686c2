import type { Logger } from '../../core/logger.ts'
import type { Clock } from '../../core/time/clock.ts'
import type { KeepOptions } from '../../definition/words/description-words.ts'
import type { SqliteDriverName } from '../../engines/sqlite/driver-names.ts'
import type { SigningKey } from '../../envelope/keys/key-ring.ts'
import type { QueueBackend } from '../../queue/contract/contract.ts'
import type { AlertOptions } from '../alerts/alert-options.ts'
import type { QueueOptions } from '../workers/queue-limits.ts'
import type { BackendPlaces, CoordinationPlace } from './backend-place.ts'
import type { JobDefaults } from './defaults.ts'
import type { LogOptions } from './log-options.ts'

/** Options of `treadle(url, options)`. */
export interface TreadleOptions {
  /** Source of time, timers and randomness, mainly for tests. Default: the system clock. */
  readonly clock?: Clock
  /**
   * Default: warnings and errors go to the console. pino and winston receive structured fields, with the job's name and id in
   * each line.
   */
  readonly logger?: Logger
  /**
   * Which log lines of jobs to store with the job. Default: level `info` and above, the newest 1,000 lines and at most 256 KB per
   * job. False stores none.
   */
  readonly logs?: LogOptions | false
  /**
   * Key that signs and verifies jobs. With several keys, the first one that may sign a job signs it. Default: `signingKeyFile`,
   * else TREADLE_SIGNING_KEY, else TREADLE_SIGNING_KEY_FILE, else a key file next to the SQLite file.
   */
  readonly signingKey?: string | SigningKey | readonly SigningKey[]
  /** Path of a key file created with `treadle keys create`. */
  readonly signingKeyFile?: string
  /**
   * True sends and accepts jobs without a signature. 'accept' signs outgoing jobs but accepts both: use it while you introduce
   * signing. Default: 'accept' if TREADLE_UNSIGNED is `accept`, else false.
   */
  readonly unsigned?: Unsigned
  /**
   * Signs the outcome of every job, so that `run.result()` and dependent jobs do not trust a success that was forged in the
   * database. Without it, successes that have no result and no dependent jobs are not signed, which is faster.
   */
  readonly signEveryEnd?: boolean
  /** Encrypts the payloads of all jobs, unless a definition or a dispatch overrides it. Requires a signing key. */
  readonly encrypt?: boolean
  /**
   * Defaults for all jobs that do not specify a value themselves: `{ retries: 3, timeout: '5m', queue, idempotencyTtl, keep … }`.
   */
  readonly defaults?: JobDefaults
  /** Time zone of schedules that do not specify one. Default: UTC. */
  readonly timezone?: string
  /** How long to keep ended jobs. Same as `defaults.keep`. */
  readonly keep?: KeepOptions
  /** The jobs that may run on each queue. Restricted handlers (`shell`, `command`) run only if they are listed. */
  readonly allow?: Readonly<Record<string, readonly string[]>>
  /** Limits per queue, shared by all jobs of the queue across all workers. */
  readonly queues?: Readonly<Record<string, QueueOptions>>
  /** The environment that `environments()` of definitions is matched against. Default: NODE_ENV. */
  readonly environment?: string
  /** Maximum size of a job's payload as JSON. Default: 1 MiB. */
  readonly maxPayloadBytes?: number
  /** False rejects a database whose schema is out of date instead of migrating it. Default: true. */
  readonly migrate?: boolean
  /**
   * The driver of a SQLite file. Two copies of SQLite in one process destroy a file that both have open, so it must be the one by
   * which the program opens that file. Default: `better-sqlite3` if the program has imported it before the queue is opened, else
   * Node's own.
   */
  readonly sqliteDriver?: SqliteDriverName
  /** Alert rules, and where to send alerts. Workers and servers evaluate them. */
  readonly alerts?: AlertOptions
  /** Exports metrics, traces or both through `@opentelemetry/api`. Off by default. */
  readonly openTelemetry?: boolean | OpenTelemetryOptions
  /** An open backend to use instead of a URL. */
  readonly backend?: QueueBackend
  /**
   * Several named backends, each given as a URL or as `{ url, coordination }`. Jobs that do not name a backend use the one called
   * `default`.
   */
  readonly backends?: BackendPlaces
  /**
   * Only for brokers (`beanstalkd:`, `servicebus:`): the database in which workers share the state that a broker cannot keep, as
   * a URL or as an open backend. It adds limits, keys, schedules, workflows and job records. With several backends, it applies to
   * the default one.
   */
  readonly coordination?: CoordinationPlace
}

/** Which OpenTelemetry signals to export. */
export interface OpenTelemetryOptions {
  readonly metrics?: boolean
  /** 'always' also traces jobs that were dispatched without a trace, for example by programs that do not collect traces. */
  readonly traces?: boolean | 'always'
}

export type Unsigned = boolean | 'accept'

// A record, so that the compiler requires an entry for every option.
const optionNames: Readonly<Record<keyof TreadleOptions, true>> = {
  clock: true,
  logger: true,
  logs: true,
  signingKey: true,
  signingKeyFile: true,
  unsigned: true,
  signEveryEnd: true,
  encrypt: true,
  defaults: true,
  timezone: true,
  keep: true,
  allow: true,
  queues: true,
  environment: true,
  maxPayloadBytes: true,
  migrate: true,
  sqliteDriver: true,
  openTelemetry: true,
  alerts: true,
  backend: true,
  backends: true,
  coordination: true,
}

export const treadleOptionNames: readonly string[] = Object.keys(optionNames)
