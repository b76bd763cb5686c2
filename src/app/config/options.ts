import { messageOf, TreadleError } from '../../core/errors.ts'
import { consoleLogger, type Logger, type SoundLogger, soundLogger } from '../../core/logger.ts'
import { unknownOptions } from '../../core/options.ts'
import { environmentVariable } from '../../core/process/environment.ts'
import { type Clock, systemClock } from '../../core/time/clock.ts'
import { type Duration, parseDuration } from '../../core/time/duration.ts'
import type { DefinitionFields, Keep } from '../../definition/definition.ts'
import { backendNameProblem } from '../../definition/names.ts'
import type { KeepOptions } from '../../definition/words/description-words.ts'
import { existingKeys } from '../../envelope/keys/key-file.ts'
import { KeyRing, type SigningKey } from '../../envelope/keys/key-ring.ts'
import type { QueueBackend, QueueLimits } from '../../queue/contract/contract.ts'
import { parseZone } from '../../scheduling/calendar/zone.ts'
import type { LogSettings } from '../../worker/runs/job-logs.ts'
import { type AlertConfig, type AlertOptions, alertConfig } from '../alerts/alert-options.ts'
import { type QueueOptions, queueLimitsOf } from '../workers/queue-limits.ts'
import { type BackendPlaces, type CoordinationPlace, coordinationProblems, placeProblems } from './backend-place.ts'
import { defaultFields, type JobDefaults } from './defaults.ts'
import { type LogOptions, logSettings } from './log-options.ts'

/** Options of `treadle(url, options)`. */
export interface TreadleOptions {
  readonly clock?: Clock
  /** Warnings and errors go to the console by default. pino and winston get fields as fields, with the job's name and id in each line. */
  readonly logger?: Logger
  /**
   * What jobs log is stored with them: lines from `info` on, the newest 1,000 of a job and at most 256 KB by default. False stores
   * nothing.
   */
  readonly logs?: LogOptions | false
  /**
   * Signs and verifies jobs; the first of several that may sign a job does. Default: `signingKeyFile`, else TREADLE_SIGNING_KEY, else
   * TREADLE_SIGNING_KEY_FILE, else a key file beside the SQLite file.
   */
  readonly signingKey?: string | SigningKey | readonly SigningKey[]
  /** A key file, as `treadle keys create` makes it. */
  readonly signingKeyFile?: string
  /**
   * True sends and accepts jobs without a signature. 'accept' signs what it sends, and accepts both: for the time in which signing
   * is introduced. Default: TREADLE_UNSIGNED, which may be `accept`, else false.
   */
  readonly unsigned?: Unsigned
  /**
   * Signs the end of every job, so that `run.result()` and jobs that wait take no success for genuine which somebody wrote into the
   * database. Without it, a success that leaves no result and that nobody waits for is not signed, which is faster.
   */
  readonly signEveryEnd?: boolean
  /** Stores the payloads of all jobs encrypted, unless a definition or a dispatch says otherwise. It needs a signing key. */
  readonly encrypt?: boolean
  /** What counts for all jobs that say nothing else: `{ retries: 3, timeout: '5m', queue, idempotencyTtl, keep … }`. */
  readonly defaults?: JobDefaults
  /** The zone of schedules that name none; UTC by default. */
  readonly timezone?: string
  /** How long ended jobs are kept: another place for `defaults.keep`. */
  readonly keep?: KeepOptions
  /** For each queue, the jobs that may run on it. Restricted handlers (`shell`, `command`) run only where they are listed. */
  readonly allow?: Readonly<Record<string, readonly string[]>>
  /** Limits that all jobs of a queue share, over all workers. */
  readonly queues?: Readonly<Record<string, QueueOptions>>
  /** What `environments()` of definitions is compared with; NODE_ENV by default. */
  readonly environment?: string
  readonly maxPayloadBytes?: number
  /** False refuses a database whose schema is not up to date instead of migrating it. */
  readonly migrate?: boolean
  /** Alert rules, and where alerts are sent. Workers and servers evaluate them. */
  readonly alerts?: AlertOptions
  /** Exports metrics and traces through `@opentelemetry/api`: both, or one of them. Off by default. */
  readonly openTelemetry?: boolean | OpenTelemetryOptions
  /** An open backend, in place of a URL. */
  readonly backend?: QueueBackend
  /** Several backends, by their names: the URL of each, or `{ url, coordination }`. The one called `default` keeps whatever names no other. */
  readonly backends?: BackendPlaces
  /**
   * Beside a broker (`beanstalkd:`, `servicebus:`): the database in which its workers share what a broker cannot keep, as a URL or as
   * an open backend. With it there are limits, keys, schedules, workflows and records of jobs. Of several backends, for the default one.
   */
  readonly coordination?: CoordinationPlace
}

/** Options of the OpenTelemetry traces and metrics. */
export interface OpenTelemetryOptions {
  readonly metrics?: boolean
  /** 'always' traces jobs too that were dispatched without a trace, such as those of programs that collect none. */
  readonly traces?: boolean | 'always'
}

export type Unsigned = boolean | 'accept'

export interface Settings {
  readonly clock: Clock
  readonly logger: SoundLogger
  /** Null stores nothing of what jobs log. */
  readonly logs: LogSettings | null
  readonly keys: KeyRing | null
  readonly unsigned: Unsigned
  readonly signEveryEnd: boolean
  readonly encrypt: boolean
  readonly defaults: Partial<DefinitionFields>
  readonly timezone: string
  readonly keep: Keep
  readonly allow: Readonly<Record<string, readonly string[]>>
  readonly queueLimits: readonly QueueLimits[]
  readonly environment: string | null
  readonly maxPayloadBytes: number
  readonly migrate: boolean
  readonly openTelemetry: Required<OpenTelemetryOptions>
  readonly alerts: AlertConfig | null
  readonly backend: QueueBackend | null
  readonly coordination: CoordinationPlace | null
}

// Written as a record, so that the compiler asks for an entry when an option is added.
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
  openTelemetry: true,
  alerts: true,
  backend: true,
  backends: true,
  coordination: true,
}

export const treadleOptionNames: readonly string[] = Object.keys(optionNames)

const defaultKeep: Readonly<Record<keyof Keep, Duration>> = { succeeded: '1d', dead: '30d', cancelled: '7d', skipped: '1d' }
const defaultMaxPayloadBytes = 1024 * 1024

/** Complete and checked; all problems are told at once. */
export function settingsOf(options: TreadleOptions): Settings {
  if (typeof options !== 'object' || options === null) {
    throw new TreadleError('CONFIG_INVALID', `The options must be an object, got ${String(options)}`)
  }
  const problems: string[] = [...unknownOptions(options, treadleOptionNames)]
  const defaults = defaultFields(options.defaults ?? {}, problems)
  if (options.keep !== undefined && options.defaults?.keep !== undefined)
    problems.push('give either keep or defaults.keep, not both')
  const keep = keepOf(options.keep ?? options.defaults?.keep ?? {}, problems)
  const timezone = zoneOf(options.timezone, problems)
  const logs = logSettings(options.logs, problems)
  const queueLimits = queueLimitsOf(options.queues, problems)
  const { allow = {}, maxPayloadBytes = defaultMaxPayloadBytes } = options
  if (!isAllowlist(allow)) problems.push('allow must be an object of queues, each with a list of job names')
  if (!Number.isSafeInteger(maxPayloadBytes) || maxPayloadBytes < 1) {
    problems.push(`maxPayloadBytes must be a whole number of at least 1, got ${maxPayloadBytes}`)
  }
  problems.push(
    ...partProblems(options),
    ...backendsProblems(options.backends),
    ...coordinationProblems(options.coordination),
    ...openTelemetryProblems(options.openTelemetry),
  )
  const alerts = alertConfig(options.alerts, problems)
  if (problems.length > 0) throw new TreadleError('CONFIG_INVALID', `The options are invalid: ${problems.join('; ')}`)
  return Object.freeze({
    clock: options.clock ?? systemClock,
    logger: soundLogger(options.logger ?? consoleLogger),
    logs,
    keys: keysOf(options),
    unsigned: unsignedOf(options),
    signEveryEnd: options.signEveryEnd === true,
    encrypt: options.encrypt ?? false,
    defaults,
    timezone,
    keep,
    allow,
    queueLimits,
    environment: options.environment ?? environmentVariable('NODE_ENV') ?? null,
    maxPayloadBytes,
    migrate: options.migrate ?? true,
    alerts,
    openTelemetry: openTelemetryOf(options.openTelemetry ?? false),
    backend: options.backend ?? null,
    coordination: options.coordination ?? null,
  })
}

function partProblems({
  signingKey,
  signingKeyFile,
  unsigned,
  signEveryEnd,
  encrypt,
  migrate,
  clock,
  logger,
  environment,
}: TreadleOptions): readonly string[] {
  const isWrongKey = signingKey !== undefined && !isSigningKey(signingKey)
  const isWrongFile = signingKeyFile !== undefined && (typeof signingKeyFile !== 'string' || signingKeyFile === '')
  const isWrongClock = clock !== undefined && !hasMethods(clock, ['now', 'random', 'timer'])
  const isWrongEnvironment = environment !== undefined && (typeof environment !== 'string' || environment === '')
  const isWrongLogger = logger !== undefined && !hasMethods(logger, ['debug', 'info', 'warn', 'error'])
  return [
    ...(isWrongKey ? ['signingKey must be a text, or { id, secret, queues, jobs }, or a list of those'] : []),
    ...(isWrongFile ? [`signingKeyFile must be the path of a file, got ${String(signingKeyFile)}`] : []),
    ...(signingKey !== undefined && signingKeyFile !== undefined ? ['give either signingKey or signingKeyFile, not both'] : []),
    ...(isWrongClock ? ['clock must have now, random and timer'] : []),
    ...(isWrongLogger ? ['logger must have debug, info, warn and error'] : []),
    ...(isWrongEnvironment ? [`environment must be a text such as 'production', got ${JSON.stringify(environment)}`] : []),
    ...unsignedProblem(unsigned),
    ...switchProblem('migrate', migrate),
    ...switchProblem('encrypt', encrypt),
    ...switchProblem('signEveryEnd', signEveryEnd),
    ...(unsigned === true && encrypt === true ? ['encrypt needs a signing key, and unsigned: true has none'] : []),
    ...(unsigned === true && (signingKey ?? signingKeyFile) !== undefined
      ? ['give either signingKey or unsigned, not both']
      : []),
  ]
}

function openTelemetryOf(given: boolean | OpenTelemetryOptions): Required<OpenTelemetryOptions> {
  if (typeof given === 'boolean') return { metrics: given, traces: given }
  const { metrics = false, traces = false } = given
  return { metrics, traces }
}

function openTelemetryProblems(given: unknown): readonly string[] {
  if (given === undefined || typeof given === 'boolean') return []
  if (typeof given !== 'object' || given === null) return ['openTelemetry must be true, false or { metrics, traces }']
  const { metrics, traces } = given as Readonly<Record<string, unknown>>
  return [
    ...unknownOptions(given, ['metrics', 'traces']).map((problem) => `openTelemetry: ${problem}`),
    ...switchProblem('openTelemetry.metrics', metrics),
    ...(traces === 'always' ? [] : switchProblem('openTelemetry.traces', traces)),
  ]
}

function switchProblem(name: string, value: unknown): readonly string[] {
  return value === undefined || typeof value === 'boolean' ? [] : [`${name} must be true or false, got ${String(value)}`]
}

function unsignedProblem(unsigned: unknown): readonly string[] {
  if (unsigned !== undefined) {
    const isKnown = typeof unsigned === 'boolean' || unsigned === 'accept'
    return isKnown ? [] : [`unsigned must be true, false or 'accept', got ${String(unsigned)}`]
  }
  const said = environmentVariable(unsignedVariable)
  return said === undefined || said === 'accept' ? [] : [`${unsignedVariable} must be accept, got ${JSON.stringify(said)}`]
}

const unsignedVariable = 'TREADLE_UNSIGNED'

function unsignedOf({ unsigned }: TreadleOptions): Unsigned {
  return unsigned ?? (environmentVariable(unsignedVariable) === 'accept' ? 'accept' : false)
}

function zoneOf(timezone: unknown, problems: string[]): string {
  if (timezone === undefined) return 'UTC'
  try {
    parseZone(timezone as string)
    return timezone as string
  } catch (thrown) {
    problems.push(`timezone: ${messageOf(thrown)}`)
    return 'UTC'
  }
}

function keepOf(keep: KeepOptions, problems: string[]): Keep {
  problems.push(...unknownOptions(keep, Object.keys(defaultKeep)).map((problem) => `keep: ${problem}`))
  const outcomes = Object.keys(defaultKeep) as (keyof Keep)[]
  const entries = outcomes.map((outcome) => {
    try {
      return [outcome, parseDuration(keep[outcome] ?? defaultKeep[outcome], `keep.${outcome}`)]
    } catch (thrown) {
      problems.push(messageOf(thrown))
      return [outcome, 0]
    }
  })
  return Object.fromEntries(entries) as Keep
}

function keysOf(options: TreadleOptions): KeyRing | null {
  const unsigned = unsignedOf(options)
  if (unsigned === true) return null
  const ringOptions = { acceptsUnsigned: unsigned === 'accept', signsEveryEnd: options.signEveryEnd === true }
  const given =
    options.signingKey ?? (options.signingKeyFile === undefined ? environmentVariable('TREADLE_SIGNING_KEY') : undefined)
  if (given !== undefined) {
    const keys = typeof given === 'string' ? [{ id: 'default', secret: given }] : 'secret' in given ? [given] : given
    return new KeyRing(keys, ringOptions)
  }
  const file = options.signingKeyFile ?? environmentVariable('TREADLE_SIGNING_KEY_FILE')
  return file === undefined ? null : new KeyRing(() => existingKeys(file), ringOptions)
}

function isSigningKey(value: unknown): boolean {
  if (typeof value === 'string') return true
  const keys: readonly unknown[] = Array.isArray(value) ? value : [value]
  return keys.every((key) => {
    const { id, secret } = Object(key) as { id?: unknown; secret?: unknown }
    return typeof id === 'string' && typeof secret === 'string'
  })
}

function hasMethods(value: unknown, names: readonly string[]): boolean {
  return names.every((name) => typeof (Object(value) as Record<string, unknown>)[name] === 'function')
}

function isAllowlist(allow: unknown): boolean {
  if (typeof allow !== 'object' || allow === null || Array.isArray(allow)) return false
  return Object.values(allow).every((jobs) => Array.isArray(jobs) && jobs.every((job) => typeof job === 'string'))
}

function backendsProblems(backends: unknown): readonly string[] {
  if (backends === undefined) return []
  if (typeof backends !== 'object' || backends === null || Array.isArray(backends)) {
    return ["backends must be an object such as { default: 'postgres://…', fast: 'sqlite:fast.db' }"]
  }
  return Object.entries(backends).flatMap(([name, place]) => {
    const problem = backendNameProblem(name)
    return [...(problem === undefined ? [] : [`backends: ${problem}`]), ...placeProblems(place, `backends.${name}`)]
  })
}
