import { TreadleError } from '../core/errors.ts'
import { unknownOptions } from '../core/options.ts'
import type { WorkOptions } from '../worker/config.ts'
import type { TreadleOptions } from './treadle.ts'

/** What `treadle.config.ts` says. */
export interface TreadleConfig extends TreadleOptions {
  /** Where the jobs are kept, such as `sqlite:jobs.db`. A file is found from the folder of the config file. */
  readonly url?: string
  /** Folders or files with jobs, from the folder of the config file. The folder `jobs` is the default, where it exists. */
  readonly jobs?: string | readonly string[]
  /** What `treadle work` does unless its command line says otherwise. */
  readonly worker?: WorkOptions
}

/** Gives the config back as it is; it is there for the types. */
export function defineConfig(config: TreadleConfig): TreadleConfig {
  return config
}

/** Throws one `CONFIG_INVALID` with everything that is wrong. `where` is the file that says it. */
export function checkConfig(value: unknown, where: string): TreadleConfig {
  const problems = configProblems(value)
  if (problems.length > 0) throw new TreadleError('CONFIG_INVALID', `${where}: ${problems.join('; ')}`)
  return value as TreadleConfig
}

/** Everything that is wrong with a config, at once. The values of options are read in full when the program is opened. */
export function configProblems(value: unknown): readonly string[] {
  if (!isPlainObject(value)) return [`the config must be an object with options, got ${nameOf(value)}`]
  const { url, jobs, worker } = value
  return [
    ...unknownOptions(value, Object.keys(configOptions)),
    ...(url === undefined || isText(url) ? [] : [`url must be a text such as 'sqlite:jobs.db', got ${nameOf(url)}`]),
    ...(url !== undefined && value.backend !== undefined ? ['give either url or backend, not both'] : []),
    ...(jobs === undefined || isText(jobs) || isTexts(jobs)
      ? []
      : [`jobs must be a path or a list of paths, got ${nameOf(jobs)}`]),
    ...workerProblems(worker),
  ]
}

// Written as records, so that the compiler asks for an entry when an option is added.
const configOptions: Readonly<Record<keyof TreadleConfig, true>> = {
  url: true,
  jobs: true,
  worker: true,
  clock: true,
  logger: true,
  signingKey: true,
  unsigned: true,
  keep: true,
  allow: true,
  environment: true,
  maxPayloadBytes: true,
  migrate: true,
  backend: true,
}

const workerOptions: Readonly<Record<keyof WorkOptions, true>> = {
  concurrency: true,
  queues: true,
  jobs: true,
  lease: true,
  poll: true,
  scheduler: true,
  signals: true,
  grace: true,
  maxRescues: true,
  signal: true,
}

function workerProblems(worker: unknown): readonly string[] {
  if (worker === undefined) return []
  if (!isPlainObject(worker)) return [`worker must be an object with options, got ${nameOf(worker)}`]
  return unknownOptions(worker, Object.keys(workerOptions)).map((problem) => `worker: ${problem}`)
}

function isPlainObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value !== ''
}

function isTexts(value: unknown): boolean {
  return Array.isArray(value) && value.every(isText)
}

function nameOf(value: unknown): string {
  if (value === null || value === undefined || value === '') return JSON.stringify(value) ?? 'undefined'
  if (Array.isArray(value)) return 'a list'
  return typeof value === 'object' ? 'an object' : `a ${typeof value}`
}
