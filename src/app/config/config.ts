import { messageOf, TreadleError } from '../../core/errors.ts'
import { unknownOptions } from '../../core/options.ts'
import { queueProblem } from '../../definition/names.ts'
import { workerConfig } from '../../worker/config.ts'
import type { WorkOptions } from '../../worker/options.ts'
import { urlProblem } from './open-backend.ts'
import { type TreadleOptions, treadleOptionNames } from './options.ts'
import { settingsOf } from './settings.ts'

/** The options in `treadle.config.ts`. */
export interface TreadleConfig extends TreadleOptions {
  /** Where jobs are stored, such as `sqlite:jobs.db`. File paths are relative to the folder of the config file. */
  readonly url?: string
  /** Folders or files that define jobs, relative to the folder of the config file. Default: the folder `jobs`, if it exists. */
  readonly jobs?: string | readonly string[]
  /** Defaults for `treadle work`. Its command line takes precedence. */
  readonly worker?: WorkOptions
}

/** Returns the config unchanged. Use it for type checking and completion in `treadle.config.ts`. */
export function defineConfig(config: TreadleConfig): TreadleConfig {
  return config
}

/**
 * Throws a single `CONFIG_INVALID` that lists all problems; its cause holds one error per problem. `where` is the path of the
 * file.
 */
export function checkConfig(value: unknown, where: string): TreadleConfig {
  const problems = configProblems(value)
  if (problems.length === 0) return value as TreadleConfig
  const errors = problems.map((problem) => new TreadleError('CONFIG_INVALID', `${where}: ${problem}`))
  throw new TreadleError('CONFIG_INVALID', `${where}: ${problems.join('; ')}`, { cause: new AggregateError(errors) })
}

/** The part of an invalid config that concerns jobs, so that these can still be listed. */
export function jobsPart(value: unknown): TreadleConfig {
  const { jobs, worker } = Object(value) as Record<string, unknown>
  const { jobs: only } = Object(worker) as Record<string, unknown>
  return { ...((isText(jobs) || isTexts(jobs)) && { jobs }), ...(isTexts(only) && { worker: { jobs: only } }) }
}

/** All problems of a config. */
export function configProblems(value: unknown): readonly string[] {
  if (!isPlainObject(value)) return [`the config must be an object with options, got ${nameOf(value)}`]
  const { url, jobs, worker = {}, ...options } = value
  return [
    ...('url' in value && !isText(url)
      ? [`url must be a string such as 'sqlite:jobs.db', got ${nameOf(url)}${unsetHint(url)}`]
      : []),
    ...(isText(url) ? [urlProblem(url)].filter((problem) => problem !== undefined) : []),
    ...(url !== undefined && value.backend !== undefined ? ['give either url or backend, not both'] : []),
    ...(url !== undefined && value.backends !== undefined ? ['give either url or backends, not both'] : []),
    ...(value.backends !== undefined && Object(value.backends).default === undefined
      ? ['backends must name the default one']
      : []),
    ...(jobs === undefined || isText(jobs) || isTexts(jobs)
      ? []
      : [`jobs must be a path or a list of paths, got ${nameOf(jobs)}`]),
    ...unknownOptions(options, configOptionNames),
    ...problemsOf('', () => settingsOf(known(options))),
    ...(isPlainObject(worker) ? workerProblems(worker) : [`worker must be an object with options, got ${nameOf(worker)}`]),
  ]
}

/** A URL that is given as undefined is an error. Otherwise jobs would go to the default file, where no worker looks for them. */
export function unsetHint(place: unknown): string {
  return place === undefined ? '. Is an environment variable not set?' : ''
}

const configOptionNames = ['url', 'jobs', 'worker', ...treadleOptionNames]

function known(options: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(options).filter(([name]) => treadleOptionNames.includes(name)))
}

function workerProblems(worker: Record<string, unknown>): readonly string[] {
  const { queues } = worker
  const misnamed = isTexts(queues) ? queues.map(queueProblem).filter((problem) => problem !== undefined) : []
  return [
    ...problemsOf('worker: ', () => workerConfig(worker, 'work')),
    ...misnamed.map((problem) => `worker: queues: ${problem}`),
  ]
}

/** The problems that a check throws, without the introductory words of the message. */
function problemsOf(subject: string, check: () => unknown): readonly string[] {
  try {
    check()
    return []
  } catch (thrown) {
    return [`${subject}${messageOf(thrown).replace(/^[^:;]* options are invalid: /, '')}`]
  }
}

function isPlainObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value !== ''
}

function isTexts(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every(isText)
}

function nameOf(value: unknown): string {
  if (value === null || value === undefined || value === '') return JSON.stringify(value) ?? 'undefined'
  if (Array.isArray(value)) return 'a list'
  return typeof value === 'object' ? 'an object' : `a ${typeof value}`
}
