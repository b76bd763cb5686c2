import { messageOf, TreadleError } from '../../core/errors.ts'
import { consoleLogger, type SoundLogger, soundLogger } from '../../core/logger.ts'
import { unknownOptions } from '../../core/options.ts'
import { environmentVariable } from '../../core/process/environment.ts'
import { shown } from '../../core/text/shown.ts'
import { type Clock, systemClock } from '../../core/time/clock.ts'
import { type Duration, parseDuration } from '../../core/time/duration.ts'
import type { DefinitionFields, Keep } from '../../definition/definition.ts'
import { backendNameProblem } from '../../definition/names.ts'
import type { KeepOptions } from '../../definition/words/description-words.ts'
import type { SqliteDriverName } from '../../engines/sqlite/driver-names.ts'
import { existingKeys } from '../../envelope/keys/key-file.ts'
import { KeyRing } from '../../envelope/keys/key-ring.ts'
import type { QueueBackend, QueueLimits } from '../../queue/contract/contract.ts'
import { parseZone } from '../../scheduling/calendar/zone.ts'
import type { LogSettings } from '../../worker/runs/job-logs.ts'
import { type AlertConfig, alertConfig } from '../alerts/alert-options.ts'
import { queueLimitsOf } from '../workers/queue-limits.ts'
import { type CoordinationPlace, coordinationProblems, placeProblems } from './backend-place.ts'
import { defaultFields } from './defaults.ts'
import { logSettings } from './log-options.ts'
import { type OpenTelemetryOptions, type TreadleOptions, treadleOptionNames, type Unsigned } from './options.ts'

const sqliteDriverNames: readonly SqliteDriverName[] = ['node:sqlite', '@photostructure/sqlite', 'better-sqlite3']

/** The options of a program, complete and validated. */
export interface Settings {
  readonly clock: Clock
  readonly logger: SoundLogger
  /** Null if log lines of jobs are not stored. */
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
  readonly sqliteDriver: SqliteDriverName | undefined
  readonly openTelemetry: Required<OpenTelemetryOptions>
  readonly alerts: AlertConfig | null
  readonly backend: QueueBackend | null
  readonly coordination: CoordinationPlace | null
}

const defaultKeep: Readonly<Record<keyof Keep, Duration>> = { succeeded: '1d', dead: '30d', cancelled: '7d', skipped: '1d' }
const defaultMaxPayloadBytes = 1024 * 1024

/** Complete and validated settings. All problems are reported together. */
export function settingsOf(options: TreadleOptions): Settings {
  if (typeof options !== 'object' || options === null) {
    throw new TreadleError('CONFIG_INVALID', `The options must be an object, got ${shown(options)}`)
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
    problems.push(`maxPayloadBytes must be a whole number of at least 1, got ${shown(maxPayloadBytes)}`)
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
    sqliteDriver: options.sqliteDriver,
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
  sqliteDriver,
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
    ...(isWrongKey ? ['signingKey must be a string, or { id, secret, queues, jobs }, or a list of those'] : []),
    ...(isWrongFile ? [`signingKeyFile must be the path of a file, got ${shown(signingKeyFile)}`] : []),
    ...(signingKey !== undefined && signingKeyFile !== undefined ? ['give either signingKey or signingKeyFile, not both'] : []),
    ...(isWrongClock ? ['clock must have now, random and timer'] : []),
    ...(isWrongLogger ? ['logger must have debug, info, warn and error (functions that do nothing silence it)'] : []),
    ...(isWrongEnvironment ? [`environment must be a string such as 'production', got ${shown(environment)}`] : []),
    ...unsignedProblem(unsigned),
    ...switchProblem('migrate', migrate),
    ...driverProblem(sqliteDriver),
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
  return value === undefined || typeof value === 'boolean' ? [] : [`${name} must be true or false, got ${shown(value)}`]
}

function driverProblem(driver: unknown): readonly string[] {
  if (driver === undefined || sqliteDriverNames.some((name) => name === driver)) return []
  return [`sqliteDriver must be one of ${sqliteDriverNames.join(', ')}, got ${shown(driver)}`]
}

function unsignedProblem(unsigned: unknown): readonly string[] {
  if (unsigned !== undefined) {
    const isKnown = typeof unsigned === 'boolean' || unsigned === 'accept'
    return isKnown ? [] : [`unsigned must be true, false or 'accept', got ${shown(unsigned)}`]
  }
  const said = environmentVariable(unsignedVariable)
  return said === undefined || said === 'accept' ? [] : [`${unsignedVariable} must be accept, got ${shown(said)}`]
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
