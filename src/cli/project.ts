import { existsSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { coordinationAt, defaultUrlOf } from '../app/config/backend-place.ts'
import type { TreadleConfig } from '../app/config/config.ts'
import { findConfigFile, jobPaths, type LoadedConfig, loadConfigFile, type OnRefused } from '../app/config/config-file.ts'
import { databaseFile, hasTransactions, keyFileOf, openUpkeep } from '../app/config/open-backend.ts'
import { defaultUrl } from '../app/config/opening.ts'
import { configure, jobs } from '../app/default-instance.ts'
import { type LoadedJobFiles, tryJobFiles } from '../app/loading/job-files.ts'
import { setProjectModules } from '../app/loading/program-modules.ts'
import type { Treadle, TreadleOptions } from '../app/treadle.ts'
import { TreadleError } from '../core/errors.ts'
import { environmentVariable } from '../core/process/environment.ts'
import { maskedUrl } from '../core/text/masking.ts'
import type { QueueBackend } from '../queue/contract/contract.ts'
import { refuseUnfit } from '../queue/upkeep/migration.ts'
import type { WorkOptions } from '../worker/options.ts'
import { UsageError } from './failure.ts'

/** Where to find the program, as given on the command line. */
export interface ProjectOptions {
  readonly config?: string
  readonly url?: string
  readonly coordination?: string
}

/** The user's program: its jobs, its database and its worker settings. */
export interface Project {
  readonly jobs: Treadle
  /** For display: without the password. */
  readonly url: string
  readonly configPath: string | null
  /** The path of the database file, if it does not exist yet. */
  readonly missingFile: string | null
  /** The key file of a SQLite database, unless a signing key is given; null for other databases. */
  readonly keyFile: string | null
  /** Whether a job can complete in one transaction with its own writes. */
  readonly hasTransactions: boolean
  readonly worker: WorkOptions
  /** Notes about settings that have no effect. */
  readonly notes: readonly string[]
  /** Loads the job files, which only commands that run or name jobs need. Reports all problems. */
  loadJobs(): Promise<LoadedJobFiles>
}

export interface OpenOptions {
  /** These override the config. */
  readonly changes?: TreadleOptions
  /**
   * Used in place of a missing database by commands that must not create one. Does not apply to a program that is
   * already configured.
   */
  readonly standIn?: () => QueueBackend
  /** The command also works without a config, on the default database. */
  readonly needsNoConfig?: true
  /** For a command that inspects the jobs even if the config is invalid. */
  readonly onRefused?: OnRefused
}

/** Opens no database. */
export async function openProject(options: ProjectOptions, folder: string, open: OpenOptions = {}): Promise<Project> {
  const loaded = await findConfig(options, folder, open)
  if (loaded !== null && 'instance' in loaded) return instanceProject(loaded, options, open)
  // The command line overrides the environment, which overrides the file. Relative paths are resolved from where each
  // was given.
  const outerUrl = options.url ?? environmentVariable('TREADLE_URL')
  const said = configWith(loaded?.config ?? {}, outerUrl, options.coordination)
  const { coordination, ...config } = { ...said, ...open.changes }
  const from = outerUrl === undefined ? (loaded?.folder ?? folder) : folder
  const url = config.backend?.kind ?? config.url ?? defaultUrlOf(config) ?? defaultUrl
  const tables = typeof coordination === 'string' ? coordination : url
  const missing = missingFile(tables, from)
  const paths = loaded === null ? [] : jobPaths(loaded)
  const outer = { url: outerUrl ?? null, coordination: typeof coordination === 'string' ? coordination : null }
  setProjectModules({ config: loaded?.path ?? null, ...outer, folder: from, jobs: paths })
  const { standIn } = open
  // A user who creates the tables by hand should be told that they are missing.
  const isFresh = async () => missing !== null || (said.migrate !== false && (await hasNoSchema(tables, from)))
  const beside = coordination === undefined ? {} : { coordination }
  configure(standIn !== undefined && (await isFresh()) ? { ...config, backend: standIn() } : { ...config, ...beside }, from)
  return {
    jobs,
    url: maskedUrl(url),
    configPath: loaded?.path ?? null,
    missingFile: missing,
    keyFile: keyFileFor(url, from),
    hasTransactions: hasTransactions(tables),
    worker: config.worker ?? {},
    notes: [],
    // Job files that import `jobs` from the library define their jobs on its default instance, so that instance is used
    // here.
    loadJobs: () => tryJobFiles(jobs, paths),
  }
}

export function refuseMissing(file: string | null): void {
  if (file === null) return
  throw new TreadleError(
    'DATABASE_NOT_FOUND',
    `There is no database at ${file}. The first dispatch or the first worker creates it. Is the path right?`,
  )
}

async function findConfig(options: ProjectOptions, folder: string, open: OpenOptions): Promise<LoadedConfig | null> {
  const path = options.config === undefined ? findConfigFile(folder) : resolve(folder, options.config)
  if (path !== null) return loadFrom(path, open.onRefused)
  if (open.needsNoConfig || options.url !== undefined || environmentVariable('TREADLE_URL') !== undefined) return null
  throw new TreadleError(
    'CONFIG_NOT_FOUND',
    `No treadle.config.ts was found in ${folder} or above it. Run "treadle init" to create one, or use --config FILE or --url URL.`,
  )
}

/**
 * A program created in the config file resolves relative paths from that file's folder, as it does when it runs by
 * itself.
 */
async function loadFrom(path: string, onRefused: OnRefused | undefined): Promise<LoadedConfig> {
  const before = process.cwd()
  if (existsSync(path)) process.chdir(dirname(path))
  try {
    return await loadConfigFile(path, onRefused)
  } finally {
    process.chdir(before)
  }
}

function configWith(config: TreadleConfig, url: string | undefined, coordination: string | undefined): TreadleConfig {
  const { coordination: _, ...rest } = url === undefined ? config : withUrl(config, url)
  const said =
    coordination === undefined ? coordinationAt(rest.url ?? defaultUrlOf(rest) ?? defaultUrl, config) : { coordination }
  return { ...rest, ...said }
}

function withUrl(config: TreadleConfig, url: string): TreadleConfig {
  const { backend: _, backends: _others, ...rest } = config
  return { ...rest, url }
}

export function keyFileFor(url: string, folder: string): string | null {
  const file = databaseFile(url, folder)
  return file === null ? null : keyFileOf(file)
}

function missingFile(url: string, folder: string): string | null {
  const file = databaseFile(url, folder)
  return file === null || existsSync(file) ? null : file
}

/** Whether it is a database file that has not been used yet. */
async function hasNoSchema(url: string, folder: string): Promise<boolean> {
  if (databaseFile(url, folder) === null) return false
  const upkeep = await openUpkeep(url, folder)
  return (await upkeep?.schema.state())?.version === 0
}

async function instanceProject(
  loaded: LoadedInstance,
  { url, coordination }: ProjectOptions,
  { standIn, changes }: OpenOptions,
): Promise<Project> {
  const { instance, path, folder } = loaded
  if (url !== undefined) throw new UsageError(unusedUrl('--url', loaded))
  if (coordination !== undefined) throw new UsageError(unusedUrl('--coordination', loaded))
  const missing = missingFile(instance.url, folder)
  if (standIn !== undefined) refuseMissing(missing)
  if (changes?.migrate === false && missing === null) await refuseOldSchema(instance)
  const paths = jobPaths(loaded)
  setProjectModules({ config: path, url: null, coordination: null, folder, jobs: paths })
  return {
    jobs: instance,
    url: instance.url,
    configPath: path,
    missingFile: missing,
    keyFile: keyFileFor(instance.url, folder),
    hasTransactions: hasTransactions((await instance.coordination()) ?? instance.url),
    worker: {},
    notes: unusedUrlNotes(loaded),
    loadJobs: () => tryJobFiles(instance, paths),
  }
}

type LoadedInstance = LoadedConfig & { readonly instance: Treadle }

function unusedUrl(what: string, { path, instance }: LoadedInstance): string {
  return `${what} cannot be used here: ${path} exports an instance that has its own, ${instance.url}`
}

/** Only a note: the program may have read the variable itself, and commands often inherit variables that they do not need. */
function unusedUrlNotes(loaded: LoadedInstance): readonly string[] {
  const url = environmentVariable('TREADLE_URL')
  return url === undefined || maskedUrl(url) === loaded.instance.url ? [] : [unusedUrl('TREADLE_URL', loaded)]
}

/** A program that is already configured can no longer be told not to migrate the schema. */
async function refuseOldSchema(instance: Treadle): Promise<void> {
  const { schema } = (await instance.upkeep()) ?? {}
  if (schema === undefined) return
  refuseUnfit(await schema.state(), { latest: schema.latest, mayMigrate: false, place: instance.url })
}
