import type { QueueBackend, QueueLimits } from '../backends/contract.ts'
import { type Clock, systemClock } from '../core/clock.ts'
import { type Duration, parseDuration } from '../core/duration.ts'
import { environmentVariable } from '../core/environment.ts'
import { messageOf, TreadleError } from '../core/errors.ts'
import { consoleLogger, type Logger, soundLogger } from '../core/logger.ts'
import { unknownOptions } from '../core/options.ts'
import type { KeepOptions } from '../definition/builder.ts'
import type { Keep } from '../definition/definition.ts'
import { existingKeys } from '../envelope/key-file.ts'
import { KeyRing, type SigningKey } from '../envelope/key-ring.ts'
import { type QueueOptions, queueLimitsOf } from './queue-limits.ts'

export interface TreadleOptions {
  readonly clock?: Clock
  /** Warnings and errors go to the console by default. */
  readonly logger?: Logger
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
  /** Stores the payloads of all jobs encrypted, unless a definition or a dispatch says otherwise. It needs a signing key. */
  readonly encrypt?: boolean
  /** How long ended jobs are kept. */
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
  /** An open backend, in place of a URL. */
  readonly backend?: QueueBackend
}

export type Unsigned = boolean | 'accept'

export interface Settings {
  readonly clock: Clock
  readonly logger: Logger
  readonly keys: KeyRing | null
  readonly unsigned: Unsigned
  readonly encrypt: boolean
  readonly keep: Keep
  readonly allow: Readonly<Record<string, readonly string[]>>
  readonly queueLimits: readonly QueueLimits[]
  readonly environment: string | null
  readonly maxPayloadBytes: number
  readonly migrate: boolean
  readonly backend: QueueBackend | null
}

// Written as a record, so that the compiler asks for an entry when an option is added.
const optionNames: Readonly<Record<keyof TreadleOptions, true>> = {
  clock: true,
  logger: true,
  signingKey: true,
  signingKeyFile: true,
  unsigned: true,
  encrypt: true,
  keep: true,
  allow: true,
  queues: true,
  environment: true,
  maxPayloadBytes: true,
  migrate: true,
  backend: true,
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
  const keep = keepOf(options.keep ?? {}, problems)
  const queueLimits = queueLimitsOf(options.queues, problems)
  const { allow = {}, maxPayloadBytes = defaultMaxPayloadBytes } = options
  if (!isAllowlist(allow)) problems.push('allow must be an object of queues, each with a list of job names')
  if (!Number.isSafeInteger(maxPayloadBytes) || maxPayloadBytes < 1) {
    problems.push(`maxPayloadBytes must be a whole number of at least 1, got ${maxPayloadBytes}`)
  }
  problems.push(...partProblems(options))
  if (problems.length > 0) throw new TreadleError('CONFIG_INVALID', `The options are invalid: ${problems.join('; ')}`)
  return Object.freeze({
    clock: options.clock ?? systemClock,
    logger: soundLogger(options.logger ?? consoleLogger),
    keys: keysOf(options),
    unsigned: unsignedOf(options),
    encrypt: options.encrypt ?? false,
    keep,
    allow,
    queueLimits,
    environment: options.environment ?? environmentVariable('NODE_ENV') ?? null,
    maxPayloadBytes,
    migrate: options.migrate ?? true,
    backend: options.backend ?? null,
  })
}

function partProblems({
  signingKey,
  signingKeyFile,
  unsigned,
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
    ...(unsigned === true && encrypt === true ? ['encrypt needs a signing key, and unsigned: true has none'] : []),
    ...(unsigned === true && (signingKey ?? signingKeyFile) !== undefined
      ? ['give either signingKey or unsigned, not both']
      : []),
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
  const ringOptions = { acceptsUnsigned: unsigned === 'accept' }
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
