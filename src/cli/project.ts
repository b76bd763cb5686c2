import { existsSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import type { TreadleConfig } from '../app/config.ts'
import { findConfigFile, jobPaths, type LoadedConfig, loadConfigFile } from '../app/config-file.ts'
import { configure, jobs } from '../app/default-instance.ts'
import { type LoadedJobFiles, tryJobFiles } from '../app/job-files.ts'
import { defaultUrl } from '../app/opening.ts'
import type { Treadle, TreadleOptions } from '../app/treadle.ts'
import { environmentVariable } from '../core/environment.ts'
import { TreadleError } from '../core/errors.ts'
import type { WorkOptions } from '../worker/config.ts'
import { UsageError } from './failure.ts'
import { withoutPassword } from './output/text.ts'

/** Where to find the program, as the command line says it. */
export interface ProjectOptions {
  readonly config?: string
  readonly url?: string
}

/** The user's program: its jobs, its database and what its config says of workers. */
export interface Project {
  readonly jobs: Treadle
  /** Fit to be shown: without its password. */
  readonly url: string
  readonly configPath: string | null
  readonly worker: WorkOptions
  /** Loads the files with the jobs, which only a command that runs or names jobs needs. Says everything that is wrong. */
  loadJobs(): Promise<LoadedJobFiles>
}

/** Opens no database. `changes` go before what the config says. */
export async function openProject(options: ProjectOptions, folder: string, changes: TreadleOptions = {}): Promise<Project> {
  const loaded = await findConfig(options, folder)
  if (loaded !== null && 'instance' in loaded) return instanceProject(loaded, options)
  // The command line goes before the environment and that before the file; relative files begin where each of them stands.
  const outerUrl = options.url ?? environmentVariable('TREADLE_URL')
  const config = { ...configWith(loaded?.config ?? {}, outerUrl), ...changes }
  configure(config, outerUrl === undefined ? (loaded?.folder ?? folder) : folder)
  return {
    jobs,
    url: withoutPassword(config.backend?.kind ?? config.url ?? defaultUrl),
    configPath: loaded?.path ?? null,
    worker: config.worker ?? {},
    // Job files that import `jobs` from the library define theirs in its default instance, which is why that one is used here.
    loadJobs: () => tryJobFiles(jobs, loaded === null ? [] : jobPaths(loaded)),
  }
}

async function findConfig(options: ProjectOptions, folder: string): Promise<LoadedConfig | null> {
  const path = options.config === undefined ? findConfigFile(folder) : resolve(folder, options.config)
  if (path !== null) return loadFrom(path)
  if (options.url !== undefined || environmentVariable('TREADLE_URL') !== undefined) return null
  throw new TreadleError(
    'CONFIG_NOT_FOUND',
    `No treadle.config.ts was found in ${folder} or above it. Run "treadle init" to make one, or give --config FILE or --url URL.`,
  )
}

/** A program that is made in the config file finds its relative files from where that is, as it does when it runs by itself. */
async function loadFrom(path: string): Promise<LoadedConfig> {
  const before = process.cwd()
  if (existsSync(path)) process.chdir(dirname(path))
  try {
    return await loadConfigFile(path)
  } finally {
    process.chdir(before)
  }
}

function configWith(config: TreadleConfig, url: string | undefined): TreadleConfig {
  if (url === undefined) return config
  const { backend: _, ...rest } = config
  return { ...rest, url }
}

function instanceProject(loaded: LoadedConfig & { readonly instance: Treadle }, { url }: ProjectOptions): Project {
  const { instance, path } = loaded
  if (url !== undefined)
    throw new UsageError(`--url can not be used here: ${path} exports a program that has its own, ${instance.url}`)
  return {
    jobs: instance,
    url: instance.url,
    configPath: path,
    worker: {},
    loadJobs: () => tryJobFiles(instance, jobPaths(loaded)),
  }
}
