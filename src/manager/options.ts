import type { ConnectionOptions } from 'node:tls'
import { messageOf, TreadleError } from '../core/errors.ts'
import { unknownOptions } from '../core/options.ts'
import { environmentVariable } from '../core/process/environment.ts'
import { coreCount, loadAverage } from '../core/process/machine.ts'
import { shown } from '../core/text/shown.ts'
import { type Clock, systemClock } from '../core/time/clock.ts'
import { type Duration, parseDuration } from '../core/time/duration.ts'
import type { ManagerEvent } from './events.ts'

export interface ManagerOptions {
  /** A pattern of job names, such as `mail/*`, or several names separated by commas. */
  readonly name: string
  /** The folder that contains the workers. Each is named after the jobs that it runs. */
  readonly workers: string
  /** Address of the server; 127.0.0.1 and 8888 by default. */
  readonly host?: string
  readonly port?: number
  readonly tls?: boolean | ConnectionOptions
  readonly token?: string
  /** No job is started while the machine's load average is at or above this. The number of cores by default. */
  readonly maxLoad?: number
  /** Maximum number of jobs that run at the same time, however low the load is; 100 by default. */
  readonly maxJobs?: number
  /** How long a job may run; 10 minutes by default. */
  readonly timeLimit?: Duration
  /** When this file changes, the manager starts no more jobs and stops. */
  readonly versionFile?: string
  /** Stops after asking for jobs this many times. */
  readonly maxIterations?: number
  /**
   * The environment of the workers; PATH, HOME, LANG, TZ and TMPDIR of the manager by default. Variables that begin with TREADLE_
   * are left out.
   */
  readonly env?: Readonly<Record<string, string>>
  /** When aborted, no more jobs are started; running jobs are allowed to finish. */
  readonly signal?: AbortSignal
  /** When aborted, running jobs are killed and returned to the queue. */
  readonly abort?: AbortSignal
  readonly onEvent?: (event: ManagerEvent) => void
  readonly clock?: Clock
  readonly loadAverage?: () => number
}

export type ManagerConfig = Required<Omit<ManagerOptions, 'timeLimit' | 'tls' | 'token' | 'versionFile'>> & {
  readonly timeLimitMs: number
  readonly tls: boolean | ConnectionOptions
  readonly token: string | undefined
  readonly versionFile: string | undefined
}

// A record, so that the compiler demands an entry for each new option.
const optionNames: Readonly<Record<keyof ManagerOptions, true>> = {
  name: true,
  workers: true,
  host: true,
  port: true,
  tls: true,
  token: true,
  maxLoad: true,
  maxJobs: true,
  timeLimit: true,
  versionFile: true,
  maxIterations: true,
  env: true,
  signal: true,
  abort: true,
  onEvent: true,
  clock: true,
  loadAverage: true,
}

const never = new AbortController().signal

/** Applies defaults and validates. Reports all problems at once. */
export function managerConfig(options: ManagerOptions): ManagerConfig {
  const problems: string[] = [...unknownOptions(options, Object.keys(optionNames))]
  const { timeLimit = '10m', tls = false, token, versionFile, ...rest } = options
  const complete = { ...defaults(), ...rest }
  const config = { ...complete, env: withoutSecrets(complete.env), tls, token, versionFile, timeLimitMs: 0 }
  try {
    config.timeLimitMs = parseDuration(timeLimit, 'timeLimit')
    if (config.timeLimitMs < 1) problems.push('timeLimit must be more than 0')
  } catch (thrown) {
    problems.push(messageOf(thrown))
  }
  if (!(typeof config.name === 'string' && config.name !== '')) problems.push("name must be a pattern of names, such as 'mail/*'")
  if (!(typeof config.workers === 'string' && config.workers !== '')) problems.push('workers must be the path of a folder')
  if (!(config.maxLoad > 0)) problems.push(`maxLoad must be a number above 0, got ${shown(config.maxLoad)}`)
  if (!(Number.isInteger(config.maxJobs) && config.maxJobs >= 1 && config.maxJobs <= 10_000))
    problems.push(`maxJobs must be a whole number from 1 to 10000, got ${shown(config.maxJobs)}`)
  if (!(config.maxIterations >= 1)) problems.push(`maxIterations must be at least 1, got ${shown(config.maxIterations)}`)
  if (problems.length > 0) throw new TreadleError('CONFIG_INVALID', `The worker manager: ${problems.join('; ')}`)
  return Object.freeze(config)
}

function defaults() {
  return {
    host: '127.0.0.1',
    port: 8888,
    maxLoad: coreCount(),
    maxJobs: 100,
    maxIterations: Number.POSITIVE_INFINITY,
    env: inheritedEnvironment(),
    signal: never,
    abort: never,
    onEvent: () => {},
    clock: systemClock,
    loadAverage,
  }
}

/** The token, the signing key and the database belong to the manager. A worker only gets its job. */
function withoutSecrets(env: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(env).filter(([name]) => !/^treadle_/i.test(name)))
}

function inheritedEnvironment(): Readonly<Record<string, string>> {
  const known = ['PATH', 'HOME', 'LANG', 'TZ', 'TMPDIR'].map((name) => [name, environmentVariable(name)] as const)
  return Object.fromEntries(known.filter((entry): entry is readonly [string, string] => entry[1] !== undefined))
}
