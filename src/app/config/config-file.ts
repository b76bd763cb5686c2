import { existsSync, statSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { TreadleError } from '../../core/errors.ts'
import { isShared, refuseUntrusted } from '../../core/files/file-trust.ts'
import { homeFolder } from '../../core/process/environment.ts'
import { defaultExport, loadModule } from '../module-loader.ts'
import { Treadle } from '../treadle.ts'
import { checkConfig, jobsPart, type TreadleConfig } from './config.ts'

export { loadJobFiles } from '../loading/job-files.ts'

/** A config file exports either options or an instance that is already set up. */
export type LoadedConfig = { readonly path: string; readonly folder: string } & (
  | { readonly config: TreadleConfig }
  | { readonly instance: Treadle }
)

export const configFileNames = ['ts', 'mts', 'cts', 'js', 'mjs', 'cjs'].map((ending) => `treadle.config.${ending}`)

/** The config file in this folder, or in the nearest parent folder of the same project that has one. */
export function findConfigFile(from: string): string | null {
  const folder = resolve(from)
  const path = configFileNames.map((name) => join(folder, name)).find((candidate) => existsSync(candidate))
  if (path !== undefined) return path
  const parent = dirname(folder)
  return isOutermost(folder) || isOutside(parent) ? null : findConfigFile(parent)
}

/** Whether the folders above no longer belong to the project. */
function isOutermost(folder: string): boolean {
  return existsSync(join(folder, '.git')) || folder === homeFolder() || deviceOf(folder) !== deviceOf(dirname(folder))
}

/** A project is never in the root of the file system or in a folder that everyone can write to. */
function isOutside(folder: string): boolean {
  return folder === dirname(folder) || isShared(folder)
}

function deviceOf(folder: string): number | undefined {
  return statSync(folder, { throwIfNoEntry: false })?.dev
}

/** Called with the problems of a config's options. The config's jobs are then loaded without the other options. */
export type OnRefused = (refused: TreadleError) => void

/** Throws `CONFIG_NOT_FOUND`, `FILE_UNTRUSTED`, `CONFIG_LOAD_FAILED` or `CONFIG_INVALID`, each with the path of the file. */
export async function loadConfigFile(file: string, onRefused?: OnRefused): Promise<LoadedConfig> {
  const path = resolve(file)
  if (!existsSync(path)) throw new TreadleError('CONFIG_NOT_FOUND', `The config file ${path} does not exist`)
  refuseUntrusted(path)
  const value = defaultExport(await loadModule(path), path)
  const folder = dirname(path)
  if (value instanceof Treadle) return { path, folder, instance: value }
  if (value === undefined) {
    const message = `${path}: there is no default export. Write: export default defineConfig({ url: 'sqlite:treadle.db' })`
    throw new TreadleError('CONFIG_INVALID', message)
  }
  return { path, folder, config: checkedConfig(value, path, onRefused) }
}

function checkedConfig(value: unknown, path: string, onRefused: OnRefused | undefined): TreadleConfig {
  try {
    return checkConfig(value, path)
  } catch (thrown) {
    if (onRefused === undefined || !(thrown instanceof TreadleError)) throw thrown
    onRefused(thrown)
    return jobsPart(value)
  }
}

/** The folders and files with jobs that a config names, as absolute paths. Default: the folder `jobs`, if it exists. */
export function jobPaths(loaded: LoadedConfig): readonly string[] {
  const named = 'config' in loaded ? loaded.config.jobs : undefined
  const byDefault = join(loaded.folder, 'jobs')
  if (named === undefined) return existsSync(byDefault) ? [byDefault] : []
  return (typeof named === 'string' ? [named] : named).map((path) => resolve(loaded.folder, path))
}
