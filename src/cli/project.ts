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
import { refuseUnfit } from '../queue/contract/migration.ts'
import type { WorkOptions } from '../worker/options.ts'
import { UsageError } from './failure.ts'

/** Where to find the program, as the command line says it. */
export interface ProjectOptions {
  readonly config?: string
  readonly url?: string
  readonly coordination?: string
}

/** The user's program: its jobs, its database and what its config says of workers. */
export interface Project {
  readonly jobs: Treadle
  /** Fit to be shown: without its password. */
  readonly url: string
  readonly configPath: string | null
  /** The file that the database would be, where there is none yet. */
  readonly missingFile: string | null
  /** Where the keys of a SQLite file are, unless a signing key is given; null for other databases. */
  readonly keyFile: string | null
  /** Whether a job can end in one transaction with its own writes. */
  readonly hasTransactions: boolean
  readonly worker: WorkOptions
  /** What was said and does not count. */
  readonly notes: readonly string[]
  /** Loads the files with the jobs, which only a command that runs or names jobs needs. Says everything that is wrong. */
  loadJobs(): Promise<LoadedJobFiles>
}

export interface OpenOptions {
  /** These go before what the config says. */
  readonly changes?: TreadleOptions
  /** What a command works on that must not make a file where there is none. A program that is set up already cannot be given it. */
  readonly standIn?: () => QueueBackend
  /** The command is of use without a config, too: then the database is the default one. */
  readonly needsNoConfig?: true
  /** For a command that looks at the jobs also where the config is wrong. */
  readonly onRefused?: OnRefused
}

/** Opens no database. */
export async function openProject(options: ProjectOptions, folder: string, open: OpenOptions = {}): Promise<Project> {
  const loaded = await findConfig(options, folder, open)
  if (loaded !== null && 'instance' in loaded) return instanceProject(loaded, options, open)
  // The command line goes before the environment and that before the file; relative files begin where each of them stands.
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
  // Who makes the tables by hand is to know that they are not there.
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
    // Job files that import `jobs` from the library define theirs in its default instance, which is why that one is used here.
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

/** A program that is made in the config file finds its relative files from where that is, as it does when it runs by itself. */
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

function keyFileFor(url: string, folder: string): string | null {
  const file = databaseFile(url, folder)
  return file === null ? null : keyFileOf(file)
}

function missingFile(url: string, folder: string): string | null {
  const file = databaseFile(url, folder)
  return file === null || existsSync(file) ? null : file
}

/** Of a file: nobody has used it yet. */
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

/** The program may have read it itself, and whole environments are given to commands that want little of them. */
function unusedUrlNotes(loaded: LoadedInstance): readonly string[] {
  const url = environmentVariable('TREADLE_URL')
  return url === undefined || maskedUrl(url) === loaded.instance.url ? [] : [unusedUrl('TREADLE_URL', loaded)]
}

/** A program that is set up already cannot be told any more to leave the schema as it is. */
async function refuseOldSchema(instance: Treadle): Promise<void> {
  const { schema } = (await instance.upkeep()) ?? {}
  if (schema === undefined) return
  refuseUnfit(await schema.state(), { latest: schema.latest, mayMigrate: false, place: instance.url })
}
